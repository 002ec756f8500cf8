"""Determinants and adjugates of matrices of formulas, by minors that are worked out once each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.algebra.trig_poly import TrigPoly


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
