"""How every link moves at the rates qd, and what each joint has in it: the outward recursion of velocities.

All motions are (angular velocity, velocity of the link frame's origin) in the link's own frame. Whatever needs a
velocity takes it from here: energies, forces, Coriolis matrices, Kane's partial velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emdeg.mechanics.mechanism import Frames, Mechanism, carried_outward
from emdeg.mechanics.spatial import Scalar, Spatial

Partials = tuple[Mapping[int, Spatial], ...]
"""Per link, in its own frame: joint -> a motion; joints that do not move the link are absent."""


def velocities(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> tuple[Spatial, ...]:
    """v_i = X_i v_parent + S_i qd_i [rad/s, m/s]."""
    X, S = frame.X, mech.S
    return carried_outward(mech, mech.still, lambda i, v: X[i] @ v + S[i] * qd[i])


def partial_velocities(mech: Mechanism, frame: Frames) -> Partials:
    """How each joint at unit rate moves each link: v_i = sum of partials[i][k] qd_k.

    (Kane and Levinson (23), (44); Burdick (4), (5), (7).)
    """
    return _carried(mech, frame, mech.S)


def partial_velocity_rates(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> Partials:
    """The rates of `partial_velocities` as the links move with v: an axis is fixed in its link, S' = v x S."""
    return _carried(mech, frame, [v[k].cross(S) for k, S in enumerate(mech.S)])


def _carried(mech: Mechanism, frame: Frames, own: Sequence[Spatial]) -> Partials:
    """Each joint's motion, stated in its own link's frame, in the frames of all links beyond it."""
    X = frame.X
    nothing: Mapping[int, Spatial] = {}
    return carried_outward(mech, nothing, lambda i, before: {k: X[i] @ m for k, m in before.items()} | {i: own[i]})
