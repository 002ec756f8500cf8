"""Inverse dynamics by the recursive Newton-Euler equations, over any scalar.

The recursion of Luh, Walker and Paul in Khalil's form: inertias about the link frame's origin, so that every line
is linear in the ten parameters of a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from emdeg.mechanics.mechanism import Frames, Mechanism, inward, outward
from emdeg.mechanics.vectors import Mat3, Scalar, Vec3, add, cross, dot, mul, plus_z, scale, sub, tmul
from emdeg.robot.model import BASE

Moment = Callable[[Mat3, Vec3, Vec3], Vec3]
"""(J, omega, omegad) -> J omegad + omega x J omega."""


@dataclass(frozen=True, slots=True)
class Motion:
    """Per link, in its own frame: angular velocity and acceleration, and the origin's acceleration less gravity."""

    omega: tuple[Vec3, ...]
    omegad: tuple[Vec3, ...]
    vd: tuple[Vec3, ...]


Wrench = tuple[Vec3, Vec3]
"""A force and a moment about a link frame's origin, in that frame."""


@dataclass(frozen=True, slots=True)
class Efforts:
    """Per link, in its own frame: force and moment it receives through its joint; per joint: tau [N m or N]."""

    f: tuple[Vec3, ...]
    n: tuple[Vec3, ...]
    tau: tuple[Scalar, ...]


def motion(
    mech: Mechanism,
    frame: Frames,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gravity: bool = True,
    turning: Mapping[int, tuple[Vec3, Vec3]] | None = None,
) -> Motion:
    """The outward recursion: how every link moves.

    `turning` gives the angular velocity and acceleration of links for which they are already at hand.
    """
    zero = mech.zero
    still = (zero, zero, zero)
    g = mech.gravity
    omega: list[Vec3] = []
    omegad: list[Vec3] = []
    vd: list[Vec3] = []
    for i, parent in outward(mech):
        R, p = frame.R[i], frame.p[i]
        if parent == BASE:  # a base that accelerates upwards feels like gravity
            w = wd = still
            a = tmul(R, (-g[0], -g[1], -g[2])) if gravity else still
        else:
            w, wd = tmul(R, omega[parent]), tmul(R, omegad[parent])
            U = whirl(omega[parent], omegad[parent])
            a = tmul(R, add(vd[parent], mul(U, p)))
        if mech.revolute[i]:
            # omega_i = w + qd z;  omegad_i = wd + qdd z + w x qd z
            omega.append(plus_z(w, qd[i]))
            omegad.append(plus_z((wd[0] + w[1] * qd[i], wd[1] - w[0] * qd[i], wd[2]), qdd[i]))
            vd.append(a)
        else:
            # vd_i = a + qdd z + 2 w x qd z
            twice = qd[i] + qd[i]
            omega.append(w)
            omegad.append(wd)
            vd.append(plus_z((a[0] + w[1] * twice, a[1] - w[0] * twice, a[2]), qdd[i]))
        if turning and i in turning:
            omega[i], omegad[i] = turning[i]
    return Motion(tuple(omega), tuple(omegad), tuple(vd))


def whirl(omega: Vec3, omegad: Vec3) -> Mat3:
    """U = [omegad]x + [omega]x[omega]x: what gives a point its acceleration from its place."""
    x, y, z = omega
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    return (
        (-(yy + zz), xy - omegad[2], xz + omegad[1]),
        (xy + omegad[2], -(xx + zz), yz - omegad[0]),
        (xz - omegad[1], yz + omegad[0], -(xx + yy)),
    )


def efforts(
    mech: Mechanism,
    frame: Frames,
    move: Motion,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    gyroscopic: bool = False,
    moments: Sequence[Moment] | None = None,
    external: Mapping[int, Wrench] | None = None,
) -> Efforts:
    """The inward recursion: what the joints must give to make the links move so.

    `external` are the wrenches that act on links from outside, gravity apart. `moments[i]` says how link i's
    J omegad + omega x J omega is written (`emdeg.mechanics.variants.moments`).
    """
    f: list[Vec3] = []
    n: list[Vec3] = []
    for i, _ in outward(mech):
        body = mech.inertia[i]
        w, wd, a = move.omega[i], move.omegad[i], move.vd[i]
        f.append(add(scale(body.m, a), mul(whirl(w, wd), body.h)))
        spin = moments[i](body.J, w, wd) if moments else add(mul(body.J, wd), cross(w, mul(body.J, w)))
        n.append(add(spin, cross(body.h, a)))
        if external and i in external:
            f[i], n[i] = sub(f[i], external[i][0]), sub(n[i], external[i][1])
    tau: list[Scalar] = [mech.zero] * mech.n
    for i, parent in inward(mech):
        axial = n[i][2] if mech.revolute[i] else f[i][2]
        tau[i] = axial + mech.drive[i] * qdd[i]
        if parent == BASE:
            continue
        rotor = mech.rotor[i]
        if gyroscopic and rotor is not None:
            w, wd = move.omega[parent], move.omegad[parent]
            tau[i] = tau[i] + rotor.momentum * dot(rotor.axis, wd)
            spin = add(scale(qdd[i], rotor.axis), cross(w, scale(qd[i], rotor.axis)))
            n[parent] = add(n[parent], scale(rotor.momentum, spin))
        force = mul(frame.R[i], f[i])
        f[parent] = add(f[parent], force)
        n[parent] = add(n[parent], add(mul(frame.R[i], n[i]), cross(frame.p[i], force)))
    return Efforts(tuple(f), tuple(n), tuple(tau))


def newton_euler(
    mech: Mechanism,
    frame: Frames,
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    *,
    gravity: bool = True,
    gyroscopic: bool = False,
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    return efforts(mech, frame, motion(mech, frame, qd, qdd, gravity), qd, qdd, gyroscopic).tau
