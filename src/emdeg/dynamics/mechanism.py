"""A robot's constants written in one algebra, its frames at a configuration, and the walk along its tree.

Everything the algorithms need and nothing that is physics: which link hangs on which, R and p of each link in its
parent, inertial parameters as scalars. Frames are named R_parent_child and p_parent_child in the docs; here `R[i]`
and `p[i]` always mean link i in its parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from emdeg.algebra import Algebra, Angle, Dual, Exact
from emdeg.dynamics.spatial import (
    Axis,
    BodyInertia,
    Mat3,
    Scalar,
    Spatial,
    Transform,
    TurnAboutZ,
    Vec3,
    add,
    column,
    identity,
    matmul,
    mul,
    tmul,
)
from emdeg.robot import BASE, Friction, Pose, Robot, loaded_inertias

K = TypeVar("K", bound=Scalar)
Pair = tuple[Scalar, Scalar]
"""(sine, cosine)."""

Position = Any
"""Of a revolute joint its Pair, of a prismatic one its displacement [m]."""
Rates = Mapping[int, Scalar]
"""Direction -> how fast a number changes in it."""


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's armature: its spin momentum per joint speed (inertia * gear ratio) and its axis in the carrier.

    `carrier`: the link that it sits on; None: the joint's parent.
    """

    momentum: Scalar
    axis: Vec3
    carrier: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The constants of a `Placement`, a rotation that is exactly none being None."""

    gamma: Pair | None
    b: Scalar
    alpha: Pair | None
    a: Scalar
    beta: Pair | None
    theta: Pair | None
    d: Scalar


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A robot in one algebra. `parent[i]` < i, or BASE."""

    algebra: Algebra
    parent: tuple[int, ...]
    revolute: tuple[bool, ...]
    step: tuple[Step, ...]
    inertia: tuple[BodyInertia, ...]
    drive: tuple[Scalar, ...]
    rotor: tuple[Rotor | None, ...]
    gravity: Vec3
    """The acceleration of gravity in frame 0."""
    base: tuple[Mat3, Vec3]
    """Frame 0 in the base frame."""
    tool_link: int
    tool: tuple[Mat3, Vec3]
    friction: tuple[Friction, ...] = ()
    """Of each joint, as its file states it."""

    @property
    def n(self) -> int:
        return len(self.parent)

    @property
    def zero(self) -> Scalar:
        return number(self.algebra, 0)

    @property
    def one(self) -> Scalar:
        return number(self.algebra, 1)

    @property
    def still(self) -> Spatial:
        """No motion, or no force."""
        zero = self.zero
        return Spatial((zero, zero, zero), (zero, zero, zero))

    @property
    def S(self) -> tuple[Axis, ...]:
        """Every joint's unit motion, in its link's frame."""
        zero, one = self.zero, self.one
        return tuple(Axis.of(revolute, zero, one) for revolute in self.revolute)


@dataclass(frozen=True, slots=True)
class Frames:
    """Each link's frame in its parent's, at a configuration."""

    R: tuple[Mat3, ...]
    p: tuple[Vec3, ...]
    turn: tuple[TurnAboutZ | None, ...] = ()
    """Of each link how R comes about, where that is known."""

    @property
    def X(self) -> tuple[Transform, ...]:
        return tuple(map(Transform, self.R, self.p, self.turn or (None,) * len(self.R)))


def number(algebra: Algebra[K], value: int) -> K:
    return algebra.number(Fraction(value))


def written(algebra: Algebra[K], value: Exact) -> K:
    return value.evaluate(algebra.number, algebra.symbol)


