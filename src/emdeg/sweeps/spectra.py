"""Singular values by Jacobi's rotations, of traced values: a GPU has no LAPACK.

Hestenes' one-sided way: two rows at a time are turned until they are perpendicular, in a fixed number of rounds. The
rows' lengths are then the singular values, small ones as accurate as large ones. A symmetric matrix is factored first;
its eigenvalues are the squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from emdeg.algebra.linear import factors_from_the_tip, total
from emdeg.sweeps.entrywise import Entrywise

ROUNDS = 10
"""Of all pairs of rows. Convergence is quadratic: eight were enough for 20,000 wild matrices of `MOST` rows."""
MOST = 7
"""Rows; a program of more would have tens of thousands of operations."""
TINY = Fraction(1, 10**300)
"""Nothing beside any number: two rows that are zero are turned by 0, not by 0 / 0."""


def singular_values(rows: Sequence[Sequence[Any]], on: Entrywise) -> list[Any]:
    """The singular values of a matrix with no more rows than columns, the greatest first."""
    if not len(rows) <= min(MOST, len(rows[0])):
        raise ArithmeticError(f"{len(rows)} x {len(rows[0])} is no matrix whose singular values are a program here")
    turned = [list(row) for row in rows]
    for _ in range(ROUNDS):
        for i, j in combinations(range(len(turned)), 2):
            turned[i], turned[j] = _perpendicular(turned[i], turned[j], on)
    return _descending([on.root(_dot(row, row)) for row in turned], on)


def square_factors(M: Sequence[Sequence[Any]], on: Entrywise) -> list[list[Any]]:
    """G with M = G^T G, of a symmetric and positive definite M: its eigenvalues are the squares of G's values."""
    L, per_D = factors_from_the_tip(M, M[0][0] * 0 + 1)
    rows = []
    for k, inverse in enumerate(per_D):
        scale = 1 / on.root(inverse)
        own = [entry * scale if entry is not None else scale * 0 for entry in L[k]]
        rows.append([*own[:k], scale, *own[k + 1 :]])
    return rows


def weighed_by_inverse(J: Sequence[Sequence[Any]], M: Sequence[Sequence[Any]], on: Entrywise) -> list[list[Any]]:
    """W with W W^T = J M^-1 J^T, of a symmetric and positive definite M: with M = L^T D L it is J L^-1 D^-1/2."""
    L, per_D = factors_from_the_tip(M, M[0][0] * 0 + 1)
    rows = []
    for row in J:
        w = list(row)
        for i in reversed(range(len(w))):
            w[i] = total([w[i], *(-(w[k] * L[k][i]) for k in range(i + 1, len(w)) if L[k][i] is not None)])
        rows.append([value * on.root(inverse) for value, inverse in zip(w, per_D)])
    return rows


def _perpendicular(x: list[Any], y: list[Any], on: Entrywise) -> tuple[list[Any], list[Any]]:
    """Both, turned in their plane by the smaller of the angles that make them perpendicular."""
    apart, both = _dot(y, y) - _dot(x, x), _dot(x, y) * 2
    side = on.is_positive(apart) * 2 - 1
    tangent = side * both / (on.magnitude(apart) + on.root(apart * apart + both * both) + TINY)
    cosine = 1 / on.root(tangent * tangent + 1)
    sine = cosine * tangent
    return [a * cosine - b * sine for a, b in zip(x, y)], [a * sine + b * cosine for a, b in zip(x, y)]


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return total([a * b for a, b in zip(x, y)])


def _descending(values: list[Any], on: Entrywise) -> list[Any]:
    """Sorted by exchanges of neighbours, whatever the numbers are."""
    for end in range(len(values), 1, -1):
        for k in range(end - 1):
            a, b = values[k], values[k + 1]
            values[k], values[k + 1] = -on.lesser(-a, -b), on.lesser(a, b)
    return values
