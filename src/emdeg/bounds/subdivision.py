"""The largest values of several functions over one box, certified by cutting it up: for functions that are no formulas.

Each box has bounds from `Enclosure`s. A function is done with a box whose bound lies within the gap of a value that
it has; a box that no function needs, or that holds no state at all, is dropped, and the others are cut in two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array, Generator
from emdeg.bounds.enclosures import Boxes
from emdeg.bounds.extrema import CertifiedExtremum
from emdeg.bounds.formulas import Range
from emdeg.bounds.limits import SearchLimits, clock

BATCH = 2048
"""Boxes at a time."""


@dataclass(frozen=True)
class BoxValues:
    """What is known of some boxes, of each function: bounds and values at the centres (functions, boxes).

    Values are -inf where a centre is outside; `live` says which boxes hold anything; `weight` (boxes, variables) how
    much each variable adds to the bounds.
    """

    upper: Array
    value: Array
    live: NDArray[np.bool_]
    weight: Array


def largest_values(
    look: Callable[[Boxes], BoxValues],
    ranges: Sequence[Range],
    gaps: Sequence[float],
    limits: SearchLimits = SearchLimits(),
) -> list[CertifiedExtremum]:
    """The largest value of each function over the box, each to within its gap of itself or as near as `limits` allows.

    A bound is infinite where a function was nowhere shown to have one; `at` is then a place without.
    """
    low, high = (np.array(ends, float) for ends in zip(*ranges))
    count, began, examined = len(gaps), clock(), 0
    C, R = 0.5 * (low + high)[None, :], (0.5 * (high - low) * (1 + 1e-15) + 1e-300)[None, :]
    U, whole = np.full((count, 1), np.inf), R[0].copy()
    best, at = np.full(count, -np.inf), [C[0]] * count
    settled = np.full(count, -np.inf)
    keep_below = 1 + np.array(gaps)
    while len(C) and (not examined or (examined < limits.boxes and clock() - began < limits.seconds)):
        order = np.argsort(-_urgency(U, best))[:BATCH]
        rest = np.ones(len(C), bool)
        rest[order] = False
        c, r, parent = C[order], R[order], U[:, order]
        C, R, U = C[rest], R[rest], U[:, rest]
        examined += len(c)
        with np.errstate(all="ignore"):
            found = look(Boxes(c.T, r.T))
        upper = np.minimum(np.where(np.isnan(found.upper), np.inf, found.upper), parent)
        for k in range(count):
            top = int(np.argmax(found.value[k]))
            if found.value[k, top] > best[k]:
                best[k], at[k] = found.value[k, top], c[top]
        done = upper <= np.maximum(best * keep_below, best)[:, None]
        kept = found.live & ~done.all(axis=0)
        dropped = found.live & ~kept
        settled = np.maximum(settled, np.where(dropped[None, :], upper, -np.inf).max(axis=1, initial=-np.inf))
        if kept.any():
            c, r = _bisected(c[kept], r[kept], _weights(found.weight[kept], r[kept] / whole))
            C, R = np.concatenate([C, c]), np.concatenate([R, r])
            U = np.concatenate([U, upper[:, kept], upper[:, kept]], axis=1)
    bounds = np.maximum(settled, U.max(axis=1, initial=-np.inf))
    open_ = [C[int(np.argmax(row))] if len(C) and not np.isfinite(row.max()) else None for row in U]
    return [
        CertifiedExtremum(float(max(b, 0.0)), float(max(u, b, 0.0)), place(x if y is None else y), examined)
        for x, y, b, u in zip(at, open_, best, bounds)
    ]


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


def place(x: Array | None) -> dict[Generator | int, float]:
    """{coordinate, from 1: its value}."""
    return {} if x is None else dict(enumerate(map(float, x), 1))


def _weights(weight: Array, share: Array) -> Array:
    """What decides where a box is cut; its widths, as shares of the whole, where bounds are infinite."""
    return np.where(np.isfinite(weight).all(axis=1, keepdims=True), weight, share)


def _urgency(U: Array, best: Array) -> Array:
    """(boxes,): how far the worst of a box's bounds is above what was found."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = U / np.maximum(best, 1e-300)[:, None]
    return np.where(np.isnan(share), 0.0, share).max(axis=0)
