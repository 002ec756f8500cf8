"""Efforts as a linear model of parameters: rows by blocks, made white, and solved without ever being held at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from emdeg.algebra import Array
from emdeg.identification.evening import Mask
from emdeg.identification.friction_terms import COULOMB_PLACE, LOAD_PLACE
from emdeg.identification.samples import LogSamples
from emdeg.runtime import in_blocks

BLOCK = 4096
"""States whose rows are at hand at once."""
FEW = 128
"""States whose rows are made white at once: they stay in a core's cache."""
LOST = 1e-6
"""Of the largest: what is smaller is lost in the rounding of squares."""
NEWS = 1e6
"""A block whose squares are so many times those of the rows before it shows something new."""
NO_INFORMATION = 1e-9
"""Of the largest singular value, columns brought to unit length: what is smaller cannot be told from nothing."""
TOLD = 1e-5
"""A parameter with a smaller part in what is hidden is shown."""
ORDERS = 24
"""Of the model of correlated noise, at most."""
HUBER = 3.0
"""Standard deviations beyond which a row counts less."""

Evaluate = Callable[[Array, Array, Array], Array]
"""q, qd, qdd (m, n) -> Y (m, n, p)."""
BodyRows = Callable[[LogSamples, slice], Array]
"""Some samples -> Y (m, n, p), the columns of the bodies."""


def rows_of(regressor: Evaluate) -> BodyRows:
    """The regressor's rows of samples."""
    return lambda samples, part: regressor(samples.q[part], samples.qd[part], samples.qdd[part])


def with_terms(Y: Array, terms: Array) -> Array:
    """(m, n, p + n k): the bodies' columns Y (m, n, p), then k columns for each joint: its terms (m, n, k)."""
    m, n, p = Y.shape
    k = terms.shape[2]
    found = np.zeros((m, n, p + n * k))
    found[..., :p] = Y
    for j in range(n):
        found[:, j, p + k * j : p + k * (j + 1)] = terms[:, j]
    return found


@dataclass(frozen=True)
class FrictionColumn:
    """A column that acts on one joint: `mix` says how it is made of that joint's friction terms."""

    joint: int
    name: str
    mix: Array


@dataclass(frozen=True)
class LinearModel:
    """tau = [Y, friction] theta."""

    bodies: BodyRows
    base: int
    """Columns of Y."""
    friction: tuple[FrictionColumn, ...]

    @property
    def size(self) -> int:
        return self.base + len(self.friction)

    def rows(self, samples: LogSamples, part: slice) -> Array:
        """(m, n, size) of some samples."""
        Y = self.bodies(samples, part)
        found = np.zeros((*Y.shape[:2], self.size))
        found[..., : self.base] = Y
        for k, column in enumerate(self.friction, self.base):
            found[:, column.joint, k] = samples.friction[part, column.joint] @ column.mix
        return found

    def with_loads(self, theta: Array, samples: LogSamples) -> LogSamples:
        """The samples whose friction by load rubs with the efforts that the bodies ask for."""
        if not any(column.mix[LOAD_PLACE] for column in self.friction):
            return samples
        asked = replace(self, friction=()).predicted(theta[: self.base], samples)
        friction = samples.friction.copy()
        # An effort changes slowly beside the jump of a direction, so that the filter of the jump serves both.
        friction[..., LOAD_PLACE] = np.abs(asked) * friction[..., COULOMB_PLACE]
        return replace(samples, friction=friction)

    def predicted(self, theta: Array, samples: LogSamples) -> Array:
        """(m, n) the efforts that parameters give."""
        parts = [slice(a, a + BLOCK) for a in range(0, len(samples), BLOCK)]
        return np.concatenate([self.rows(samples, part) @ theta for part in parts])


@dataclass(frozen=True)
class NoiseModel:
    """Noise of the efforts that is correlated in time and between joints: what makes it white, of unit size.

    e[t] - sum_k ar[:, k] e[t - 1 - k], and then the joints mixed by `unmix` (n, n).
    """

    ar: Array
    unmix: Array

    @property
    def order(self) -> int:
        return self.ar.shape[1]

    def whitened(self, z: Array) -> Array:
        """(m - order, n, ...) of (m, n, ...)."""
        p = self.order
        shape = (-1, *(1,) * (z.ndim - 2))
        found = np.empty((len(z) - p, *z.shape[1:]))
        for first in range(0, len(found), FEW):
            near = z[first : first + FEW + p]
            own = near[p:].copy()
            for k in range(p):
                own -= self.ar[:, k].reshape(shape) * near[p - 1 - k : len(near) - 1 - k]
            found[first : first + FEW] = np.einsum("ij,tj...->ti...", self.unmix, own)
        return found


