"""Newton-Euler in three-dimensional vectors: the form that takes the fewest operations, over any scalar.

Luh, Walker and Paul's recursion in Khalil's form. Instead of spatial accelerations it carries those of the frames'
origins, so no linear velocity is ever formed, and a body's points get their accelerations from one matrix
U = [omegad]x + [omega]x[omega]x. Programs are traced and numbers are computed from it; it equals the plain
`emdeg.dynamics.formulations.newton_euler`, and every line is linear in the ten parameters of a link.

It has three stages, so that variants can be put between them: the links' motion, the forces that cause it, the joint
torques.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass, joint_speeds
from emdeg.dynamics.spatial import (
    Mat3,
    Scalar,
    Spatial,
    Vec3,
    acceleration_matrix,
    add,
    cross,
    matmul,
    mul,
    neg,
    relative_motion,
    scale,
    second_moments,
    tmul,
)
from emdeg.robot import BASE


@dataclass(frozen=True, slots=True)
class LinkMotion:
    """A link's angular velocity and acceleration, and its origin's acceleration less gravity, in its own frame."""

    omega: Vec3
    omegad: Vec3
    vd: Vec3


PointAcceleration = Callable[[Vec3, Vec3, Vec3], Vec3]
"""(omega, omegad, r) -> the acceleration of a body's point at r relative to its origin [m/s^2]."""


def rnea_link_frame(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    moves = motion(mech, frame, qd, qdd, gravity=gravity)
    return joint_torques(mech, frame, inertia_forces(mech, moves), qdd)


def motion(
    mech: Mechanism,
    frame: Frames,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    *,
    gravity: bool = True,
    known: Mapping[int, tuple[Vec3, Vec3]] | None = None,
    point: PointAcceleration | None = None,
) -> tuple[LinkMotion, ...]:
    """The forward pass: every link's motion.

    `known` are angular velocities and accelerations of links that need not be computed, as where generalized speeds
    are a body's angular velocity. `point` is how accelerations of points are written, by default with U.
    """
    given, accelerated = known or {}, point or by_acceleration_matrix

    def step(i: int, before: LinkMotion) -> LinkMotion:
        move = next_motion(mech, frame, i, before, qd, qdd, accelerated)
        return LinkMotion(*given[i], move.vd) if i in given else move

    return forward_pass(mech, base_motion(mech, gravity), step)


def base_motion(mech: Mechanism, gravity: bool) -> LinkMotion:
    """The base's motion: an upward acceleration stands for gravity."""
    still = mech.still.v
    return LinkMotion(still, still, neg(mech.gravity) if gravity else still)


def next_motion(
    mech: Mechanism,
    frame: Frames,
    i: int,
    before: LinkMotion,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    point: PointAcceleration,
) -> LinkMotion:
    """Link i's motion from its parent's and its joint's."""
    R, p = frame.R[i], frame.p[i]
    w, wd, a = before.omega, before.omegad, before.vd
    if mech.parent[i] == BASE:  # which does not turn
        a = tmul(R, a)
    else:
        a = tmul(R, add(a, point(w, wd, p)))
        w, wd = tmul(R, w), tmul(R, wd)
    speeds = mech.speeds[i]
    if len(speeds) == 1:
        (k,) = speeds
        return LinkMotion(*mech.S[k].advance(w, wd, a, qd[k], qdd[k]))
    return LinkMotion(*relative_motion(w, wd, a, mech.joint_motion(i, qd), mech.joint_motion(i, qdd)))


def by_acceleration_matrix(omega: Vec3, omegad: Vec3, r: Vec3) -> Vec3:
    """U r."""
    return mul(acceleration_matrix(omega, omegad), r)


def inertia_forces(
    mech: Mechanism, moves: Sequence[LinkMotion], moments: Sequence[Moment] | None = None
) -> list[Spatial]:
    """Per link, in its frame: moment about the origin and force that make it move so.

    `moments[i]` says how link i's J omegad + omega x J omega is written; by default as Euler does.
    """
    found = []
    for i, (body, move) in enumerate(zip(mech.inertia, moves)):
        w, wd, a = move.omega, move.omegad, move.vd
        f = add(scale(body.m, a), mul(acceleration_matrix(w, wd), body.mr))
        moment = moments[i] if moments else euler_moment
        found.append(Spatial(add(moment(body.J, w, wd), cross(body.mr, a)), f))
    return found


def less_external(forces: Sequence[Spatial], external: Mapping[int, Spatial]) -> list[Spatial]:
    """What is left for the joints where the wrenches `external` act on some links from outside, gravity apart."""
    return [force - external[i] if i in external else force for i, force in enumerate(forces)]


def joint_torques(
    mech: Mechanism, frame: Frames, forces: Sequence[Spatial], qdd: Sequence[Scalar]
) -> tuple[Scalar, ...]:
    """The backward pass: tau [N m, N], so that the links receive these forces."""
    X, S = frame.X, mech.S
    f = backward_pass(mech, forces, lambda i, f: X[i].T @ f)
    return tuple(S[k].dot(f[i]) + mech.drive[k] * qdd[k] for i, k in joint_speeds(mech))


Moment = Callable[[Mat3, Vec3, Vec3], Vec3]
"""(J, omega, omegad) -> J omegad + omega x J omega [N m]."""


def euler_moment(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """J omegad + omega x J omega."""
    return add(mul(J, wd), cross(w, mul(J, w)))


def moment_by_products(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """From the products of the speeds, the tensor's differences being constants."""
    (A, D, E), (_, B, F), (_, _, C) = J
    x, y, z = w
    xd, yd, zd = wd
    yz, xz, xy, xx, yy, zz = y * z, x * z, x * y, x * x, y * y, z * z
    return (
        A * xd + (C - B) * yz + D * (yd - xz) + E * (zd + xy) + F * (yy - zz),
        B * yd + (A - C) * xz + D * (xd + yz) + F * (zd - xy) + E * (zz - xx),
        C * zd + (B - A) * xy + E * (xd - yz) + F * (yd + xz) + D * (xx - yy),
    )


def moment_by_acceleration_matrix(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """The axial vector of U P, P being the second moments of the mass: sum of r x (U r) m."""
    G = matmul(acceleration_matrix(w, wd), second_moments(J, Fraction(1, 2)))
    return (G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1])


MOMENTS: Mapping[str, Moment] = {
    "Euler": euler_moment,
    "products": moment_by_products,
    "acceleration matrix": moment_by_acceleration_matrix,
}
