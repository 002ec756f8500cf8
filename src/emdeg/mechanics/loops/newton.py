"""Loops closed numerically over doubles: Newton's method with checked convergence, one state or many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ClosureError
from emdeg.mechanics.loops.linkage import Linkage, constraints, jacobian_matrix, world_frames

CLOSED = 1e-12
"""A loop counts as closed if its equations (m, m^2 or a cosine) miss zero by less."""
STEPS = 50
STRIDES = 8
"""Pieces of the way from the start to a state, so that Newton's method stays on its branch."""


def positions_of(link: Linkage, q: Array) -> list[Any]:
    """Each joint's (sine, cosine), or displacement."""
    return [
        (np.sin(q[..., k]), np.cos(q[..., k])) if revolute else q[..., k] * 1.0
        for k, revolute in enumerate(link.tree.revolute)
    ]


def evaluated(link: Linkage, q: Array) -> tuple[list[str], Array, Array]:
    """(loops' names, values (..., m), Jacobian (..., m, n)) of all constraint rows."""
    rows = constraints(link, world_frames(link, positions_of(link, q)))
    shape = q.shape[:-1]
    values = np.stack([np.broadcast_to(np.asarray(row.value, float), shape) for row in rows], -1)
    matrix = jacobian_matrix(link, rows)
    J = np.stack([np.stack([np.broadcast_to(np.asarray(x, float), shape) for x in row], -1) for row in matrix], -2)
    return [row.name for row in rows], values, J


def closed_by_newton(link: Linkage, q: Array, free: Sequence[int]) -> Array:
    """q (..., n) with the joints `free` moved so that every loop closes; ClosureError if one does not."""
    q = np.array(q, dtype=np.float64)
    free = list(free)
    names, values, J = evaluated(link, q)
    for _ in range(STEPS):
        worst = float(np.abs(values).max(initial=0.0))
        if worst < 1e-15:
            break
        step = -(np.linalg.pinv(J[..., free], rcond=1e-10) @ values[..., None])[..., 0]
        size = np.abs(step).max(axis=-1, keepdims=True)
        trial = q.copy()
        trial[..., free] += step * np.minimum(1.0, 0.5 / np.maximum(size, 1e-300))
        names, after, J = evaluated(link, trial)
        if worst < CLOSED and float(np.abs(after).max()) >= worst:  # rounding alone is left
            break
        q, values = trial, after
    missed = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    if not np.all(missed < CLOSED):
        loop = names[int(np.argmax(np.where(np.isfinite(missed), missed, np.inf)))]
        raise ClosureError(loop, f"the loop cannot close there: open by {missed.max():.3g} after {STEPS} steps")
    return q


def follow(link: Linkage, start: Array, target: Array) -> Array:
    """q (..., n) with the coordinates at `target` (..., nu), reached from a closed `start` (n,) piece by piece."""
    at = list(link.coordinates)
    q = np.broadcast_to(start, (*target.shape[:-1], start.shape[-1])).copy()
    begin = q[..., at].copy()
    for k in range(1, STRIDES + 1):
        q[..., at] = begin + (target - begin) * (k / STRIDES)
        q = closed_by_newton(link, q, link.dependent)
    return q
