"""Linear systems over any scalar that can be divided: by determinants, by elimination, symmetric ones by L^T D L."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np

from emdeg.algebra.arrays import Array
from emdeg.algebra.linear.matrices import Matrix, blocks, product, total
from emdeg.algebra.scalar import Algebra, Dual, FieldScalar, Floats, Scalar, derivative

Rows = Sequence[Sequence[FieldScalar]]
"""A matrix to divide by; what stands on the right-hand side need not divide."""


def solve_system(
    A: Sequence[Sequence[Scalar]],
    B: Sequence[Sequence[Scalar]],
    algebra: Algebra[FieldScalar],
    places: Sequence[tuple[int, int]] | None = None,
) -> Matrix:
    """X with A X = B, both as rows.

    A is split into the blocks that its zeros leave. Two and three unknowns are solved by determinants, which are zero
    only where the block itself is singular; larger blocks by elimination, the sparsest pivots first. Doubles are left
    to LAPACK. Over dual numbers only the values' matrix is divided by. `places` are pivots known to be none of them
    zero, where A's entries hang together in ways that do not show.
    """
    if duals := [x for rows in (A, B) for row in rows for x in row if isinstance(x, Dual)]:
        return _solve_duals(A, B, algebra, duals, places)
    if isinstance(algebra, Floats):
        return _solve_doubles(A, B)
    if places is not None:
        return eliminate(cast(Rows, A), B, places).X
    X: Matrix = [[] for _ in A]
    for rows, columns in blocks(A):
        if len(rows) != len(columns):
            raise ZeroDivisionError("a linear system is singular by its structure")
        own = [[cast(FieldScalar, A[i][j]) for j in columns] for i in rows]  # as the algebra's scalars do
        right = [list(B[i]) for i in rows]
        solution = _by_determinants(own, right) if len(rows) <= 3 else eliminate(own, right).X
        for j, values in zip(columns, solution):
            X[j] = values
    return X


def _solve_duals(
    A: Sequence[Sequence[Scalar]],
    B: Sequence[Sequence[Scalar]],
    algebra: Algebra[FieldScalar],
    duals: Sequence[Dual],
    places: Sequence[tuple[int, int]] | None,
) -> Matrix:
    """From A X = B: A dX = dB - dA X in every direction, all with the one matrix of values."""
    level = max(x.level for x in duals)
    directions = sorted({k for x in duals if x.level == level for k in x.d})
    zero = algebra.number(Fraction(0))

    def value(x: Scalar) -> Scalar:
        return x.value if isinstance(x, Dual) and x.level == level else x

    values = [[value(x) for x in row] for row in A]
    X = solve_system(values, [[value(x) for x in row] for row in B], algebra, places)
    width = len(B[0]) if B else 0
    right: Matrix = [[] for _ in B]
    for k in directions:
        change = product([[derivative(x, k, zero, level) for x in row] for row in A], X, zero)
        for i, row in enumerate(B):
            right[i] += [derivative(b, k, zero, level) - c for b, c in zip(row, change[i])]
    dX = solve_system(values, right, algebra, places)
    return [
        [Dual(x, {k: dX[i][m * width + j] for m, k in enumerate(directions)}, level) for j, x in enumerate(row)]
        for i, row in enumerate(X)
    ]


def _solve_doubles(A: Sequence[Sequence[Any]], B: Sequence[Sequence[Any]]) -> Matrix:
    flat = [x for rows in (A, B) for row in rows for x in row]
    shape = np.broadcast_shapes(*(np.shape(x) for x in flat))

    def stacked(rows: Sequence[Sequence[Any]]) -> np.ndarray:
        return np.stack([np.stack([np.broadcast_to(x, shape) for x in row], -1) for row in rows], -2)

    X = np.linalg.solve(stacked(A), stacked(B))
    return [[X[..., i, j] for j in range(X.shape[-1])] for i in range(X.shape[-2])]


def _by_determinants(A: list[list[FieldScalar]], B: Matrix) -> Matrix:
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


@dataclass(frozen=True, slots=True)
class Elimination:
    """X with A X = B; the pivots' (row, column), in order, and their values, whose product is det A up to sign."""

    X: Matrix
    places: tuple[tuple[int, int], ...]
    pivots: tuple[Scalar, ...]