def stretches(samples: LogSamples) -> list[tuple[int, int]]:
    """[first, last) rows of every piece."""
    ends = [*samples.pieces[1:], len(samples)]
    return list(zip(samples.pieces, ends))


def usable(samples: LogSamples, order: int, first: int, last: int) -> Mask:
    """(last - first - order) which rows of a piece, made white, hold no effort known to be wrong."""
    good: Mask = np.all(samples.used[first:last], axis=1)  # type: ignore[assignment]
    found = good[order:].copy()
    for k in range(order):
        found &= good[order - 1 - k : len(good) - 1 - k]
    return found


def white_residuals(samples: LogSamples, residual: Array, noise: NoiseModel) -> list[tuple[int, Array]]:
    """(the first row, what is left made white (m, n)) of every piece; rows that do not count are NaN."""
    found = []
    for first, last in stretches(samples):
        if last - first > noise.order:
            white = noise.whitened(residual[first:last])
            white[~usable(samples, noise.order, first, last)] = np.nan
            found.append((first + noise.order, white))
    return found


def white_rows(
    model: LinearModel, samples: LogSamples, noise: NoiseModel, weights: Sequence[Array]
) -> Iterator[tuple[Array, Array]]:
    """(X (m, n, size), y (m, n)) made white and weighted, block by block; `weights` (m, n) piece by piece."""
    p = noise.order
    long = [(first, last) for first, last in stretches(samples) if last - first > p]
    blocks = [
        (slice(a - p, min(a + BLOCK, last)), weight[a - first - p : a - first - p + BLOCK])
        for (first, last), weight in zip(long, weights)
        for a in range(first + p, last, BLOCK)
    ]

    def made(block: tuple[slice, Array]) -> tuple[Array, Array]:
        part, root = block[0], np.sqrt(block[1])
        X = noise.whitened(model.rows(samples, part)) * root[..., None]
        return X, noise.whitened(samples.tau[part]) * root

    yield from in_blocks(made, blocks)


def triangle(blocks: Iterator[tuple[Array, Array]], size: int) -> tuple[Array, int]:
    """(R of the QR factors of [X y] over all blocks, the number of rows)."""
    total, rows = SumOfSquares(size + 1), 0
    for X, y in blocks:
        both = np.concatenate([X.reshape(-1, size), y.reshape(-1, 1)], axis=1)
        rows += int(np.count_nonzero(both.any(axis=1)))
        total.add(both)
    return total.triangle(), rows


class SumOfSquares:
    """A'A of rows A that come block by block, as exact as their QR factors and as fast as products of matrices.

    The squares are summed up in a basis in which the rows seen so far are nearly orthonormal, so that no digits are
    lost; a block that shows what none before it did begins another basis.
    """

    def __init__(self, size: int) -> None:
        self._to, self._back = np.eye(size), np.eye(size)
        self._squares = np.zeros((size, size))
        self._empty = np.ones(size, dtype=bool)
        """Columns that no row has shown: they stay exactly zero."""

    def add(self, rows: Array) -> None:
        """Take in rows (m, size)."""
        filled = self._empty & rows.any(axis=0)
        seen = rows @ self._to
        squares = seen.T @ seen
        if filled.any() or np.diag(squares).max(initial=0.0) > NEWS:
            known = self.triangle()
            self._to, self._back = _basis(np.concatenate([known, rows]))
            before, seen = known @ self._to, rows @ self._to
            self._squares, squares = before.T @ before, seen.T @ seen
            self._empty &= ~filled
        self._squares += squares

    def triangle(self) -> Array:
        """R, upper triangular: R'R = A'A."""
        values, vectors = np.linalg.eigh(self._squares)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return upper_triangle(np.where(self._empty, 0.0, root @ self._back))


def _basis(rows: Array) -> tuple[Array, Array]:
    """(W, its inverse): rows @ W are nearly orthonormal; directions without rows are drawn out by 1 / LOST^2 at most.

    Twice, because the first time what is smaller than LOST drowns in the rounding of the squares.
    """
    length = np.linalg.norm(rows, axis=0)
    scale = np.where(length > 0, length, 1.0)
    to, back = np.diag(1 / scale), np.diag(scale)
    for _ in range(2):
        seen = rows @ to
        values, vectors = np.linalg.eigh(seen.T @ seen)
        size = np.sqrt(np.maximum(values, 0.0))
        size = np.maximum(size, LOST * max(float(size.max(initial=0.0)), 1e-150))
        to, back = to @ (vectors / size), size[:, None] * vectors.T @ back
    return to, back


