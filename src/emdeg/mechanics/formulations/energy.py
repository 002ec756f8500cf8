"""Kinetic and potential energy, linear and angular momentum, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.mechanics.mechanism import Frames, Mechanism, in_base, outward
from emdeg.mechanics.spatial import Spatial, axis, inertia_times, motion_to_child
from emdeg.mechanics.vectors import Scalar, Vec3, add, cross, dot, mul, scale, total
from emdeg.robot.model import BASE


def velocities(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[Spatial]:
    """Per link, in its own frame: angular velocity and the origin's velocity."""
    zero = mech.zero
    still = Spatial((zero,) * 3, (zero,) * 3)
    v: list[Spatial] = []
    for i, parent in outward(mech):
        carried = still if parent == BASE else motion_to_child(frame.R[i], frame.p[i], v[parent])
        v.append(carried + axis(mech.revolute[i], zero, mech.one).scaled(qd[i]))
    return v


def kinetic_energy(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> Scalar:
    """T [J], drives included."""
    half = mech.algebra.number(Fraction(1, 2))
    v = velocities(mech, frame, qd)
    bodies = [inertia_times(mech.inertia[i], v[i]).dot(v[i]) for i in range(mech.n)]
    drives = [mech.drive[i] * qd[i] * qd[i] for i in range(mech.n)]
    return half * total(bodies + drives)


def potential_energy(mech: Mechanism, frame: Frames) -> Scalar:
    """V [J] of gravity, zero for masses at the base frame's origin."""
    world = in_base(mech, frame)
    g = mul(mech.base[0], mech.gravity)
    return -total(
        [dot(g, add(scale(body.m, world.p[i]), mul(world.R[i], body.h))) for i, body in enumerate(mech.inertia)]
    )


def momentum(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> tuple[Vec3, Vec3]:
    """(linear [kg m/s], angular about the base frame's origin [kg m^2/s]) in base axes; rotors excluded."""
    zero = mech.zero
    world = in_base(mech, frame)
    v = velocities(mech, frame, qd)
    linear = angular = (zero, zero, zero)
    for i in range(mech.n):
        h = inertia_times(mech.inertia[i], v[i])
        force = mul(world.R[i], h.v)
        linear = add(linear, force)
        angular = add(angular, add(mul(world.R[i], h.w), cross(world.p[i], force)))
    return linear, angular
