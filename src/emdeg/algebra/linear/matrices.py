"""Matrices as rows of scalars, over any algebra: sums, products, transposes. What is `zero` itself costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from flint import fmpq, fmpq_mat, nmod_mat

from emdeg.algebra.quotients import Quotient
from emdeg.algebra.scalar import Scalar
from emdeg.algebra.trig_poly import TrigPoly

Matrix = list[list[Scalar]]
K = TypeVar("K", bound=Scalar)


def total(values: Sequence[K]) -> K:
    """The sum of a non-empty sequence, without a starting zero of another algebra."""
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


def inner(u: Sequence[Scalar], v: Sequence[Scalar], zero: Scalar) -> Scalar:
    """u . v"""
    terms = [a * b for a, b in zip(u, v) if not (a is zero or b is zero)]
    return total(terms) if terms else zero


def times(A: Sequence[Sequence[Scalar]], x: Sequence[Scalar], zero: Scalar) -> list[Scalar]:
    """A x"""
    return [inner(row, x, zero) for row in A]


def product(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]], zero: Scalar) -> Matrix:
    """A B"""
    columns = transposed(B)
    return [[inner(row, column, zero) for column in columns] for row in A]


def transposed(A: Sequence[Sequence[Scalar]]) -> Matrix:
    """A^T"""
    return [list(column) for column in zip(*A)]


def summed(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]]) -> Matrix:
    """A + B"""
    return [[a + b for a, b in zip(u, v)] for u, v in zip(A, B)]


def congruent(M: Sequence[Sequence[Scalar]], W: Sequence[Sequence[Scalar]], zero: Scalar) -> Matrix:
    """W^T M W for a symmetric M: its upper triangle, copied to the lower one."""
    left, right = transposed(W), transposed(product(M, W, zero))
    upper = [[inner(left[r], right[s], zero) for s in range(r, len(left))] for r in range(len(left))]
    return [[upper[min(r, s)][abs(r - s)] for s in range(len(left))] for r in range(len(left))]


def determinant(A: Sequence[Sequence[TrigPoly]]) -> TrigPoly:
    """det A."""
    return determinant_of(A, A[0][0].algebra.sum_of_products)


def adjugate(A: Sequence[Sequence[TrigPoly]]) -> tuple[list[list[TrigPoly]], TrigPoly]:
    """(adj A, det A): A adj A = det A 1."""
    algebra = A[0][0].algebra
    return adjugate_of(A, algebra.one, algebra.sum_of_products)


Dot = Callable[[Iterable[tuple[K, K]]], K]
"""The sum of products of pairs."""


def determinant_of(A: Sequence[Sequence[K]], dot: Dot[K]) -> K:
    """det A over any scalars."""
    return _minors(A, dot)((1 << len(A)) - 1)


def adjugate_of(A: Sequence[Sequence[K]], one: K, dot: Dot[K]) -> tuple[list[list[K]], K]:
    """(adj A, det A) over any scalars."""
    n = len(A)
    found = [[one] * n for _ in range(n)]
    for i in range(n):
        minor = _minors([row for k, row in enumerate(A) if k != i], dot)
        for j in range(n) if n > 1 else ():
            cofactor = minor((1 << n) - 1 & ~(1 << j))
            found[j][i] = cofactor if (i + j) % 2 == 0 else -cofactor
    return found, dot((A[0][j], found[j][0]) for j in range(n))


def _minors(rows: Sequence[Sequence[K]], dot: Dot[K]) -> Callable[[int], K]:
    """The determinant of the last rows in any columns, given as bits: as many rows as there are columns."""
    known: dict[int, K] = {}

    def minor(columns: int) -> K:
        if columns not in known:
            size = columns.bit_count()
            row = rows[len(rows) - size]
            places = [j for j in range(len(row)) if columns >> j & 1]
            if size == 1:
                known[columns] = row[places[0]]
            else:  # expansion along the first of these rows
                known[columns] = dot(
                    (row[j] if place % 2 == 0 else -row[j], minor(columns & ~(1 << j)))
                    for place, j in enumerate(places)
                    if not _is_zero(row[j])
                )
        return known[columns]

    return minor


def _is_zero(value: Scalar) -> bool:
    """Whether a scalar is known to be zero; an array of states is not."""
    return not isinstance(value, np.ndarray) and not value


Block = tuple[tuple[int, ...], tuple[int, ...]]
"""(rows, columns), both rising."""


def blocks(A: Sequence[Sequence[Scalar]]) -> list[Block]:
    """The connected parts of A's pattern: systems that have nothing to do with each other."""
    left = set(range(len(A)))
    found = []
    while left:
        rows, columns = {min(left)}, set()
        while True:
            wider = {j for i in rows for j, x in enumerate(A[i]) if x}
            more = {i for i in left if any(A[i][j] for j in wider)} | rows
            if wider == columns and more == rows:
                break
            rows, columns = more, wider
        found.append((tuple(sorted(rows)), tuple(sorted(columns))))
        left -= rows
    return found


