"""Kinetic and potential energy, linear and angular momentum, over any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from emdeg.mechanics.mechanism import Frames, Mechanism, carried_outward, in_base
from emdeg.mechanics.spatial import Scalar, Spatial, Transform, Vec3, add, dot, mul, scale, total


def kinetic_energy(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> Scalar:
    """T [J], drives included."""
    half = mech.algebra.number(Fraction(1, 2))
    v = velocities(mech, frame, qd)
    bodies = [(mech.inertia[i] @ v[i]).dot(v[i]) for i in range(mech.n)]
    drives = [mech.drive[i] * qd[i] * qd[i] for i in range(mech.n)]
    return half * total(bodies + drives)


def potential_energy(mech: Mechanism, frame: Frames) -> Scalar:
    """V [J] of gravity, zero for masses at the base frame's origin."""
    world = in_base(mech, frame)
    g = mul(mech.base[0], mech.gravity)
    return -total(
        [dot(g, add(scale(body.m, world.p[i]), mul(world.R[i], body.mr))) for i, body in enumerate(mech.inertia)]
    )


def momentum(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> tuple[Vec3, Vec3]:
    """(linear [kg m/s], angular about the base frame's origin [kg m^2/s]) in base axes; rotors excluded."""
    zero = mech.zero
    world = in_base(mech, frame)
    v = velocities(mech, frame, qd)
    linear = angular = (zero, zero, zero)
    for i in range(mech.n):
        own = Transform(world.R[i], world.p[i]).T @ (mech.inertia[i] @ v[i])
        linear, angular = add(linear, own.v), add(angular, own.w)
    return linear, angular


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
