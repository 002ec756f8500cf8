"""The largest value of a formula over a box, certified: branch and bound with second-order bounds.

On a box with centre x0 and half widths r, f <= f(x0) + max (g.t + t.H t / 2) + R(r) over |t| <= r, where g and H
are the gradient and the Hessian at x0 and R bounds the third-order remainder from the amplitudes of f's Fourier
coefficients; angles in which the box is wide are treated as in `wide`. A box is dropped when its bound lies below
the best value found plus the tolerance, or when f is monotone in a variable over it and the box does not touch that
end of the range: then it holds no global maximum.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.equations.bounds.tensor import Array, Tensor
from emdeg.equations.bounds.wide import Wide, wide

BATCH = 2048
SAMPLES = 1024
STARTS = 6
WIDE = 0.75
"""An angle is wide in a box where its half width [rad] times its highest multiple is at least this."""


def clock() -> float:
    """Seconds, 0.75 of this thread's processor time and 0.25 of the wall clock's: a crowded machine gets longer."""
    return 0.75 * time.thread_time() + 0.25 * time.monotonic()


@dataclass(frozen=True)
class Effort:
    """What a search may spend: boxes examined, and seconds of `clock`."""

    boxes: int = 2_000_000
    seconds: float = 60.0


@dataclass(frozen=True)
class Maximum:
    """lower <= max f <= upper, both guaranteed; `at` is a point of the box whose value is `lower`."""

    lower: float
    upper: float
    at: Array
    """In the search's own coordinates; see `Tensor.outside`."""
    boxes: int


@dataclass
class _Found:
    """What is known of a batch of boxes."""

    value: Array
    """At the centre; -inf where it was not computed."""
    upper: Array
    slope: Array
    change: Array
    """The slope over the whole box differs from `slope` by less than this."""
    weight: Array
    """How much each variable's width adds to the bound."""


def maximum(
    f: Tensor, tolerance: float, relative: float = 0.0, effort: Effort = Effort(), ceiling: float = np.inf
) -> Maximum:
    """The largest value of `f`, to within the larger of tolerance and relative |max f|, or as near as `effort` allows.

    `ceiling` is an upper bound known from elsewhere; the search ends as soon as a value comes that near to it.
    """
    start = clock()
    if f.dimension == 0:
        value = float(f.coefficients.sum())
        return Maximum(float(value - f.rounding), float(value + f.rounding), np.empty(0), 0)
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    best, at = climb(f)
    ends = np.array([not v.is_circle for v in f.variables])
    low, high = middle - half, middle + half
    views: dict[tuple[bool, ...], Wide] = {}

    def allowed() -> float:
        return max(tolerance, relative * abs(best), 2 * f.rounding)

    C, R, U = middle[None, :], half[None, :], np.array([ceiling])
    examined = 0
    settled = -np.inf  # the largest bound among boxes dropped for being within the tolerance
    if best + allowed() >= ceiling:
        return Maximum(float(best - f.rounding), float(ceiling + f.rounding), at, 0)
    while len(C) and (not examined or (examined < effort.boxes and clock() - start < effort.seconds)):
        # The boxes with the largest bounds first: the certified upper bound falls as early as it can.
        take = np.argpartition(-U, BATCH - 1)[:BATCH] if len(U) > BATCH else np.arange(len(U))
        keep = np.ones(len(U), bool)
        keep[take] = False
        c, r = C[take], R[take]
        parent = U[take]
        C, R, U = C[keep], R[keep], U[keep]
        examined += len(c)
        found = _examined(f, c, r, views)
        upper = np.minimum(found.upper, parent)
        top = int(np.argmax(found.value))
        if found.value[top] > best:
            best, at = _climb(f, c[top], float(found.value[top]), low, high)
        close = upper <= best + allowed()
        settled = max(settled, float(upper[close].max(initial=-np.inf)))
        c, r, live = _without_monotone(c, r, found, low, high, ends)
        live &= ~close
        if live.any():
            c, r = _bisected(c[live], r[live], found.weight[live])
            C, R = np.concatenate([C, c]), np.concatenate([R, r])
            U = np.concatenate([U, upper[live], upper[live]])
        if len(U) and (drop := best + allowed() >= U).any():
            settled = max(settled, float(U[drop].max()))
            C, R, U = C[~drop], R[~drop], U[~drop]
    upper_bound = max(best, settled, float(U.max(initial=-np.inf))) + f.rounding
    return Maximum(float(best - f.rounding), float(upper_bound), at, examined)


