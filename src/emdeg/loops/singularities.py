"""How near a mechanism with loops is to a singularity of either kind, over doubles, and by which loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics.arrays import stacked
from emdeg.dynamics.mechanism import Position
from emdeg.errors import ClosureError
from emdeg.loops.linkage import Linkage, constraints, world_frames
from emdeg.loops.newton import row_sizes
from emdeg.loops.reduction import constraint_jacobian

SINGULAR = 1e-9
"""A pose counts as singular if the smallest singular value of its equations, each scaled to one, is below this."""


SMALL = 0.02
"""The share of the mechanism's size below which a closure equation counts as fading."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Smallest singular values (...) of the equations by the dependent and by the undriven joints; weakest loops."""

    first: Array
    second: Array
    by_first: str
    by_second: str

    @property
    def nearest(self) -> tuple[str, str, float]:
        """(loop, kind, how far) of the nearest singularity."""
        kinds = [(float(np.min(self.first)), self.by_first, "first kind")]
        kinds.append((float(np.min(self.second)), self.by_second, "second kind"))
        size, loop, kind = min(kinds)
        return loop, kind, size


def scaled_jacobian(link: Linkage, position: Sequence[Position]) -> Array:
    """The constraints' Jacobian (..., m, joints), each row scaled to length one over all joints.

    A row that no joint changes by more than a share of the mechanism's size is scaled by that share: it goes to zero
    where links lie in one line, and so does what it is to tell.
    """
    Phi = stacked(constraint_jacobian(link, position), shape_of(position))
    size = np.linalg.norm(Phi, axis=-1, keepdims=True)
    return Phi / np.maximum(size, SMALL * row_sizes(link)[:, None])


def shape_of(position: Sequence[Position]) -> tuple[int, ...]:
    """The shape that the states of these positions have together."""
    parts = [part for at in position for part in (at if isinstance(at, tuple) else (at,))]
    return np.broadcast_shapes(*(np.shape(part) for part in parts))


def conditions(link: Linkage, position: Sequence[Position]) -> Conditions:
    """How far the positions are from singular ones, and the loop that is weakest in each kind."""
    names = [row.name for row in constraints(link, world_frames(link, position))]
    Phi = scaled_jacobian(link, position)
    values: list[Array] = []
    loops: list[str] = []
    for joints in (link.dependent, link.passive):
        if not joints or not Phi.size:  # motors everywhere: nothing moves while they stand; or no state at all
            values.append(np.ones(Phi.shape[:-2]))
            loops.append(names[0])
            continue
        U, sizes, _ = np.linalg.svd(Phi[..., list(joints)])
        values.append(sizes[..., -1])
        worst = np.unravel_index(int(np.argmin(values[-1])), values[-1].shape)
        loops.append(names[int(np.argmax(np.abs(U[..., sizes.shape[-1] - 1][worst])))])
    return Conditions(values[0], values[1], loops[0], loops[1])


FIRST = "the coordinates do not say how the loop moves (a singularity of the first kind)"
SECOND = "the motors cannot hold the loop (a singularity of the second kind)"


def require_regular(found: Conditions) -> None:
    """ClosureError where a pose is singular."""
    for size, loop, rule in ((found.first, found.by_first, FIRST), (found.second, found.by_second, SECOND)):
        if float(np.min(size, initial=1.0)) < SINGULAR:
            raise ClosureError(loop, f"the pose is singular: {rule}")
