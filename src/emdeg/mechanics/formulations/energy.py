"""Kinetic and potential energy, linear and angular momentum, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.mechanics.formulations.velocities import velocities
from emdeg.mechanics.mechanism import Frames, Mechanism, in_base
from emdeg.mechanics.spatial import Scalar, Transform, Vec3, add, dot, mul, scale, total


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