def _examined(f: Tensor, c: Array, r: Array, views: dict[tuple[bool, ...], Wide]) -> _Found:
    found = _Found(np.full(len(c), -np.inf), np.empty(len(c)), *(np.zeros(c.shape) for _ in range(3)))
    angle = np.array([v.is_angle for v in f.variables])
    masks = angle & (r * np.array(f.degrees) >= WIDE)
    for mask, rows in _groups(masks):
        if not any(mask):
            part = _taylor(f, c[rows], r[rows])
        else:
            if mask not in views:
                views[mask] = wide(f, mask)
            part = _over_wide(f, views[mask], c[rows], r[rows])
        for name in ("value", "upper", "slope", "change", "weight"):
            getattr(found, name)[rows] = getattr(part, name)
    return found


def _groups(masks: NDArray[np.bool_]) -> Iterator[tuple[tuple[bool, ...], NDArray[np.intp]]]:
    kinds, which = np.unique(masks, axis=0, return_inverse=True)
    which = np.asarray(which).reshape(-1)
    for k, kind in enumerate(kinds):
        yield tuple(bool(b) for b in kind), np.flatnonzero(which == k)


def _taylor(f: Tensor, c: Array, r: Array) -> _Found:
    """Bounds from the second Taylor polynomial at the centre."""
    value, g, H = f.derivatives(c, 2)
    diagonal = np.einsum("pii->pi", H)
    across = np.abs(H)
    total = np.einsum("pij,pj->pi", across, r)
    np.einsum("pii->pi", across)[:] = 0.0
    coupling = np.einsum("pij,pj->pi", across, r)
    # Two bounds of the quadratic part: couplings at their worst apart, or spread over the squares (Gershgorin).
    apart = _separable(g, diagonal, r).sum(axis=1) + 0.5 * (coupling * r).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = diagonal + np.where(r > 0, coupling / r, 0.0)
    together = _separable(g, spread, r).sum(axis=1)
    alphas, T = f.cubic
    third = _powers(r, alphas) * T
    seconds, S = f.quadratic
    return _Found(
        value,
        value + np.minimum(apart, together) + third.sum(axis=1) + f.rounding,
        g,
        total + _powers(r, seconds) @ S.T + f.rounding,
        np.abs(g) * r + 0.5 * total * r + third @ (alphas / 3.0),
    )


