"""Matrices as rows of scalars, over any algebra: sums, products, transposes. What is `zero` itself costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from emdeg.algebra.scalar import Scalar
from emdeg.algebra.trig_poly import TrigPoly

Matrix = list[list[Scalar]]


def total(values: Sequence[Scalar]) -> Scalar:
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
    return _minors(A)((1 << len(A)) - 1)


def adjugate(A: Sequence[Sequence[TrigPoly]]) -> tuple[list[list[TrigPoly]], TrigPoly]:
    """(adj A, det A): A adj A = det A 1."""
    n, algebra = len(A), A[0][0].algebra
    found = [[algebra.one] * n for _ in range(n)]
    for i in range(n):
        minor = _minors([row for k, row in enumerate(A) if k != i])
        for j in range(n) if n > 1 else ():
            cofactor = minor((1 << n) - 1 & ~(1 << j))
            found[j][i] = cofactor if (i + j) % 2 == 0 else -cofactor
    return found, algebra.sum_of_products((A[0][j], found[j][0]) for j in range(n))


def _minors(rows: Sequence[Sequence[TrigPoly]]) -> Callable[[int], TrigPoly]:
    """The determinant of the last rows in any columns, given as bits: as many rows as there are columns."""
    known: dict[int, TrigPoly] = {}

    def minor(columns: int) -> TrigPoly:
        if columns not in known:
            size = columns.bit_count()
            row = rows[len(rows) - size]
            places = [j for j in range(len(row)) if columns >> j & 1]
            if size == 1:
                known[columns] = row[places[0]]
            else:  # expansion along the first of these rows
                known[columns] = row[0].algebra.sum_of_products(
                    (row[j] if place % 2 == 0 else -row[j], minor(columns & ~(1 << j)))
                    for place, j in enumerate(places)
                    if row[j]
                )
        return known[columns]

    return minor


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


def triangular_blocks(A: Sequence[Sequence[Scalar]], dislike: Callable[[Scalar], Any]) -> list[Block]:
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


def _matching(A: Sequence[Sequence[Scalar]], dislike: Callable[[Scalar], Any]) -> dict[int, int]:
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