def eliminate(
    A: Rows,
    B: Sequence[Sequence[Scalar]],
    places: Sequence[tuple[int, int]] | None = None,
    pattern: Sequence[Sequence[bool]] | None = None,
) -> Elimination:
    """Gauss' elimination, pivots at `places` or, by default, where the least may fill in (Markowitz).

    `pattern` says which entries of A are not zero, and what fills in is then taken to be none; by default each entry
    answers for itself, which arrays cannot. ZeroDivisionError if there is no pivot.
    """
    n = len(A)
    U, right = [list(row) for row in A], [list(row) for row in B]
    live = [[bool(x) for x in row] for row in (A if pattern is None else pattern)]
    rows, columns = set(range(n)), set(range(n))
    done: list[tuple[int, int, Scalar]] = []
    for step in range(n):
        p, q = _least_filling(live, rows, columns) if places is None else places[step]
        per = 1 / U[p][q]
        rows.remove(p)
        columns.remove(q)
        done.append((p, q, per))
        for i in rows:
            if live[i][q]:
                factor = U[i][q] * per
                for j in columns:
                    if live[p][j]:
                        U[i][j] = U[i][j] - factor * U[p][j]
                        live[i][j] = pattern is not None or bool(U[i][j])
                right[i] = [b - factor * c for b, c in zip(right[i], right[p])]
    X: Matrix = [[] for _ in range(n)]
    known: list[int] = []
    for p, q, per in reversed(done):
        later = [j for j in known if live[p][j]]
        X[q] = [(b - total([U[p][j] * X[j][k] for j in later]) if later else b) * per for k, b in enumerate(right[p])]
        known.append(q)
    return Elimination(X, tuple((p, q) for p, q, _ in done), tuple(U[p][q] for p, q, _ in done))


def _least_filling(live: Sequence[Sequence[bool]], rows: set[int], columns: set[int]) -> tuple[int, int]:
    wide = {i: sum(live[i][j] for j in columns) for i in rows}
    tall = {j: sum(live[i][j] for i in rows) for j in columns}
    entries = [((wide[i] - 1) * (tall[j] - 1), i, j) for i in rows for j in columns if live[i][j]]
    if not entries:
        raise ZeroDivisionError("a linear system is singular")
    return min(entries)[1:]


def solve_symmetric(M: Rows, right: Sequence[Scalar], one: Scalar) -> list[Scalar]:
    """x with M x = right, M symmetric and positive definite."""
    L, per_D = factors_from_the_tip(M, one)
    n = len(M)
    x = list(right)
    for k in reversed(range(n)):  # L^T y = right
        for i in range(k):
            if L[k][i] is not None:
                x[i] = x[i] - L[k][i] * x[k]
    x = [value * inverse for value, inverse in zip(x, per_D)]
    for k in range(n):  # L x = D^-1 y
        for i in range(k):
            if L[k][i] is not None:
                x[k] = x[k] - L[k][i] * x[i]
    return x


def invert_symmetric(M: Rows, one: Scalar) -> Matrix:
    """M^-1 of a symmetric and positive definite M, both triangles from one: W D^-1 W^T with W = L^-1."""
    L, per_D = factors_from_the_tip(M, one)
    n = len(M)
    zero: Any = one - one
    W = [[one if i == k else zero for k in range(n)] for i in range(n)]
    for i in range(n):
        for k in range(i):
            parts = [L[i][m] * W[m][k] for m in range(k, i) if L[i][m] is not None and (m == k or W[m][k])]
            W[i][k] = -total(parts) if parts else zero
    V = [[W[i][k] * per_D[k] for k in range(i + 1)] for i in range(n)]
    lower = [[total([W[i][k] * V[j][k] for k in range(j)] + [V[i][j]]) for j in range(i + 1)] for i in range(n)]
    return [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]


def pivots_from_the_tip(M: Array) -> Array:
    """(..., n): D of M = L^T D L for arrays of symmetric matrices (..., n, n); not finite where one before is zero."""
    A = np.array(M, dtype=np.float64)
    with np.errstate(all="ignore"):
        for k in reversed(range(A.shape[-1])):
            row = A[..., k, :k]
            A[..., :k, :k] -= row[..., :, None] * (row / A[..., k, k, None])[..., None, :]
    return np.diagonal(A, axis1=-2, axis2=-1)


def factors_from_the_tip(M: Rows, one: Scalar) -> tuple[list[list[Any]], list[Scalar]]:
    """(L, D^-1) with M = L^T D L, L's diagonal being ones, where zeros stay zeros (None).

    Featherstone, 'Efficient factorization of the joint-space inertia matrix for branched kinematic trees', 2005.
    """
    n = len(M)
    A = [list(row) for row in M]
    per_D: list[Scalar] = [one] * n
    L: list[list[Scalar | None]] = [[None] * n for _ in range(n)]
    for k in reversed(range(n)):
        per_D[k] = one / A[k][k]
        for i in reversed(range(k)):
            if not A[k][i]:
                continue
            factor = A[k][i] * per_D[k]
            for j in range(i + 1):
                if A[k][j]:
                    A[i][j] = A[i][j] - factor * A[k][j]
            L[k][i] = factor
    return L, per_D