def _over_wide(f: Tensor, view: Wide, c: Array, r: Array) -> _Found:
    """Bounds over a whole turn of the wide angles."""
    narrow, open_ = list(view.narrow), list(view.open_)
    x, s = c[:, narrow], r[:, narrow]
    inner = _taylor(view.still, x, s)
    size, slope = view.waves(x)
    steep = slope.sum(axis=2)
    alphas, T = view.second
    second = _powers(s, alphas) * T
    found = _Found(np.full(len(c), -np.inf), np.empty(len(c)), *(np.zeros(c.shape) for _ in range(3)))
    found.upper = inner.upper + size.sum(axis=1) + (steep * s).sum(axis=1) + second.sum(axis=1)
    found.slope[:, narrow] = inner.slope
    # d(sum T r^alpha)/dr_k, doubled where alpha has a square, is at least the change of the slopes of B_m.
    found.change[:, narrow] = inner.change + steep
    share = second @ (alphas / 2.0) if len(narrow) else np.zeros(x.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        found.change[:, narrow] += np.where(s > 0, 2 * share / s, 0.0)
    found.change[:, open_] = np.inf
    found.weight[:, narrow] = inner.weight + steep * s + share
    involved = (view.orders != 0).astype(float)
    found.weight[:, open_] = size @ (involved / np.maximum(involved.sum(axis=1, keepdims=True), 1.0))
    return found


def _separable(g: Array, h: Array, r: Array) -> Array:
    """max of g t + h t^2 / 2 over |t| <= r, entry by entry."""
    edge = np.abs(g) * r + 0.5 * h * r * r
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = -0.5 * g * g / h
    inside = (h < 0) & (np.abs(g) < -h * r)
    return np.where(inside, peak, edge)


def _powers(r: Array, alphas: NDArray[np.intp]) -> Array:
    """prod r^alpha (boxes, multi-indices)."""
    result = np.ones((len(r), len(alphas)))
    for k in range(r.shape[1]):
        steps = np.stack([r[:, k] ** e for e in range(4)], axis=1)
        result *= steps[:, alphas[:, k]]
    return result


def _without_monotone(
    c: Array, r: Array, found: _Found, low: Array, high: Array, ends: NDArray[np.bool_]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Boxes in which f rises or falls throughout: reduced to the range's end, or marked as not live."""
    steady = (np.abs(found.slope) > found.change) & (r > 0)
    up = found.slope > 0
    margin = 1e-9 * (high - low)
    touches = ends & np.where(up, c + r >= high - margin, c - r <= low + margin)
    live = np.asarray(~(steady & ~touches).any(axis=1))
    flat = steady & touches
    c = np.where(flat, np.where(up, high, low), c)
    r = np.where(flat, 0.0, r)
    return c, r, live


def _bisected(c: Array, r: Array, weight: Array) -> tuple[Array, Array]:
    """Every box cut in two across the variable that adds most to its bound."""
    k = np.argmax(np.where(r > 0, weight, -1.0), axis=1)
    rows = np.arange(len(c))
    r = r.copy()
    r[rows, k] *= 0.5
    left, right = c.copy(), c.copy()
    left[rows, k] -= r[rows, k]
    right[rows, k] += r[rows, k]
    r[rows, k] = r[rows, k] * (1 + 1e-14) + 1e-15  # outward, so that the halves cover the whole
    return np.concatenate([left, right]), np.concatenate([r, r])


def climb(f: Tensor, starts: int = STARTS) -> tuple[float, Array]:
    """(a large value, where in the search's coordinates): not proven to be the largest."""
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    if not f.dimension:
        return float(f.coefficients.sum()), middle
    return _local_maximum(f, middle, half, starts)


def _local_maximum(f: Tensor, middle: Array, half: Array, starts: int) -> tuple[float, Array]:
    """The best of some climbs from random points; the same every time."""
    rng = np.random.default_rng(0)
    points = middle + half * rng.uniform(-1, 1, (SAMPLES, f.dimension))
    points = np.concatenate([middle[None, :], points])
    values = f.values(points)
    best, at = -np.inf, middle
    for start in np.argsort(-values)[:starts]:
        value, point = _climb(f, points[start], float(values[start]), middle - half, middle + half)
        if value > best:
            best, at = value, point
    return best, at


def _climb(f: Tensor, x: Array, value: float, low: Array, high: Array) -> tuple[float, Array]:
    from scipy.optimize import minimize

    def downhill(point: Array) -> tuple[float, Array]:
        v, g, _ = f.derivatives(point[None, :], 1)
        return -float(v[0]), -g[0]

    found = minimize(
        downhill, x, jac=True, method="L-BFGS-B", bounds=list(zip(low, high)), options={"maxiter": 60, "ftol": 1e-15}
    )
    point = np.clip(found.x, low, high)
    reached = float(f.values(point[None, :])[0])
    return (reached, point) if reached > value else (value, x)