def mechanism_of(robot: Robot, algebra: Algebra) -> Mechanism:
    """`robot`'s constants, payloads included, in `algebra`."""

    def w(value: Exact) -> Scalar:
        return written(algebra, value)

    def pair(angle: Angle) -> Pair | None:
        return None if angle.quarter_turns == 0 else algebra.sincos(angle)

    steps, inertias, drives, rotors = [], [], [], []
    for link, inertia in zip(robot.links, loaded_inertias(robot)):
        place = link.joint.placement
        step = Step(
            pair(place.gamma),
            w(place.b),
            pair(place.alpha),
            w(place.a),
            pair(place.beta),
            pair(place.theta),
            w(place.d),
        )
        steps.append(step)
        xx, xy, xz, yy, yz, zz = (w(v) for v in inertia.tensor)
        mx, my, mz = (w(v) for v in inertia.first_moment)
        J = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        inertias.append(BodyInertia(w(inertia.mass), (mx, my, mz), J))
        drives.append(w(link.joint.drive.inertia))
        rotors.append(_rotor(robot, link.joint.drive, step, algebra))
    base = pose_matrices(robot.base, algebra)
    gx, gy, gz = (w(v) for v in robot.gravity)
    return Mechanism(
        algebra=algebra,
        parent=tuple(link.parent for link in robot.links),
        revolute=tuple(link.joint.kind == "revolute" for link in robot.links),
        step=tuple(steps),
        inertia=tuple(inertias),
        drive=tuple(drives),
        rotor=tuple(rotors),
        gravity=tmul(base[0], (gx, gy, gz)),
        base=base,
        tool_link=robot.tool.link,
        tool=pose_matrices(robot.tool.pose, algebra),
        friction=tuple(link.joint.drive.friction for link in robot.links),
    )


def _rotor(robot: Robot, drive, step: Step, algebra: Algebra) -> Rotor | None:
    """From motor-side data, or from the joint-side inertia and the gear ratio; None without a gear ratio."""
    if drive.gear_ratio is None or not drive.gear_ratio:
        return None
    if drive.motor_inertia is not None:
        momentum = drive.motor_inertia * drive.gear_ratio
    elif drive.gear_ratio.is_number:
        momentum = drive.inertia / drive.gear_ratio.number
    else:
        return None
    if drive.motor_axis is None:  # parallel to the joint's own axis, which is fixed in the carrier
        zero, one = number(algebra, 0), number(algebra, 1)
        axis = column(_twist(step, zero, one), 2)
    else:
        axis = tuple(written(algebra, v) for v in drive.motor_axis)
    if drive.motor_link is None:
        carrier = None
    else:  # the base, or what does not move with a link, carries nothing that turns
        carrier = next((i for i, link in enumerate(robot.links) if link.name == drive.motor_link), BASE)
    return Rotor(written(algebra, momentum), axis, carrier)  # type: ignore[arg-type]


def _elementary(axis: str, pair: Pair, zero: Scalar, one: Scalar) -> Mat3:
    s, c = pair
    if axis == "x":
        return ((one, zero, zero), (zero, c, -s), (zero, s, c))
    if axis == "y":
        return ((c, zero, s), (zero, one, zero), (-s, zero, c))
    return ((c, -s, zero), (s, c, zero), (zero, zero, one))


def rotations(rotations: Sequence[tuple[str, Pair | None]], zero: Scalar, one: Scalar) -> Mat3:
    """The product of elementary rotations, those that are None left out."""
    result: Mat3 | None = None
    for axis, pair in reversed(rotations):
        if pair is not None:
            elementary = _elementary(axis, pair, zero, one)
            result = elementary if result is None else matmul(elementary, result)
    return identity(zero, one) if result is None else result


def _twist(step: Step, zero: Scalar, one: Scalar) -> Mat3:
    return rotations((("z", step.gamma), ("x", step.alpha), ("y", step.beta)), zero, one)