def triangular_blocks(A: Sequence[Sequence[K]], dislike: Callable[[K], Any]) -> list[Block]:
    """The diagonal blocks of A permuted to block triangular form, each after those whose unknowns it reads.

    Entries of little `dislike` are matched first. ZeroDivisionError if A is singular by its pattern.
    """
    n = len(A)
    row_of = _matching(A, dislike)
    reads = {c: [d for d in range(n) if d != c and A[row_of[c]][d]] for c in range(n)}
    order: list[tuple[int, ...]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []

    def visit(c: int) -> None:  # Tarjan: a component is finished after all it depends on
        index[c] = low[c] = len(index)
        stack.append(c)
        for d in reads[c]:
            if d not in index:
                visit(d)
                low[c] = min(low[c], low[d])
            elif d in stack:
                low[c] = min(low[c], index[d])
        if low[c] == index[c]:
            at = stack.index(c)
            order.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for c in range(n):
        if c not in index:
            visit(c)
    return [(tuple(sorted(row_of[c] for c in columns)), columns) for columns in order]


def _matching(A: Sequence[Sequence[K]], dislike: Callable[[K], Any]) -> dict[int, int]:
    """Column -> a row of its own with an entry there."""
    n = len(A)
    row_of: dict[int, int] = {}

    def place(r: int, seen: set[int]) -> bool:
        for c in sorted((c for c in range(n) if A[r][c]), key=lambda c: (dislike(A[r][c]), c)):
            if c not in seen:
                seen.add(c)
                if c not in row_of or place(row_of[c], seen):
                    row_of[c] = r
                    return True
        return False

    for r in sorted(range(n), key=lambda r: sum(bool(x) for x in A[r])):
        if not place(r, set()):
            raise ZeroDivisionError("a linear system is singular by its structure")
    return row_of


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


def independent_rows(rows: Sequence[Sequence[int]], prime: int) -> list[int]:
    """The first rows of residues modulo a prime that are independent of those before them; as many as the rank."""
    return _column_echelon(rows, prime)[1]


def first_dependent_row(rows: Sequence[Sequence[int]], prime: int) -> tuple[int, list[int]] | None:
    """(the first row that is a combination of earlier ones, which of them); None if there is none."""
    reduced, kept = _column_echelon(rows, prime)
    row = next((r for r in range(len(rows)) if r not in kept), None)
    if row is None:
        return None
    return row, [k for i, k in enumerate(kept) if k < row and int(reduced[i, row])]


def _column_echelon(rows: Sequence[Sequence[int]], prime: int) -> tuple[nmod_mat, list[int]]:
    """The reduced echelon form of the transpose, and its pivots: column r says how row r is made of kept ones."""
    width = len(rows[0]) if rows else 0
    columns = nmod_mat(width, len(rows), [row[k] for k in range(width) for row in rows], prime)
    return _echelon(columns)


def _echelon(matrix: nmod_mat) -> tuple[nmod_mat, list[int]]:
    """The reduced echelon form, and the columns of its pivots."""
    reduced, rank = matrix.rref()
    pivots: list[int] = []
    for i in range(rank):
        column = pivots[-1] + 1 if pivots else 0
        while not int(reduced[i, column]):
            column += 1
        pivots.append(column)
    return reduced, pivots


def null_space_modulo(rows: Sequence[Sequence[int]], width: int, prime: int) -> list[dict[int, int]]:
    """A basis of the vectors that every row annihilates modulo a prime, {column: residue}: each has a 1 of its own.

    >>> null_space_modulo([[1, 2, 0], [0, 0, 1]], 3, 7)
    [{1: 1, 0: 5}]
    """
    entries = [entry for row in rows for entry in row]
    reduced, pivots = _echelon(nmod_mat(len(rows), width, entries, prime))
    return [
        {free: 1} | {pivot: prime - c for i, pivot in enumerate(pivots) if (c := int(reduced[i, free]))}
        for free in sorted(set(range(width)).difference(pivots))
    ]


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
