"""Loops closed numerically over doubles: Newton's method with checked convergence, one state or many.

All closure equations count, redundant ones too: steps are those of least squares, and what is left open at the end is
left open in the equations together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import cos, sin
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.dynamics.mechanism import Frames, joint_conditions, joint_positions
from emdeg.dynamics.spatial import column, dot
from emdeg.errors import ClosureError
from emdeg.loops.linkage import (
    CLOSING_ROWS,
    Linkage,
    anchor_axes,
    constraints,
    jacobian_matrix,
    world_frames,
)

CLOSED = 1e-12
"""A loop counts as closed by Newton's method if its equations, over the mechanism's size, miss zero by less."""
STEPS = 50
ALL_BUT_CLOSED = 1e-6
"""A loop that stays open by less may be meant to close, with sizes that were rounded."""
MORE_DIGITS = "sizes and angles that let it move because they are special must be stated to 13 digits or more"


def positions_of(link: Linkage, q: Array) -> list[Any]:
    """Each joint's (sine, cosine), or displacement."""
    return joint_positions(link.tree, lambda k: q[..., k] * 1.0, lambda k: (np.sin(q[..., k]), np.cos(q[..., k])))


def _plain(link: Linkage, q: Array) -> list[Any]:
    """`positions_of` one configuration in Python's own floats."""
    values = q.ravel().tolist()
    return joint_positions(link.tree, values.__getitem__, lambda k: (sin(values[k]), cos(values[k])))


def evaluated(link: Linkage, q: Array) -> tuple[list[str], Array, Array]:
    """(loops' names, values (..., m), Jacobian (..., m, n)) of all constraint rows."""
    shape, single = q.shape[:-1], q.size == link.n  # one configuration takes a third of the time without arrays
    rows = constraints(link, world_frames(link, _plain(link, q) if single else positions_of(link, q)))
    matrix, names = jacobian_matrix(link, rows), [row.name for row in rows]
    if single:
        values, J = np.array([row.value for row in rows], dtype=np.float64), np.array(matrix, dtype=np.float64)
        return names, values.reshape(*shape, -1), J.reshape(*shape, *J.shape)
    values = np.stack([np.broadcast_to(np.asarray(row.value, float), shape) for row in rows], -1)
    J = np.stack([np.stack([np.broadcast_to(np.asarray(x, float), shape) for x in row], -1) for row in matrix], -2)
    return names, values, J


def size_of(link: Linkage) -> float:
    """The mechanism's size [m]: the longest of its rods and of the offsets along its links."""
    anchors = [end.p for loop in (*link.bars, *link.meetings) for end in (loop.first, loop.second)]
    offsets = [*anchors, *((place.a, place.b, place.d) for place in link.tree.dh)]
    sizes = [float(np.linalg.norm(np.array(p, dtype=np.float64))) for p in offsets]
    sizes += [float(np.sqrt(np.float64(cast(float, bar.length_squared)))) for bar in link.bars]
    return max(sizes, default=0.0) or 1.0


def row_sizes(link: Linkage) -> Array:
    """(m,): what every constraint equation is measured in, size^2 of a rod's, size of a point's, 1 of an axis'."""
    size = size_of(link)
    found = [size * size] * len(link.bars)
    for meeting in link.meetings:
        found += [1.0 if kind == "across" else size for kind, *_ in CLOSING_ROWS[meeting.kind]]
    return np.array(found if link.rows is None else [found[i] for i in link.rows])


def whole(link: Linkage) -> Linkage:
    """The linkage with all its closure equations, redundant ones too."""
    return link if link.rows is None else replace(link, rows=None)


def corrected(link: Linkage, q: Array, free: Sequence[int], steps: int = STEPS) -> tuple[Array, Array]:
    """(q with the joints `free` moved, what every equation of all (..., m) misses then, over the mechanism's size)."""
    q, link, free = np.array(q, dtype=np.float64), whole(link), list(free)
    sizes = row_sizes(link)
    _, values, J = evaluated(link, q)
    values, J = values / sizes, J / sizes[:, None]
    for _ in range(steps):
        worst = np.abs(values).max(axis=-1, initial=0.0)
        moving = worst > 1e-16
        if not moving.any():
            break
        with np.errstate(all="ignore"):
            step = -(np.linalg.pinv(J[..., free], rcond=1e-10) @ values[..., None])[..., 0]
        length = np.abs(step).max(axis=-1, keepdims=True)
        trial = q.copy()
        trial[..., free] += step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
        _, after, J_after = evaluated(link, trial)
        after = after / sizes
        # Rounding alone is left where a state that is closed gets no better.
        better = moving & ~((worst < CLOSED) & (np.abs(after).max(axis=-1) >= worst))
        if not better.any():
            break
        q = np.where(better[..., None], trial, q)
        values = np.where(better[..., None], after, values)
        J = np.where(better[..., None, None], J_after / sizes[:, None], J)
    return q, values


def open_rows(link: Linkage, position: Sequence[Any]) -> Array:
    """(..., m and more): what every closure equation misses over the mechanism's size, every circle, every seam."""
    world = world_frames(link, position)
    rows = constraints(whole(link), world)
    circles = joint_conditions(link.tree, position)
    others = [*circles, *_seams(link, world)]
    values = [np.asarray(v, float) for v in (*(row.value for row in rows), *others)]
    return np.abs(np.stack(np.broadcast_arrays(*values), -1)) / np.concatenate(
        [row_sizes(whole(link)), np.ones(len(others))]
    )


def _seams(link: Linkage, world: Frames) -> list[Any]:
    """What the axes of fixed joints and of slides lack of lying on each other, a slide's either way round.

    Three products that are zero do not say it: they are, too, where x lies on y, y on z and z on x.
    """
    found = []
    for meeting in link.meetings:
        if meeting.kind in TURNLESS:
            one, other = anchor_axes(meeting.first, world), anchor_axes(meeting.second, world)
            like = [dot(column(one, k), column(other, k)) for k in range(3)]
            found += [x - 1 if meeting.kind == "fixed" else x * x - 1 for x in like]
    return found


TURNLESS = ("fixed", "prismatic")
"""Closing joints in which nothing turns."""


def turned_seams(link: Linkage, q: Array) -> NDArray[np.bool_]:
    """(...): whether a joint in which nothing turns is turned at the closed configurations q (..., n)."""
    turned = np.zeros(q.shape[:-1], dtype=np.bool_)
    for lacking in _seams(link, world_frames(link, positions_of(link, q))):
        turned = turned | (np.abs(lacking) > 0.5)
    return np.asarray(turned, dtype=np.bool_)


def closed_by_newton(link: Linkage, q: Array, free: Sequence[int]) -> Array:
    """q (..., n) with the joints `free` moved so that every loop closes; ClosureError if one does not."""
    q, values = corrected(link, q, free)
    missed = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    if not np.all(missed < CLOSED):
        names = [row.name for row in constraints(whole(link), world_frames(link, positions_of(link, q)))]
        loop = names[int(np.argmax(np.where(np.isfinite(missed), missed, np.inf)))]
        hint = f"; it all but closes: {MORE_DIGITS}" if missed.max() < ALL_BUT_CLOSED else ""
        raise ClosureError(loop, f"the loop cannot close there: open by {missed.max():.3g} after {STEPS} steps{hint}")
    if turned_seams(link, q).any():
        seam = next(meeting.name for meeting in link.meetings if meeting.kind in TURNLESS)
        raise ClosureError(seam, "the loop closes there with a joint turned in which nothing turns: start nearer to it")
    return q