def joint_place(step: Step, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
    """(R, p) of a joint's axis on its parent: what the joint turns about or moves along is its z."""
    s, c = (zero, one) if step.gamma is None else step.gamma
    return _twist(step, zero, one), (c * step.a, s * step.a, step.b)


def pose_matrices(pose: Pose, algebra: Algebra) -> tuple[Mat3, Vec3]:
    """(R, p) of a pose."""
    roll, pitch, yaw = (None if angle.quarter_turns == 0 else algebra.sincos(angle) for angle in pose.rpy)
    R = rotations((("z", yaw), ("y", pitch), ("x", roll)), number(algebra, 0), number(algebra, 1))
    x, y, z = (written(algebra, v) for v in pose.xyz)
    return R, (x, y, z)


def frames(mech: Mechanism, position: Sequence[Position]) -> Frames:
    """Every link's frame in its parent's at the given joint positions."""
    placed = [link_frame(mech, i, at) for i, at in enumerate(position)]
    turns = [_turn(mech, i, at) if mech.revolute[i] else None for i, at in enumerate(position)]
    return Frames(tuple(R for R, _ in placed), tuple(p for _, p in placed), tuple(turns))


def _turn(mech: Mechanism, i: int, at: Pair) -> TurnAboutZ:
    return TurnAboutZ(_twist(mech.step[i], mech.zero, mech.one), _joint_angle(mech.step[i], at))


def _joint_angle(step: Step, at: Pair) -> Pair:
    return at if step.theta is None else sum_of_angles(step.theta, at)


def link_frame(mech: Mechanism, i: int, at: Position) -> tuple[Mat3, Vec3]:
    """(R, p) of link i in its parent with its joint at `at`."""
    zero, one, step = mech.zero, mech.one, mech.step[i]
    theta, d = step.theta, step.d
    if mech.revolute[i]:
        theta = _joint_angle(step, at)
    else:
        d = d + at
    R = rotations((("z", step.gamma), ("x", step.alpha), ("y", step.beta), ("z", theta)), zero, one)
    lift = rotations((("x", step.alpha), ("y", step.beta)), zero, one)
    x, y, z = (step.a + lift[0][2] * d, lift[1][2] * d, step.b + lift[2][2] * d)
    if step.gamma is not None:
        s, c = step.gamma
        x, y = c * x - s * y, s * x + c * y
    return R, (x, y, z)


def sum_of_angles(first: Pair, second: Pair) -> Pair:
    (s1, c1), (s2, c2) = first, second
    return s1 * c2 + c1 * s2, c1 * c2 - s1 * s2


def outward(mech: Mechanism) -> Iterator[tuple[int, int]]:
    """(link, parent) from the base to the tips."""
    return iter(enumerate(mech.parent))


def inward(mech: Mechanism) -> Iterator[tuple[int, int]]:
    """(link, parent) from the tips to the base."""
    return reversed(list(enumerate(mech.parent)))


OfLink = TypeVar("OfLink")


def carried_outward(mech: Mechanism, at_base: OfLink, step: Callable[[int, OfLink], OfLink]) -> tuple[OfLink, ...]:
    """What every link has: step(link, what its parent has), from the base to the tips."""
    found = {BASE: at_base}
    for i, parent in outward(mech):
        found[i] = step(i, found[parent])
    return tuple(found[i] for i in range(mech.n))


class Addable(Protocol):
    """What can be added to its own kind."""

    def __add__(self, other: Any, /) -> Any: ...


OfBranch = TypeVar("OfBranch", bound=Addable)


def summed_inward(
    mech: Mechanism, own: Sequence[OfBranch], to_parent: Callable[[int, OfBranch], OfBranch]
) -> list[OfBranch]:
    """Each link's own quantity with those of all links beyond it, `to_parent` restating a link's for its parent."""
    total = list(own)
    for i, parent in inward(mech):
        if parent != BASE:
            total[parent] = total[parent] + to_parent(i, total[i])
    return total


def links_before(mech: Mechanism, link: int) -> Iterator[tuple[int, int]]:
    """(link, parent) from `link` inwards, as long as the parent is not the base."""
    while (parent := mech.parent[link]) != BASE:
        yield link, parent
        link = parent


def path(mech: Mechanism, link: int) -> list[int]:
    """The links from the base to `link`, itself included; empty for the base."""
    found = []
    while link != BASE:
        found.append(link)
        link = mech.parent[link]
    return found[::-1]


def in_base(mech: Mechanism, frame: Frames) -> Frames:
    """Each link's frame in the base frame."""
    R: list[Mat3] = []
    p: list[Vec3] = []
    for i, parent in outward(mech):
        R_base, p_base = mech.base if parent == BASE else (R[parent], p[parent])
        R.append(matmul(R_base, frame.R[i]))
        p.append(add(p_base, mul(R_base, frame.p[i])))
    return Frames(tuple(R), tuple(p))


def seeded(mech: Mechanism, position: Sequence[Position]) -> list[Position]:
    """The joint positions, joint k varying in direction k."""
    return [varying(at, mech.revolute[k], k, mech.one) for k, at in enumerate(position)]


def varying(at: Position, revolute: bool, direction: int, rate: Scalar, level: int = 0) -> Position:
    """One joint's position over dual numbers, whose variable changes by `rate` in a direction."""
    return led(at, revolute, {direction: rate}, level)


def led(at: Position, revolute: bool, rates: Rates, level: int = 0) -> Position:
    """The same with a rate in each of several directions."""
    if not revolute:
        return Dual(at, dict(rates), level)
    s, c = at
    return (
        Dual(s, {k: c * rate for k, rate in rates.items()}, level),
        Dual(c, {k: -(s * rate) for k, rate in rates.items()}, level),
    )
