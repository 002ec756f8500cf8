"""The outward recursions where some links' angular velocities are known beforehand, over any scalar.

With generalized speeds that are a body's angular velocity there is nothing to recur to: it is written down, and what
comes after it starts from there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from emdeg.dynamics.mechanism import Frames, Mechanism, carried_outward
from emdeg.dynamics.spatial import Scalar, Spatial, Vec3
from emdeg.dynamics.variants.link_frame_recursion import LinkMotion, base_motion, next_motion


def velocities(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], omega: Mapping[int, Vec3]) -> tuple[Spatial, ...]:
    """Every link's velocity [rad/s, m/s], the angular velocities `omega` of some links given."""
    X, S = frame.X, mech.S

    def step(i: int, before: Spatial) -> Spatial:
        v = X[i] @ before + S[i] * qd[i]
        return replace(v, w=omega[i]) if i in omega else v

    return carried_outward(mech, mech.still, step)


def motion(
    mech: Mechanism,
    frame: Frames,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    turning: Mapping[int, tuple[Vec3, Vec3]],
    *,
    gravity: bool = True,
) -> tuple[LinkMotion, ...]:
    """Every link's motion, angular velocity and acceleration of some links given."""

    def step(i: int, before: LinkMotion) -> LinkMotion:
        move = next_motion(mech, frame, i, before, qd[i], qdd[i])
        return LinkMotion(*turning[i], move.vd) if i in turning else move

    return carried_outward(mech, base_motion(mech, gravity), step)
