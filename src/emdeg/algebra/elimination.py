"""Linear algebra with formulas for coefficients: sparse rows, exact, pivots chosen by preference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from flint import nmod_mat

from emdeg.algebra.prime_field import P, PrimeField, inverse
from emdeg.algebra.ratio import Ratio

Row = dict[int, Ratio]
"""Column -> coefficient, none of them zero."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """`solved[column]`: the row that has 1 there, and no entry in any other solved column."""

    solved: dict[int, Row]
    unused: tuple[Row, ...]
    """Rows given up because their pivot was to be left alone."""


def reduce_rows(rows: Iterable[Row], order: Sequence[Sequence[int]], leave: Collection[int] = ()) -> Reduced:
    """The rows solved for as many columns as they can be, those that come first in `order` first.

    `order` is a sequence of groups. Within a group, columns whose coefficient is free of symbols go before the
    others, so that nothing is divided by a symbol without need. For a column in `leave` a row is given up
    instead, and the column stays in the others.
    """
    waiting = [dict(row) for row in rows if row]
    solved: dict[int, Row] = {}
    unused: list[Row] = []
    for group in order:
        for only_constants in (True, False):
            for column in group:
                if column in solved:
                    continue
                pivot = _pivot(waiting, column, only_constants)
                if pivot is None:
                    continue
                waiting = [row for row in waiting if row is not pivot]
                row = {c: value / pivot[column] for c, value in pivot.items()}
                for other in waiting:
                    _clear(other, column, row)
                waiting = [other for other in waiting if other]
                if column in leave:
                    unused.append(row)
                    continue
                for other in solved.values():
                    _clear(other, column, row)
                solved[column] = row
    return Reduced(solved, tuple(unused))


def null_space(rows: Sequence[Row], columns: Sequence[int], one: Ratio) -> list[Row]:
    """A basis of the vectors that every row annihilates."""
    solved = reduce_rows(rows, [columns]).solved
    return [
        {free: one} | {column: -row[free] for column, row in solved.items() if free in row}
        for free in columns
        if free not in solved
    ]


def independent(rows: Iterable[Row], rank: int, field: PrimeField) -> list[Row]:
    """The first `rank` rows that are linearly independent, judged modulo a prime at a random geometry."""
    chosen: list[Row] = []
    echelon: dict[int, dict[int, int]] = {}
    for row in rows:
        if len(chosen) == rank:
            break
        residues = {column: value.written(field).value for column, value in row.items()}
        for pivot, other in echelon.items():
            if factor := residues.get(pivot, 0):
                for column, value in other.items():
                    residues[column] = (residues.get(column, 0) - factor * value) % P
        pivot = next((column for column, value in residues.items() if value), None)
        if pivot is not None:
            scale = inverse(residues[pivot])
            echelon[pivot] = {column: value * scale % P for column, value in residues.items() if value}
            chosen.append(row)
    return chosen


def rank_modulo_prime(rows: Sequence[Sequence[int]]) -> int:
    """The rank of a matrix of residues."""
    if not rows or not rows[0]:
        return 0
    return nmod_mat(len(rows), len(rows[0]), [value for row in rows for value in row], P).rank()


def _pivot(rows: list[Row], column: int, only_constants: bool) -> Row | None:
    """The shortest row with an entry in the column, a number before any other constant."""
    found = [row for row in rows if column in row and (not only_constants or row[column].is_constant)]
    return min(found, key=lambda row: (not row[column].is_number, len(row)), default=None)


def _clear(row: Row, column: int, by: Row) -> None:
    """Takes a multiple of `by`, which has 1 in `column`, off `row`, so that nothing is left there."""
    factor = row.pop(column, None)
    if factor is None:
        return
    for c, value in by.items():
        if c == column:
            continue
        rest = row[c] - factor * value if c in row else -(factor * value)
        if rest:
            row[c] = rest
        else:
            row.pop(c, None)
