"""A robot with some motions prescribed, its base's among them, over any scalar: frames, velocities, speeds.

A moving base hangs in the Newtonian frame N by massless links, one for each of its prescribed axes, so a vehicle
under an arm is nothing but more prescribed joints. Those links come first in the mechanism; the robot's follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from emdeg.algebra import derivative
from emdeg.dynamics.formulations import energy
from emdeg.dynamics.formulations.rnea_link_frame import LinkMotion, motion
from emdeg.dynamics.joints import PRISMATIC, REVOLUTE, DHTransform, Position
from emdeg.dynamics.kane.setup import (
    AngularVelocity,
    BaseAxis,
    LinearForm,
    PointVelocity,
    Rate,
    Setup,
    Speed,
)
from emdeg.dynamics.mechanism import (
    Frames,
    Mechanism,
    Rotor,
    frames,
    in_motion,
    mechanism_of,
    outward,
    path,
    pose_matrices,
    written,
)
from emdeg.dynamics.spatial import (
    BodyInertia,
    Mat3,
    Scalar,
    Spatial,
    Vec3,
    add,
    cross,
    dot,
    matmul,
    mul,
    sub,
    tmul,
    total,
    transpose,
)
from emdeg.errors import RobotError
from emdeg.robot import BASE, Frame, Robot, Vector

_TURNS = ("yaw", "pitch", "roll")
_ALONG: dict[BaseAxis, int] = {"x": 0, "y": 1, "z": 2, "yaw": 2, "pitch": 1, "roll": 0}


@dataclass(frozen=True, slots=True)
class System:
    """A mechanism at a configuration with its setup. Numbers of joints and links are the mechanism's.

    `free` are the joints whose rates the generalized speeds determine, `given` those with a prescribed motion: the
    robot's own first, then the base's axes. The robot's link i is link `offset` + i.
    """

    robot: Robot
    setup: Setup
    mech: Mechanism
    frame: Frames
    position: tuple[Position, ...]
    free: tuple[int, ...]
    given: tuple[int, ...]
    offset: int
    base_axes: Mat3
    """The base frame in the frame of its last massless link."""

    def all_joints(self, of_free: Sequence[Scalar], of_given: Sequence[Scalar]) -> list[Scalar]:
        """One value a joint of the mechanism."""
        values: list[Scalar] = [self.mech.zero] * self.mech.n
        for k, value in zip(self.free, of_free):
            values[k] = value
        for k, value in zip(self.given, of_given):
            values[k] = value
        return values

    def exact(self, vector: Vector) -> Vec3:
        x, y, z = (written(self.mech.algebra, v) for v in vector)
        return x, y, z


def system(
    robot: Robot, setup: Setup, algebra: Any, of_free: Sequence[Position], of_given: Sequence[Position] = ()
) -> System:
    """The robot at the given positions: (sine, cosine) of a turning joint, displacement [m] of a sliding one."""
    if robot.loops is not None:  # its links alone are a tree, which is another machine
        raise RobotError("it has closed loops: its speeds are those of emdeg.dynamics.kane.closed", body=robot.name)
    own = mechanism_of(robot, algebra)
    zero, one = own.zero, own.one
    free = setup.free(robot)
    joints = len(setup.prescribed)
    position: list[Any] = [None] * robot.n
    for k, value in (*zip(free, of_free), *zip(setup.prescribed, of_given)):
        position[k] = value
    placed = frames(own, position)
    identity = _along(2, zero, one)
    if not setup.base:
        return System(robot, setup, own, placed, tuple(position), free, setup.prescribed, 0, identity)
    m = len(setup.base)
    before = identity
    R: list[Mat3] = []
    p: list[Vec3] = []
    for axis, value in zip(setup.base, of_given[joints:]):
        along = matmul(transpose(before), _along(_ALONG[axis], zero, one))
        if axis in _TURNS:
            s, c = value
            R.append(matmul(along, ((c, -s, zero), (s, c, zero), (zero, zero, one))))
            p.append((zero, zero, zero))
        else:
            R.append(along)
            p.append(mul(along, (zero, zero, value)))
        before = _along(_ALONG[axis], zero, one)
    axes = transpose(before)
    R_base, p_base = matmul(axes, own.base[0]), mul(axes, own.base[1])
    for i, parent in outward(own):
        if parent == BASE:
            R.append(matmul(R_base, placed.R[i]))
            p.append(add(p_base, mul(R_base, placed.p[i])))
        else:
            R.append(placed.R[i])
            p.append(placed.p[i])
    return System(
        robot,
        setup,
        _hung(own, robot, setup.base),
        Frames(tuple(R), tuple(p)),
        (*of_given[joints:], *position),
        tuple(m + k for k in free),
        (*(m + k for k in setup.prescribed), *range(m)),
        m,
        axes,
    )


def _hung(own: Mechanism, robot: Robot, axes: Sequence[BaseAxis]) -> Mechanism:
    """The mechanism behind one massless link an axis; frame 0 is N."""
    zero, one, m = own.zero, own.one, len(axes)
    empty = BodyInertia.nothing(zero)
    gx, gy, gz = (written(own.algebra, v) for v in robot.gravity)
    return replace(
        own,
        parent=(*range(-1, m - 1), *(m - 1 if parent == BASE else m + parent for parent in own.parent)),
        joints=(*(REVOLUTE if axis in _TURNS else PRISMATIC for axis in axes), *own.joints),
        dh=(*(DHTransform(None, zero, None, zero, None, None, zero) for _ in axes), *own.dh),
        inertia=(*(empty for _ in axes), *own.inertia),
        drive=(*(zero for _ in axes), *own.drive),
        rotor=(*(None for _ in axes), *(_moved(rotor, m) for rotor in own.rotor)),
        gravity=(gx, gy, gz),
        base=(_along(2, zero, one), (zero, zero, zero)),
        tool_link=own.tool_link if own.tool_link == BASE else m + own.tool_link,
    )


def _moved(rotor: Rotor | None, by: int) -> Rotor | None:
    """The rotor where links are numbered `by` higher and what stood on the base stands on the last one before them."""
    if rotor is None or rotor.carrier is None:
        return rotor
    return replace(rotor, carrier=by - 1 if rotor.carrier == BASE else by + rotor.carrier)


def _along(axis: int, zero: Scalar, one: Scalar) -> Mat3:
    """A turn by thirds that takes z to the given axis."""
    e = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    return transpose((e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]))


def host(sys: System, frame: Frame) -> tuple[int, Mat3, Vec3]:
    """(link of the mechanism or BASE for N, axes and origin of the frame there)."""
    algebra, base = sys.mech.algebra, sys.mech.base
    R, p = pose_matrices(frame.pose, algebra)
    if frame.link >= 0:
        return sys.offset + frame.link, R, p
    if frame.link == BASE and sys.offset:
        return sys.offset - 1, matmul(sys.base_axes, R), mul(sys.base_axes, p)
    # N's own axes are the base frame's; the mechanism's frame 0 stands in them by its base pose.
    return BASE, matmul(transpose(base[0]), R), tmul(base[0], sub(p, base[1]))


def turned(sys: System, vector: Vec3, link: int, to: int) -> Vec3:
    """A vector with components in `link`, in the axes of `to`; BASE stands for frame 0."""
    up, down = path(sys.mech, link), path(sys.mech, to)
    while up and down and up[0] == down[0]:
        up, down = up[1:], down[1:]
    for i in reversed(up):
        vector = mul(sys.frame.R[i], vector)
    for i in down:
        vector = tmul(sys.frame.R[i], vector)
    return vector


def components(sys: System, vector: Vec3, link: int, frame: Frame) -> Vec3:
    """A vector of `link`'s axes in the axes of a named frame."""
    to, R, _ = host(sys, frame)
    return tmul(R, turned(sys, vector, link, to))


