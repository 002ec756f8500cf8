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
from emdeg.dynamics.mechanism import Frames, joint_positions
from emdeg.dynamics.spatial import column, dot
from emdeg.errors import ClosureError
from emdeg.loops.linkage import (
    CLOSING_ROWS,
    Linkage,
    anchor_axes,
    constraints,
    jacobian_matrix,
    open_values,
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


def angles_of(link: Linkage, position: Sequence[Any], q: Array) -> Array:
    """(..., joints): every joint from its position, angles in (-pi, pi]; the coordinates are at q (..., n)."""
    values = [np.arctan2(*at) if turning else at for at, turning in zip(position, link.tree.revolute)]
    for i, k in enumerate(link.coordinates):
        values[k] = q[..., i]
    return np.stack([np.broadcast_to(v, q.shape[:-1]) for v in values], -1)


def wrapped(difference: Array, turning: Sequence[bool] | Array) -> Array:
    """Differences (..., n) of joint positions, those of `turning` joints in [-pi, pi)."""
    return np.where(np.asarray(turning), np.remainder(difference + np.pi, 2 * np.pi) - np.pi, difference)


def evaluated(link: Linkage, q: Array) -> tuple[Array, Array]:
    """(values (..., m), Jacobian (..., m, n)) of the constraint rows at configurations of all joints."""
    shape = q.shape[:-1]
    if q.size == link.n:  # one configuration takes a third of the time in Python's own floats
        numbers = zip(q.ravel().tolist(), link.tree.revolute)
        rows = constraints(link, world_frames(link, [(sin(x), cos(x)) if turns else x for x, turns in numbers]))
        values = np.array([row.value for row in rows], dtype=np.float64)
        J = np.array(jacobian_matrix(link, rows), dtype=np.float64)
        return values.reshape(*shape, -1), J.reshape(*shape, *J.shape)
    rows = constraints(link, world_frames(link, positions_of(link, q)))
    entries = [[row.value, *line] for row, line in zip(rows, jacobian_matrix(link, rows))]
    table = np.stack(
        [np.stack([np.broadcast_to(np.asarray(x, float), shape) for x in line], -1) for line in entries], -2
    )
    return table[..., 0], table[..., 1:]


def size_of(link: Linkage) -> float:
    """The mechanism's size [m]: the longest of its rods and of the offsets along its links."""
    anchors = [end.p for loop in link.loops for end in (loop.first, loop.second)]
    offsets = [*anchors, *((place.a, place.b, place.d) for place in link.tree.dh)]
    sizes = [float(np.linalg.norm(np.array(p, dtype=np.float64))) for p in offsets]
    sizes += [float(np.sqrt(np.float64(cast(float, bar.length_squared)))) for bar in link.bars]
    return max(sizes, default=0.0) or 1.0


def joint_sizes(link: Linkage) -> Array:
    """(n,): what a joint's change is measured in: radians, or the mechanism's size."""
    return np.where(np.array(link.tree.revolute), 1.0, size_of(link))


def row_sizes(link: Linkage) -> Array:
    """(m,): what every constraint equation is measured in, size^2 of a rod's, size of a point's, 1 of an axis'."""
    size = size_of(link)
    found = [size * size] * len(link.bars)
    for meeting in link.meetings:
        found += [1.0 if kind == "across" else size for kind, *_ in CLOSING_ROWS[meeting.kind]]
    return np.array(found if link.rows is None else [found[i] for i in link.rows])


def row_names(link: Linkage) -> list[str]:
    """The loop of every constraint equation."""
    names = [bar.name for bar in link.bars]
    names += [meeting.name for meeting in link.meetings for _ in CLOSING_ROWS[meeting.kind]]
    return names if link.rows is None else [names[i] for i in link.rows]


def whole(link: Linkage) -> Linkage:
    """The linkage with all its closure equations, redundant ones too."""
    return link if link.rows is None else replace(link, rows=None)


def scaled(link: Linkage, q: Array) -> tuple[Array, Array]:
    """All constraint equations, redundant ones too, over what they are measured in: (values, Jacobian)."""
    link = whole(link)
    sizes = row_sizes(link)
    values, J = evaluated(link, q)
    return values / sizes, J / sizes[:, None]


def normalized(link: Linkage, J: Array, least: float) -> Array:
    """The Jacobian with rows of length one; rows below the share `least` of their size are scaled by that share."""
    return J / np.maximum(np.linalg.norm(J, axis=-1, keepdims=True), least * row_sizes(link)[:, None])


def corrected(
    link: Linkage, q: Array, free: Sequence[int], steps: int = STEPS, least: float = 1e-10
) -> tuple[Array, Array]:
    """(q with the joints `free` moved, what every equation of all (..., m) misses then, over the mechanism's size).

    Equations below the share `least` of the largest singular value count as dependent.
    """
    q, free = np.array(q, dtype=np.float64), list(free)
    values, J = scaled(link, q)
    for _ in range(steps):
        worst = np.abs(values).max(axis=-1, initial=0.0)
        moving = worst > 1e-16
        if not moving.any():
            break
        with np.errstate(all="ignore"):
            step = -(np.linalg.pinv(J[..., free], rcond=least) @ values[..., None])[..., 0]
        length = np.abs(step).max(axis=-1, keepdims=True)
        trial = q.copy()
        trial[..., free] += step * np.minimum(1.0, 0.5 / np.maximum(length, 1e-300))
        after, J_after = scaled(link, trial)
        # Rounding alone is left where a state that is closed gets no better.
        better = moving & ~((worst < CLOSED) & (np.abs(after).max(axis=-1) >= worst))
        if not better.any():
            break
        q = np.where(better[..., None], trial, q)
        values = np.where(better[..., None], after, values)
        J = np.where(better[..., None, None], J_after, J)
    return q, values


def open_rows(link: Linkage, position: Sequence[Any]) -> Array:
    """(..., m and more): what every closure equation misses over the mechanism's size, every circle, every seam."""
    values = [value for _, value in open_values(link, position)] + _seams(link, position)
    sizes = row_sizes(whole(link))
    sizes = np.concatenate([sizes, np.ones(len(values) - len(sizes))])
    return np.abs(np.stack(np.broadcast_arrays(*(np.asarray(v, float) for v in values)), -1)) / sizes


def _seams(link: Linkage, position: Sequence[Any]) -> list[Any]:
    """What the axes of fixed joints and of slides lack of lying on each other, a slide's either way round.

    Three products that are zero do not say it: they are, too, where x lies on y, y on z and z on x.
    """
    found = []
    meetings = [meeting for meeting in link.meetings if meeting.kind in TURNLESS]
    world = world_frames(link, position) if meetings else None
    for meeting in meetings:
        one, other = (anchor_axes(end, cast(Frames, world)) for end in (meeting.first, meeting.second))
        like = [dot(column(one, k), column(other, k)) for k in range(3)]
        found += [x - 1 if meeting.kind == "fixed" else x * x - 1 for x in like]
    return found


TURNLESS = ("fixed", "prismatic")
"""Closing joints in which nothing turns."""


def turned_seams(link: Linkage, q: Array) -> NDArray[np.bool_]:
    """(...): whether a joint in which nothing turns is turned at the closed configurations q (..., n)."""
    turned = np.zeros(q.shape[:-1], dtype=np.bool_)
    for lacking in _seams(link, positions_of(link, q)):
        turned = turned | (np.abs(lacking) > 0.5)
    return np.asarray(turned, dtype=np.bool_)


def closed_by_newton(link: Linkage, q: Array, free: Sequence[int]) -> Array:
    """q (..., n) with the joints `free` moved so that every loop closes; ClosureError if one does not."""
    q, values = corrected(link, q, free)
    missed = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
    if not np.all(missed < CLOSED):
        loop = row_names(whole(link))[int(np.argmax(np.where(np.isfinite(missed), missed, np.inf)))]
        hint = f"; it all but closes: {MORE_DIGITS}" if missed.max() < ALL_BUT_CLOSED else ""
        raise ClosureError(loop, f"the loop cannot close there: open by {missed.max():.3g} after {STEPS} steps{hint}")
    if turned_seams(link, q).any():
        seam = next(meeting.name for meeting in link.meetings if meeting.kind in TURNLESS)
        raise ClosureError(seam, "the loop closes there with a joint turned in which nothing turns: start nearer to it")
    return q
