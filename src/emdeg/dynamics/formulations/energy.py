"""Kinetic and potential energy, momentum, and the Coriolis matrix that belongs to the kinetic one, over any scalar.

Many matrices C satisfy C qd = the Coriolis and centrifugal torques; only the one whose entries are the Christoffel
symbols times the rates makes M-dot - 2C skew. It is summed body by body: C = sum J^T (I J-dot + B J) with
B = (v x* I + (I v) xbar* - I v x) / 2, the body-level factorisation of Echeandia and Wensing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from emdeg.dynamics.mechanism import Frames, Mechanism, forward_pass, in_base, joint_speeds
from emdeg.dynamics.spatial import BodyInertia, Scalar, Spatial, Transform, Vec3, add, dot, mul, scale, total, zeros


def kinetic_energy(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> Scalar:
    """T [J], drives included."""
    half = mech.algebra.number(Fraction(1, 2))
    v = velocities(mech, frame, qd)
    bodies = [(mech.inertia[i] @ v[i]).dot(v[i]) for i in range(mech.n)]
    drives = [drive * v * v for drive, v in zip(mech.drive, qd)]
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
"""Per link, in its own frame: speed -> a motion; speeds that do not move the link are absent."""


def velocities(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], known: Mapping[int, Vec3] | None = None
) -> tuple[Spatial, ...]:
    """v_i = X_i v_parent + S_i qd_i [rad/s, m/s]; `known` are angular velocities that need not be computed."""
    X, given = frame.X, known or {}

    def step(i: int, before: Spatial) -> Spatial:
        v = X[i] @ before + mech.joint_motion(i, qd)
        return Spatial(given[i], v.v) if i in given else v

    return forward_pass(mech, mech.still, step)


def velocity_product(mech: Mechanism, i: int, v: Spatial, qd: Sequence[Scalar]) -> Spatial:
    """v x S_i qd_i of link i, which moves with v: how its joint's motion changes as the axes move with the link."""
    products = [v.cross(mech.S[k]) * qd[k] for k in mech.speeds[i]]
    return total(products) if products else mech.still


def partial_velocities(mech: Mechanism, frame: Frames) -> Partials:
    """How each unit speed moves each link: v_i = sum of partials[i][k] qd_k.

    (Kane and Levinson (23), (44); Burdick (4), (5), (7).)
    """
    return _carried(mech, frame, mech.S)


def partial_velocity_rates(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> Partials:
    """The rates of `partial_velocities` as the links move with v: an axis is fixed in its link, S' = v x S."""
    return _carried(mech, frame, [v[i].cross(mech.S[k]) for i, k in joint_speeds(mech)])


def _carried(mech: Mechanism, frame: Frames, own: Sequence[Spatial]) -> Partials:
    """Each speed's motion, stated in its own link's frame, in the frames of all links beyond it."""
    X = frame.X
    nothing: Mapping[int, Spatial] = {}

    def step(i: int, before: Mapping[int, Spatial]) -> Mapping[int, Spatial]:
        return {k: X[i] @ m for k, m in before.items()} | {k: own[k] for k in mech.speeds[i]}

    return forward_pass(mech, nothing, step)


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k (Armstrong et al., eq. 6)."""
    half = mech.algebra.number(Fraction(1, 2))
    v = velocities(mech, frame, qd)
    J, Jd = partial_velocities(mech, frame), partial_velocity_rates(mech, frame, v)
    C = zeros(mech.zero, mech.nv, mech.nv)
    for i, I in enumerate(mech.inertia):
        for b in J[i]:
            force = I @ Jd[i][b] + _twice_B(I, v[i], J[i][b]) * half
            for a in J[i]:
                C[a][b] = C[a][b] + J[i][a].dot(force)
    return C


def _twice_B(I: BodyInertia, v: Spatial, m: Spatial) -> Spatial:
    return v.cross_force(I @ m) + m.cross_force(I @ v) - I @ v.cross(m)
