"""Reduced echelon forms: of rational rows, of residues modulo 2^61 - 1, of rows of formulas solved by preference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat, nmod_mat

from emdeg.algebra.prime_field import P
from emdeg.algebra.quotients import Quotient

Row = dict[int, Quotient]
"""Column -> coefficient, none of them zero."""


def rational_echelon(rows: Sequence[Mapping[int, Fraction | int]], width: int) -> list[dict[int, Fraction]]:
    """The reduced echelon form of sparse rows, {column: value}, its pivots rising and each row's first entry 1."""
    matrix = fmpq_mat(len(rows), width)
    for i, row in enumerate(rows):
        for k, c in row.items():
            matrix[i, k] = fmpq(c.numerator, c.denominator)
    reduced, rank = matrix.rref()
    return [{k: Fraction(int(c.p), int(c.q)) for k in range(width) if (c := reduced[i, k])} for i in range(rank)]


def independent_rows(rows: Sequence[Sequence[int]]) -> list[int]:
    """The first rows of residues that are independent of those before them; as many as the rank."""
    return _column_echelon(rows)[1]


def first_dependent_row(rows: Sequence[Sequence[int]]) -> tuple[int, list[int]] | None:
    """(the first row that is a combination of earlier ones, which of them); None if there is none."""
    reduced, kept = _column_echelon(rows)
    row = next((r for r in range(len(rows)) if r not in kept), None)
    if row is None:
        return None
    return row, [k for i, k in enumerate(kept) if k < row and int(reduced[i, row])]


def _column_echelon(rows: Sequence[Sequence[int]]) -> tuple[nmod_mat, list[int]]:
    """The reduced echelon form of the transpose, and its pivots: column r says how row r is made of kept ones."""
    width = len(rows[0]) if rows else 0
    columns = nmod_mat(width, len(rows), [row[k] for k in range(width) for row in rows], P)
    reduced, rank = columns.rref()
    kept, r = [], 0
    for i in range(rank):
        while int(reduced[i, r]) == 0:
            r += 1
        kept.append(r)
    return reduced, kept


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


def null_space(rows: Sequence[Row], columns: Sequence[int], one: Quotient) -> list[Row]:
    """A basis of the vectors that every row annihilates."""
    solved = reduce_rows(rows, [columns]).solved
    return [
        {free: one} | {column: -row[free] for column, row in solved.items() if free in row}
        for free in columns
        if free not in solved
    ]


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
