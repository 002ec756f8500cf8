"""Small sparse linear systems over any scalar that can be divided. Doubles are left to LAPACK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from emdeg.algebra.scalar import Algebra, Floats
from emdeg.mechanics.vectors import Scalar, total

Matrix = list[list[Scalar]]


def solve_system(A: Sequence[Sequence[Scalar]], B: Sequence[Sequence[Scalar]], algebra: Algebra) -> Matrix:
    """X with A X = B, both as rows.

    A is split into the blocks that its zeros leave. Two and three unknowns are solved by determinants, which are zero
    only where the block itself is singular; larger blocks by elimination, the sparsest pivots first.
    """
    if isinstance(algebra, Floats):
        return _solve_doubles(A, B)
    n = len(A)
    X: list[list[Scalar]] = [[] for _ in range(n)]
    for rows, columns in blocks(A):
        if len(rows) != len(columns):
            raise ZeroDivisionError("a linear system is singular by its structure")
        inner = [[A[i][j] for j in columns] for i in rows]
        right = [list(B[i]) for i in rows]
        solution = _by_determinants(inner, right) if len(rows) <= 3 else _eliminated(inner, right)
        for j, values in zip(columns, solution):
            X[j] = values
    return X


def _solve_doubles(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> Matrix:
    flat = [x for rows in (A, B) for row in rows for x in row]
    shape = np.broadcast_shapes(*(np.shape(x) for x in flat))

    def stacked(rows: Sequence[Sequence[Any]]) -> np.ndarray:
        return np.stack([np.stack([np.broadcast_to(x, shape) for x in row], -1) for row in rows], -2)

    X = np.linalg.solve(stacked(A), stacked(B))
    return [[X[..., i, j] for j in range(X.shape[-1])] for i in range(X.shape[-2])]


def blocks(A: Sequence[Sequence[Scalar]]) -> list[tuple[list[int], list[int]]]:
    """(rows, columns) of the connected parts of A's pattern."""
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
        found.append((sorted(rows), sorted(columns)))
        left -= rows
    return found


def _by_determinants(A: Matrix, B: Matrix) -> Matrix:
    """Cramer's rule; of three unknowns with the 2 x 2 minors of two rows shared by all determinants."""
    n = len(A)
    if n == 1:
        if len(B[0]) == 1:
            return [[B[0][0] / A[0][0]]]
        per = 1 / A[0][0]
        return [[b * per for b in B[0]]]
    solution: Matrix = [[] for _ in range(n)]
    if n == 2:
        (a, b), (c, d) = A
        per = 1 / (a * d - b * c)
        for u, v in zip(*B):
            solution[0].append((u * d - v * b) * per)
            solution[1].append((a * v - c * u) * per)
        return solution
    x, y, z = A

    def minor(i: int, j: int) -> Scalar:
        return x[i] * y[j] - y[i] * x[j]

    m12, m02, m01 = minor(1, 2), minor(0, 2), minor(0, 1)
    per = 1 / (z[0] * m12 - z[1] * m02 + z[2] * m01)
    for k in range(len(B[0])):
        u, v, w = B[0][k], B[1][k], B[2][k]
        f = [u * y[i] - v * x[i] for i in range(3)]
        solution[0].append((w * m12 - z[1] * f[2] + z[2] * f[1]) * per)
        solution[1].append((z[0] * f[2] - w * m02 - z[2] * f[0]) * per)
        solution[2].append((z[1] * f[0] - z[0] * f[1] + w * m01) * per)
    return solution


def _eliminated(A: Matrix, B: Matrix) -> Matrix:
    A, B = [list(row) for row in A], [list(row) for row in B]
    n = len(A)
    rows, columns = set(range(n)), set(range(n))
    order: list[tuple[int, int, Scalar]] = []
    while rows:
        wide = {i: sum(bool(A[i][j]) for j in columns) for i in rows}
        tall = {j: sum(bool(A[i][j]) for i in rows) for j in columns}
        entries = [((wide[i] - 1) * (tall[j] - 1), i, j) for i in rows for j in columns if A[i][j]]
        if not entries:
            raise ZeroDivisionError("a linear system is singular")
        _, p, q = min(entries)
        per = 1 / A[p][q]
        rows.remove(p)
        columns.remove(q)
        order.append((p, q, per))
        for i in rows:
            if A[i][q]:
                factor = A[i][q] * per
                for j in columns:
                    if A[p][j]:
                        A[i][j] = A[i][j] - factor * A[p][j]
                B[i] = [b - factor * c for b, c in zip(B[i], B[p])]
    X: Matrix = [[] for _ in range(n)]
    for p, q, per in reversed(order):
        later = [j for j in range(n) if X[j] and A[p][j]]
        X[q] = [(b - total([A[p][j] * X[j][k] for j in later]) if later else b) * per for k, b in enumerate(B[p])]
    return X
