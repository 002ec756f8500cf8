"""Newton-Euler in three-dimensional vectors: the form that takes the fewest operations, over any scalar.

Luh, Walker and Paul's recursion in Khalil's form. Instead of spatial accelerations it carries those of the frames'
origins, so no linear velocity is ever formed, and a body's points get their accelerations from one matrix
U = [omegad]x + [omega]x[omega]x. Programs are traced and numbers are computed from it; it equals the plain
`emdeg.dynamics.formulations.newton_euler`, and every line is linear in the ten parameters of a link.

Its three stages are apart, so that others can stand between them: how links move, what forces that asks for, what the
joints must give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from emdeg.dynamics.mechanism import Frames, Mechanism, carried_outward, summed_inward
from emdeg.dynamics.spatial import (
    Mat3,
    Scalar,
    Spatial,
    Vec3,
    add,
    cross,
    matmul,
    mul,
    neg,
    plus_z,
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


def link_frame_recursion(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    moves = motion(mech, frame, qd, qdd, gravity=gravity)
    return efforts(mech, frame, inertia_forces(mech, moves), qdd)


def motion(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[LinkMotion, ...]:
    """The outward recursion: how every link moves."""
    start = base_motion(mech, gravity)
    return carried_outward(mech, start, lambda i, before: next_motion(mech, frame, i, before, qd[i], qdd[i]))


def base_motion(mech: Mechanism, gravity: bool) -> LinkMotion:
    """A base that accelerates upwards feels like gravity."""
    still = mech.still.v
    return LinkMotion(still, still, neg(mech.gravity) if gravity else still)


def next_motion(mech: Mechanism, frame: Frames, i: int, before: LinkMotion, qd: Scalar, qdd: Scalar) -> LinkMotion:
    """Link i's motion from its parent's and its joint's."""
    R, p = frame.R[i], frame.p[i]
    w, wd, a = before.omega, before.omegad, before.vd
    if mech.parent[i] == BASE:  # which does not turn
        a = tmul(R, a)
    else:
        a = tmul(R, add(a, mul(acceleration_matrix(w, wd), p)))
        w, wd = tmul(R, w), tmul(R, wd)
    if mech.revolute[i]:
        # omega_i = w + qd z;  omegad_i = wd + qdd z + w x qd z
        turned = (wd[0] + w[1] * qd, wd[1] - w[0] * qd, wd[2])
        return LinkMotion(plus_z(w, qd), plus_z(turned, qdd), a)
    # vd_i = a + qdd z + 2 w x qd z
    twice = qd + qd
    return LinkMotion(w, wd, plus_z((a[0] + w[1] * twice, a[1] - w[0] * twice, a[2]), qdd))


def inertia_forces(
    mech: Mechanism, moves: Sequence[LinkMotion], moments: Sequence[Moment] | None = None
) -> list[Spatial]:
    """Per link, in its frame: moment about the origin and force that make it move so.

    `moments[i]` says how link i's J omegad + omega x J omega is written; as Euler did, if nothing is said.
    """
    found = []
    for i, (body, move) in enumerate(zip(mech.inertia, moves)):
        w, wd, a = move.omega, move.omegad, move.vd
        f = add(scale(body.m, a), mul(acceleration_matrix(w, wd), body.mr))
        moment = moments[i] if moments else as_euler_wrote_it
        found.append(Spatial(add(moment(body.J, w, wd), cross(body.mr, a)), f))
    return found


def less_external(forces: Sequence[Spatial], external: Mapping[int, Spatial]) -> list[Spatial]:
    """What is left for the joints where the wrenches `external` act on some links from outside, gravity apart."""
    return [force - external[i] if i in external else force for i, force in enumerate(forces)]


def efforts(mech: Mechanism, frame: Frames, forces: Sequence[Spatial], qdd: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The inward recursion: tau [N m, N], what the joints must give for the links to receive these forces."""
    X, S = frame.X, mech.S
    f = summed_inward(mech, forces, lambda i, f: X[i].T @ f)
    return tuple(S[i].dot(f[i]) + mech.drive[i] * qdd[i] for i in range(mech.n))


Moment = Callable[[Mat3, Vec3, Vec3], Vec3]
"""(J, omega, omegad) -> J omegad + omega x J omega [N m]."""


def acceleration_matrix(omega: Vec3, omegad: Vec3) -> Mat3:
    """U = [omegad]x + [omega]x[omega]x: what gives a point of a body its acceleration from its place [1/s^2]."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - omegad[2], xz + omegad[1]),
        (xy + omegad[2], -(xx + zz), yz - omegad[0]),
        (xz - omegad[1], yz + omegad[0], -(xx + yy)),
    )


def as_euler_wrote_it(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """J omegad + omega x J omega."""
    return add(mul(J, wd), cross(w, mul(J, w)))


def by_products(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
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


def by_acceleration_matrix(J: Mat3, w: Vec3, wd: Vec3) -> Vec3:
    """The axial vector of U P, P being the second moments of the mass: sum of r x (U r) m."""
    G = matmul(acceleration_matrix(w, wd), second_moments(J, Fraction(1, 2)))
    return (G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1])


MOMENTS: Mapping[str, Moment] = {
    "Euler": as_euler_wrote_it,
    "products": by_products,
    "acceleration matrix": by_acceleration_matrix,
}
