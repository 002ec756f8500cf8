"""Inverse dynamics by Newton and Euler as Luh, Walker and Paul wrote it (1980), over any scalar that divides.

Each link's force is taken at its mass centre, its moment about it; both are carried to the link before in link
coordinates. A body without mass has no mass centre: its moments are taken about the frame's origin instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics import (
    BodyInertia,
    Frames,
    Mat3,
    Mechanism,
    Scalar,
    Spatial,
    Vec3,
    add,
    cross,
    dot,
    madd,
    outer,
    scale,
)
from emdeg.dynamics.formulations import LinkMotion, euler_moment, joint_torques, motion


def efforts_by_luh_walker_paul(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    moves = motion(mech, frame, qd, qdd, gravity=gravity, point=point_acceleration)
    own = [_wrench(body, move) for body, move in zip(mech.inertia, moves)]
    return joint_torques(mech, frame, own, qdd)


def point_acceleration(w: Vec3, wd: Vec3, r: Vec3) -> Vec3:
    """wd x r + w x (w x r): the acceleration of a point of the link relative to its origin."""
    return add(cross(wd, r), cross(w, cross(w, r)))


def _wrench(body: BodyInertia, move: LinkMotion) -> Spatial:
    """The moment about the link's origin and the force of this motion."""
    w, wd, a = move.omega, move.omegad, move.vd
    try:
        per_mass = (body.m * 0 + 1) / body.m  # type: ignore[operator]
    except ZeroDivisionError:
        force = add(scale(body.m, a), point_acceleration(w, wd, body.mr))
        return Spatial(add(euler_moment(body.J, w, wd), cross(body.mr, a)), force)
    s = scale(per_mass, body.mr)
    F = scale(body.m, add(point_acceleration(w, wd, s), a))
    N = euler_moment(about_mass_centre(body, s), w, wd)
    return Spatial(add(N, cross(s, F)), F)


def about_mass_centre(body: BodyInertia, s: Vec3) -> Mat3:
    """The tensor about the mass centre s: J - m ((s.s) 1 - s s^T)."""
    square, zero = dot(body.mr, s), body.m * 0
    back = ((-square, zero, zero), (zero, -square, zero), (zero, zero, -square))
    return madd(madd(body.J, outer(body.mr, s)), back)
