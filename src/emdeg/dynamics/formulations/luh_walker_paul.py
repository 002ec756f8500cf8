"""Inverse dynamics by Newton and Euler as Luh, Walker and Paul wrote it (1980), over any scalar that divides.

Each link's force is taken at its mass centre, its moment about it; both are carried to the link before in link
coordinates. A body without mass has no mass centre: its moments are taken about the frame's origin instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass
from emdeg.dynamics.spatial import (
    BodyInertia,
    Mat3,
    Scalar,
    Spatial,
    Vec3,
    add,
    cross,
    dot,
    madd,
    mul,
    neg,
    outer,
    plus_z,
    scale,
    tmul,
)


@dataclass(frozen=True, slots=True)
class Moving:
    """A link's angular velocity and acceleration and its origin's acceleration, in its own frame."""

    w: Vec3
    wd: Vec3
    vd: Vec3


def efforts_by_luh_walker_paul(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    still = mech.still.v
    start = Moving(still, still, neg(mech.gravity) if gravity else still)
    moves = forward_pass(mech, start, lambda i, before: _next(mech, frame, i, before, qd[i], qdd[i]))
    own = [_wrench(body, moving) for body, moving in zip(mech.inertia, moves)]
    f = backward_pass(mech, own, lambda i, f: frame.X[i].T @ f)
    return tuple(mech.S[i].dot(f[i]) + mech.drive[i] * qdd[i] for i in range(mech.n))


def _next(mech: Mechanism, frame: Frames, i: int, before: Moving, qd: Scalar, qdd: Scalar) -> Moving:
    """Outward: w, wd and vd of link i from those of the link before."""
    R, p = frame.R[i], frame.p[i]
    w, wd = tmul(R, before.w), tmul(R, before.wd)
    vd = tmul(R, add(_point(before, p), before.vd))
    if mech.revolute[i]:
        turned = (wd[0] + w[1] * qd, wd[1] - w[0] * qd, wd[2])  # wd + w x z qd
        return Moving(plus_z(w, qd), plus_z(turned, qdd), vd)
    twice = qd + qd
    return Moving(w, wd, plus_z((vd[0] + w[1] * twice, vd[1] - w[0] * twice, vd[2]), qdd))  # 2 w x z qd


def _point(moving: Moving, r: Vec3) -> Vec3:
    """wd x r + w x (w x r): how a point of the link accelerates against its origin."""
    return add(cross(moving.wd, r), cross(moving.w, cross(moving.w, r)))


def _wrench(body: BodyInertia, moving: Moving) -> Spatial:
    """The moment about the link's origin and the force that make it move so."""
    try:
        per_mass = (body.m * 0 + 1) / body.m  # type: ignore[operator]
    except ZeroDivisionError:
        force = add(scale(body.m, moving.vd), _point(moving, body.mr))
        moment = add(mul(body.J, moving.wd), cross(moving.w, mul(body.J, moving.w)))
        return Spatial(add(moment, cross(body.mr, moving.vd)), force)
    s = scale(per_mass, body.mr)
    F = scale(body.m, add(_point(moving, s), moving.vd))
    I = about_mass_centre(body, s)
    N = add(mul(I, moving.wd), cross(moving.w, mul(I, moving.w)))
    return Spatial(add(N, cross(s, F)), F)


def about_mass_centre(body: BodyInertia, s: Vec3) -> Mat3:
    """The tensor about the mass centre s: J - m ((s.s) 1 - s s^T)."""
    square, zero = dot(body.mr, s), body.m * 0
    back = ((-square, zero, zero), (zero, -square, zero), (zero, zero, -square))
    return madd(madd(body.J, outer(body.mr, s)), back)