def velocities(sys: System, qd: Sequence[Scalar], omega: Mapping[int, Vec3] | None = None) -> tuple[Spatial, ...]:
    """Every link's velocity in N, in its own frame; `omega` holds angular velocities already at hand."""
    return energy.velocities(sys.mech, sys.frame, qd, omega)


def speed_values(sys: System, qd: Sequence[Scalar], move: Sequence[Spatial] | None = None) -> list[Scalar]:
    """u [rad/s, m/s] of the rates `qd`, one a joint of the mechanism (Kane and Levinson (1))."""
    move = velocities(sys, qd) if move is None else move
    return [_value(sys, speed, qd, move) for speed in sys.setup.speeds]


def _value(sys: System, speed: Speed, qd: Sequence[Scalar], move: Sequence[Spatial]) -> Scalar:
    if isinstance(speed, Rate):
        return qd[sys.offset + speed.joint]
    if isinstance(speed, LinearForm):
        parts = [form_value(sys, c) * qd[sys.offset + k] for k, c in speed.coefficients]
        if speed.constant is not None:
            parts.append(form_value(sys, speed.constant))
        return total(parts or [sys.mech.zero])
    link, R, origin = host(sys, speed.body)
    w, v = move[link].w, move[link].v
    vector = w
    if isinstance(speed, PointVelocity):
        vector = add(v, cross(w, add(origin, mul(R, sys.exact(speed.point)))))
    return dot(sys.exact(speed.direction), components(sys, vector, link, speed.frame))


