"""Velocities of bodies, the generalized speeds u = A xd + B and their rates, over any scalar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.algebra import Expression, derivative
from emdeg.algebra.linear import transposed
from emdeg.dynamics.formulations import energy
from emdeg.dynamics.formulations.rnea_link_frame import LinkMotion, motion
from emdeg.dynamics.joints import Position
from emdeg.dynamics.mechanism import in_motion, path
from emdeg.dynamics.spatial import Scalar, Spatial, Vec3, add, cross, dot, mul, sub, tmul, total
from emdeg.kane.setup import AngularVelocity, LinearForm, PointVelocity, Rate, Speed, joint_numbers
from emdeg.kane.system import Rows, System, host, point_of
from emdeg.robot import BASE


def between(sys: System, link: int, to: int) -> tuple[list[int], list[int]]:
    """The links from `link` up to the last one before both, and those from there down to `to`; BASE is frame 0."""
    up, down = path(sys.mech, link), path(sys.mech, to)
    while up and down and up[0] == down[0]:
        up, down = up[1:], down[1:]
    return up[::-1], down


def turned(sys: System, vector: Vec3, link: int, to: int) -> Vec3:
    """A vector with components in `link`, in the axes of `to`; BASE stands for frame 0."""
    up, down = between(sys, link, to)
    for i in up:
        vector = mul(sys.frame.R[i], vector)
    for i in down:
        vector = tmul(sys.frame.R[i], vector)
    return vector


def velocities(sys: System, qd: Sequence[Scalar], omega: Mapping[int, Vec3] | None = None) -> tuple[Spatial, ...]:
    """Every link's velocity in N [rad/s, m/s], in its own frame; `omega` are angular velocities that are known."""
    return energy.velocities(sys.mech, sys.frame, qd, omega)


def speed_values(sys: System, qd: Sequence[Scalar], move: Sequence[Spatial] | None = None) -> list[Scalar]:
    """u [rad/s, m/s] of the rates `qd`, one a joint of the mechanism (Kane and Levinson (1))."""
    move = velocities(sys, qd) if move is None else move
    return [_value(sys, speed, qd, move) for speed in sys.setup.speeds]


def _value(sys: System, speed: Speed, qd: Sequence[Scalar], move: Sequence[Spatial]) -> Scalar:
    if isinstance(speed, Rate):
        return qd[sys.offset + speed.joint]
    if isinstance(speed, LinearForm):
        parts = [_form(sys, c, sys.position) * qd[sys.offset + k] for k, c in speed.coefficients]
        if speed.constant is not None:
            parts.append(_form(sys, speed.constant, sys.position))
        return total(parts or [sys.mech.zero])
    link, _, vector = _measured(sys, speed, move)
    to, axes, _ = host(sys, speed.frame)
    return dot(sys.exact(speed.direction), tmul(axes, turned(sys, vector, link, to)))


def _measured(
    sys: System, speed: AngularVelocity | PointVelocity, move: Sequence[Spatial]
) -> tuple[int, Vec3 | None, Vec3]:
    """(the body's link, the point there, its velocity or the body's angular velocity)."""
    if isinstance(speed, AngularVelocity):
        link = host(sys, speed.body)[0]
        return link, None, move[link].w
    link, arm = point_of(sys, speed.body, speed.point)
    return link, arm, add(move[link].v, cross(move[link].w, arm))


def _form(sys: System, formula: Expression, position: Sequence[Position]) -> Scalar:
    """A coefficient's value where the joints are."""
    algebra, joints = sys.mech.algebra, joint_numbers(sys.robot)

    def at(name: str) -> Any:
        return position[sys.offset + joints[name]]

    return formula.evaluate(algebra.number, lambda name: at(name) if name in joints else algebra.symbol(name), at)


def speed_rates(
    sys: System, qd: Sequence[Scalar], qdd: Sequence[Scalar], move: Sequence[Spatial] | None = None
) -> list[Scalar]:
    """ud [rad/s^2, m/s^2] of the motion qd, qdd: the derivatives of `speed_values`."""
    move = velocities(sys, qd) if move is None else move
    away: tuple[LinkMotion, ...] | None = None
    found = []
    for speed in sys.setup.speeds:
        if isinstance(speed, Rate):
            found.append(qdd[sys.offset + speed.joint])
        elif isinstance(speed, LinearForm):
            found.append(_form_rate(sys, speed, qd, qdd))
        else:
            away = motion(sys.mech, sys.frame, qd, qdd, gravity=False) if away is None else away
            found.append(_measured_rate(sys, speed, move, away))
    return found


def _measured_rate(
    sys: System, speed: AngularVelocity | PointVelocity, move: Sequence[Spatial], away: Sequence[LinkMotion]
) -> Scalar:
    """The derivative of a component in a frame: that of the vector in N less omega of the frame x the vector."""
    link, arm, vector = _measured(sys, speed, move)
    w, wd = move[link].w, away[link].omegad
    rate = wd if arm is None else add(away[link].vd, add(cross(wd, arm), cross(w, cross(w, arm))))
    to, axes, _ = host(sys, speed.frame)
    if to != BASE and not (to == link and arm is None):
        rate = sub(rate, cross(turned(sys, move[to].w, to, link), vector))
    return dot(sys.exact(speed.direction), tmul(axes, turned(sys, rate, link, to)))


def _form_rate(sys: System, speed: LinearForm, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Scalar:
    moving = in_motion(sys.mech, sys.position, qd)
    parts = [sys.mech.zero]
    for k, formula in speed.coefficients:
        joint = sys.offset + k
        rate = derivative(_form(sys, formula, moving), 0, sys.mech.zero)
        parts.append(_form(sys, formula, sys.position) * qdd[joint] + rate * qd[joint])
    if speed.constant is not None:
        parts.append(derivative(_form(sys, speed.constant, moving), 0, sys.mech.zero))
    return total(parts)


def speed_matrix(sys: System, W: Rows | None = None) -> list[list[Scalar]]:
    """A (speeds x free coordinates): u = A xd + B, the constant parts and the prescribed rates being in B.

    `W` is the joints' rates per coordinate's, by default the state's.
    """
    still, W = speed_values(sys, [sys.mech.zero] * sys.mech.n), W or sys.W
    rates = ([row[place] for row in W] for place in sys.free)
    return transposed([[value - b for value, b in zip(speed_values(sys, qd), still)] for qd in rates])


def known_angular_velocities(sys: System, u: Sequence[Scalar]) -> dict[int, Vec3]:
    """The angular velocities that are speeds themselves: of links all three of whose own components are among u."""
    found: dict[int, list[Scalar | None]] = {}
    for speed, value in zip(sys.setup.speeds, u):
        if not isinstance(speed, AngularVelocity) or speed.frame != speed.body or not speed.body.pose.is_identity:
            continue
        nonzero = [i for i, d in enumerate(speed.direction) if d]
        if len(nonzero) != 1 or not speed.direction[nonzero[0]].is_number or speed.body.link < 0:
            continue
        scale = speed.direction[nonzero[0]].number
        if abs(scale) == 1:
            axes = found.setdefault(sys.offset + speed.body.link, [None] * 3)
            axes[nonzero[0]] = value if scale == Fraction(1) else -value
    return {link: (x, y, z) for link, (x, y, z) in found.items() if x is not None and y is not None and z is not None}
