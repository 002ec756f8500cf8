"""The largest value of a formula over a box, certified: branch and bound with second-order bounds.

`examine` bounds f over each box. An angle that occurs in one harmonic only is maximised over in closed form where that
can be done safely, and searched like the others where not. A box is dropped when its bound lies below the best value
found plus the tolerance, or when f is monotone in a variable over it and the box does not touch that end of the range:
then it holds no global maximum.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.ascent import ascend
from emdeg.bounds.examine import BoxBounds, Turning, empty, examine, turning
from emdeg.bounds.tensors import Tensor
from emdeg.bounds.wide_angles import WithWideAngles, wide

BATCH = 2048
SAMPLES = 1024
STARTS = 24
WIDE = 1.1
"""An angle is wide in a box where its half width [rad] times its highest multiple is at least this."""


RELUCTANCE = 0.15
"""What splitting the turning angle counts for against others: a smaller box may do without."""


_called_off = threading.Event()


def clock() -> float:
    """Seconds, 0.75 of this thread's processor time and 0.25 of the wall clock's: a crowded machine gets longer.

    Infinite while searches are called off: all that look at it end at once, with the bounds they have.
    """
    return math.inf if _called_off.is_set() else 0.75 * time.thread_time() + 0.25 * time.monotonic()


@contextmanager
def called_off() -> Iterator[None]:
    """Searches that run in other threads end while this lasts."""
    _called_off.set()
    try:
        yield
    finally:
        _called_off.clear()


@dataclass(frozen=True)
class SearchLimits:
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


def maximum(
    f: Tensor,
    tolerance: float,
    relative: float = 0.0,
    effort: SearchLimits = SearchLimits(),
    ceiling: float = np.inf,
    start: Array | None = None,
) -> Maximum:
    """The largest value of `f`, to within the larger of tolerance and relative |max f|, or as near as `effort` allows.

    `ceiling` is an upper bound known from elsewhere; the search ends as soon as a value comes that near to it. With
    `start`, a point known to be good, no climbs are made first.
    """
    began = clock()
    if f.dimension == 0:
        value = float(f.coefficients.sum())
        return Maximum(float(value - f.rounding), float(value + f.rounding), np.empty(0), 0)
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    best, at = climb(f) if start is None else (float(f.values(start[None, :])[0]), start)
    ends = np.array([not v.is_circle for v in f.variables])
    low, high = middle - half, middle + half
    views: dict[tuple[bool, ...], WithWideAngles] = {}

    def allowed() -> float:
        return max(tolerance, relative * abs(best), 2 * f.rounding)

    turn = turning(f)
    C, R, U = middle[None, :], half[None, :], np.array([ceiling])
    examined = 0
    settled = -np.inf  # the largest bound among boxes dropped for being within the tolerance
    if best + allowed() >= ceiling:
        return Maximum(float(best - f.rounding), float(ceiling + f.rounding), at, 0)
    while len(C) and (not examined or (examined < effort.boxes and clock() - began < effort.seconds)):
        # The boxes with the largest bounds first: the certified upper bound falls as early as it can.
        take = np.argpartition(-U, BATCH - 1)[:BATCH] if len(U) > BATCH else np.arange(len(U))
        keep = np.ones(len(U), bool)
        keep[take] = False
        c, r = C[take], R[take]
        parent = U[take]
        C, R, U = C[keep], R[keep], U[keep]
        examined += len(c)
        found, peak = _examined(f, c, r, views, best + allowed(), turn)
        upper = np.minimum(found.upper, parent)
        top = int(np.argmax(found.value))
        if found.value[top] > best:
            best, at = _climb(f, peak[top][None, :], low, high)
        close = upper <= best + allowed()
        settled = max(settled, float(upper[close].max(initial=-np.inf)))
        c, r, live = _without_monotone(c, r, found, low, high, ends)
        live &= ~close
        if live.any():
            c, r = bisected(c[live], r[live], found.weight[live])
            C, R = np.concatenate([C, c]), np.concatenate([R, r])
            U = np.concatenate([U, upper[live], upper[live]])
        if len(U) and (drop := best + allowed() >= U).any():
            settled = max(settled, float(U[drop].max()))
            C, R, U = C[~drop], R[~drop], U[~drop]
    upper_bound = max(best, settled, float(U.max(initial=-np.inf))) + f.rounding
    return Maximum(float(best - f.rounding), float(upper_bound), at, examined)


def _examined(
    f: Tensor, c: Array, r: Array, views: dict[tuple[bool, ...], WithWideAngles], goal: float, turn: Turning | None
) -> tuple[BoxBounds, Array]:
    """(what is known of the boxes, their centres with the turning angle where f is largest)."""
    found = empty(*c.shape)
    peak = c.copy()
    angle = np.array([v.is_angle for v in f.variables])
    masks = angle & (r * np.array(f.degrees) >= WIDE)

    def fill(mask: tuple[bool, ...], rows: NDArray[np.intp], around: Turning | None = None) -> None:
        if mask not in views:
            views[mask] = wide(f, mask)
        view = views[mask]
        if around is not None:
            peak[rows, around.place] = around.peak(view, c[rows])
        part = examine(view, peak[rows], r[rows], goal, around)
        for name in ("value", "upper", "slope", "change", "weight"):
            getattr(found, name)[rows] = getattr(part, name)

    whole = np.zeros(len(c), bool) if turn is None else turn.covered(r)
    for mask, rows in _groups(masks):
        if turn is not None and (some := rows[whole[rows]]).size:
            fill(tuple(marked and k != turn.place for k, marked in enumerate(mask)), some, turn)
            rows = np.concatenate([rows[~whole[rows]], some[~np.isfinite(found.upper[some])]])
        if len(rows):
            value = found.value[rows]
            fill(mask, rows)
            found.value[rows] = np.maximum(found.value[rows], value)
    if turn is not None:
        found.weight[whole, turn.place] *= RELUCTANCE
    return found, peak


def _groups(masks: NDArray[np.bool_]) -> Iterator[tuple[tuple[bool, ...], NDArray[np.intp]]]:
    kinds, which = np.unique(masks, axis=0, return_inverse=True)
    which = np.asarray(which).reshape(-1)
    for k, kind in enumerate(kinds):
        yield tuple(bool(b) for b in kind), np.flatnonzero(which == k)


def _without_monotone(
    c: Array, r: Array, found: BoxBounds, low: Array, high: Array, ends: NDArray[np.bool_]
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


def bisected(c: Array, r: Array, weight: Array) -> tuple[Array, Array]:
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
    """(a large value, where in the search's coordinates), by climbs from random points; it need not be the largest."""
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    if not f.dimension:
        return float(f.coefficients.sum()), middle
    rng = np.random.default_rng(0)
    points = middle + half * rng.uniform(-1, 1, (SAMPLES, f.dimension))
    points = np.concatenate([middle[None, :], points])
    return _climb(f, points[np.argsort(-f.values(points))[:starts]], middle - half, middle + half)


def _climb(f: Tensor, x: Array, low: Array, high: Array) -> tuple[float, Array]:
    """(the largest value reached from the points x, where)."""
    values, points = ascend(lambda at: f.derivatives(at, 2), x, low, high)
    top = int(np.argmax(values))
    return float(values[top]), points[top]