def form_value(sys: System, formula: Any, position: Sequence[Position] | None = None) -> Scalar:
    """A coefficient's value at the configuration, or at another `position`."""
    place = sys.position if position is None else position
    algebra = sys.mech.algebra
    joints = {joint.name: k for k, joint in enumerate(sys.robot.joints)}
    for k in range(sys.robot.n):
        joints.setdefault(f"q{k + 1}", k)

    def value(name: str) -> Scalar:
        return place[sys.offset + joints[name]] if name in joints else algebra.symbol(name)

    return formula.evaluate(algebra.number, value, lambda name: place[sys.offset + joints[name]])


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
    link, R, origin = host(sys, speed.body)
    w, wd = move[link].w, away[link].omegad
    vector, rate = w, wd
    if isinstance(speed, PointVelocity):
        arm = add(origin, mul(R, sys.exact(speed.point)))
        vector = add(move[link].v, cross(w, arm))
        rate = add(away[link].vd, add(cross(wd, arm), cross(w, cross(w, arm))))
    to, axes, _ = host(sys, speed.frame)
    if to != BASE and not (to == link and isinstance(speed, AngularVelocity)):
        spin = turned(sys, move[to].w, to, link)
        rate = sub(rate, cross(spin, vector))
    return dot(sys.exact(speed.direction), tmul(axes, turned(sys, rate, link, to)))


def _form_rate(sys: System, speed: LinearForm, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Scalar:
    moving, zero = in_motion(sys.mech, sys.position, qd), sys.mech.zero
    parts = [zero]
    for k, formula in speed.coefficients:
        joint = sys.offset + k
        rate = derivative(form_value(sys, formula, moving), 0, zero)
        parts.append(form_value(sys, formula) * qdd[joint] + rate * qd[joint])
    if speed.constant is not None:
        parts.append(derivative(form_value(sys, speed.constant, moving), 0, zero))
    return total(parts)


def speed_matrix(sys: System) -> list[list[Scalar]]:
    """A (speeds x free joints): u = A qd + B, the constant parts and the prescribed rates being in B."""
    zero, one = sys.mech.zero, sys.mech.one
    rest = [zero] * len(sys.given)
    still = speed_values(sys, sys.all_joints([zero] * len(sys.free), rest))
    columns = []
    for j in range(len(sys.free)):
        unit = [one if k == j else zero for k in range(len(sys.free))]
        columns.append([value - b for value, b in zip(speed_values(sys, sys.all_joints(unit, rest)), still)])
    return [[column[r] for column in columns] for r in range(len(sys.setup.speeds))]


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