def upper_triangle(rows: Array) -> Array:
    """R of the QR factors."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


@dataclass(frozen=True)
class Solution:
    """theta, its covariance for unit noise, the directions that the rows do not show, the sum of squares left."""

    theta: Array
    covariance: Array
    hidden: Array
    """(size, k) combinations of parameters without effect on any row."""
    told: Mask
    """(size) which parameters the rows show: those that no hidden combination has a part in."""
    left: float
    rows: int

    @property
    def rank(self) -> int:
        return len(self.theta) - self.hidden.shape[1]

    @property
    def variance(self) -> float:
        """Of a row."""
        return self.left / max(1, self.rows - self.rank)


def solve(R: Array, rows: int, prior: Array, columns: Sequence[int] | None = None) -> Solution:
    """Least squares from a triangle, for all columns or some; what the rows do not show stays as the prior has it."""
    size = R.shape[1] - 1
    chosen = list(range(size)) if columns is None else list(columns)
    if columns is not None:
        R = upper_triangle(R[:, [*chosen, size]])
        size = len(chosen)
    start = prior[: len(chosen)] if columns is None else prior
    length = np.linalg.norm(R[:, :size], axis=0)
    scale = np.where(length > 0, length, 1.0)
    A = np.zeros((size, size))
    A[: min(size, len(R))] = R[:size, :size]
    U, s, Vt = np.linalg.svd(A / scale)
    kept = s > NO_INFORMATION * max(float(s[0]), 1e-300)
    z = np.zeros(size)
    z[: min(size, len(R))] = R[:size, size]
    rest = z - A @ start
    step = Vt[kept].T @ ((U[:, kept].T @ rest) / s[kept])
    root = (Vt[kept].T / s[kept]) / scale[:, None]
    theta = start + step / scale
    told = np.linalg.norm(Vt[~kept], axis=0) < TOLD
    over = float(R[size, size]) ** 2 if len(R) > size else 0.0
    left = over + float(np.sum((z - A @ theta) ** 2))
    return Solution(theta, root @ root.T, (Vt[~kept] / scale).T, told, left, rows)


def noise_by_size(samples: LogSamples) -> NoiseModel:
    """Before anything is known: every joint's noise is a share of its efforts."""
    size = np.sqrt(np.mean(samples.tau**2, axis=0))
    least = 1e-9 * max(float(size.max()), 1e-12)
    return NoiseModel(np.zeros((len(size), 0)), np.diag(1 / np.maximum(size, least)))


def noise_model(samples: LogSamples, residual: Array) -> NoiseModel:
    """What makes a residual white: a model of each joint's memory, its order by Akaike, then the joints' covariance."""
    from scipy.linalg import solve_toeplitz

    parts = [residual[first:last][samples.used[first:last].all(axis=1)] for first, last in stretches(samples)]
    n = residual.shape[1]
    rows = sum(map(len, parts))
    most = min(ORDERS, rows // 50, max(0, min(last - first for first, last in stretches(samples)) // 4))
    ar = np.zeros((n, most))
    for j in range(n):
        lags = np.array([sum(float(x[k:, j] @ x[: len(x) - k, j]) for x in parts) for k in range(most + 1)]) / rows
        if lags[0] <= 0:
            continue
        lags[0] *= 1 + 1e-6
        best = rows * np.log(lags[0])
        for order in range(1, most + 1):
            a = solve_toeplitz(lags[:order], lags[1 : order + 1])
            left = lags[0] - float(a @ lags[1 : order + 1])
            criterion = rows * np.log(max(left, 1e-300)) + 2 * order
            if criterion < best - 2:
                best, ar[j] = criterion, 0.0
                ar[j, :order] = a
    order = max((k + 1 for k in range(most) if ar[:, k].any()), default=0)
    plain = NoiseModel(ar[:, :order], np.eye(n))
    white = np.concatenate([w for _, w in white_residuals(samples, residual, plain)])
    white = white[np.isfinite(white).all(axis=1)]
    spread = np.maximum(1.4826 * np.median(np.abs(white), axis=0), 1e-12 * (1e-30 + np.abs(samples.tau).max(axis=0)))
    spread = np.maximum(spread, 1e-300)
    # Far values are clipped: they are for the weights to deal with.
    clipped = np.clip(white / spread, -HUBER, HUBER)
    covariance = clipped.T @ clipped / len(clipped) + 1e-9 * np.eye(n)
    return NoiseModel(plain.ar, np.linalg.inv(np.linalg.cholesky(covariance)) / spread)
