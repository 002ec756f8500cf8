"""Matrices as rows of scalars, over any algebra: sums, products, transposes. What is `zero` itself costs nothing."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.algebra.scalar import Scalar

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
