"""Climbs from many points at once to local maxima within a box: Newton's steps, damped until they rise.

Each step solves (shift - H) step = g with the shift above H's largest eigenvalue, so that it points uphill; the shift's
margin shrinks after a step that rises and grows after one that does not. Variables at an end of their range whose slope
points outward stay there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emdeg.algebra import Array

STEPS = 60
LONGEST = 0.7
"""The longest step in one variable [rad, or half ranges]."""

Evaluate = Callable[[Array], tuple[Array, Array, Array]]
"""x (points, d) -> values, gradients, Hessians there."""


def ascend(evaluate: Evaluate, x: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """(values, points) reached from the points x; no value is below the one it started from."""
    x = x.copy()
    value, g, H = evaluate(x)
    margin = np.full(len(x), 1e-3)
    for _ in range(STEPS):
        step, rise = _step(x, g, H, margin, low, high)
        going = (rise > 1e-15 * (np.abs(value) + 1e-300)) & (margin < 1e9)
        if not going.any():
            break
        rows = np.flatnonzero(going)
        new = np.clip(x[rows] + step[rows], low, high)
        found = evaluate(new)
        better = found[0] > value[rows]
        chosen = rows[better]
        x[chosen] = new[better]
        value[chosen], g[chosen], H[chosen] = (part[better] for part in found)
        margin[rows] *= np.where(better, 0.1, 10.0)
    return value, x


def _step(x: Array, g: Array, H: Array, margin: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """(the steps, how much f would rise to first order)."""
    held = ((x >= high) & (g > 0)) | ((x <= low) & (g < 0)) | (high <= low)
    g = np.where(held, 0.0, g)
    H = np.where(held[:, :, None] | held[:, None, :], 0.0, H)
    size = np.abs(H).max(axis=(1, 2)) + np.abs(g).max(axis=1) + 1e-300
    top = np.maximum(np.linalg.eigvalsh(H)[:, -1], 0.0)
    shift = top + np.maximum(margin, 1e-12) * size
    A = shift[:, None, None] * np.eye(x.shape[1]) - H
    step = np.linalg.solve(A, g[:, :, None])[:, :, 0]
    longest = np.abs(step).max(axis=1, keepdims=True)
    step = step * np.minimum(1.0, LONGEST / np.maximum(longest, 1e-300))
    return step, (g * step).sum(axis=1)
