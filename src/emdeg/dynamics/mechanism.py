"""A robot's constants in one algebra, its frames at a configuration, and the passes over its tree.

Everything that the algorithms need and no physics: parents, joints, R and p of each link in its parent, inertial
parameters as scalars. Frames are named R_parent_child and p_parent_child in the docs; here `R[i]` and `p[i]` always
mean link i in its parent. Links are numbered as their joints. Each joint has its coordinates in q and its speeds in qd:
`coordinates[i]` and `speeds[i]` are their places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from emdeg.algebra import Algebra, Angle, Exact, JointAlgebra
from emdeg.dynamics.joints import (
    REVOLUTE,
    Circle,
    DHTransform,
    Entry,
    JointKind,
    Pair,
    Placed,
    Position,
    Rates,
    joint_kind,
    rotations,
)
from emdeg.dynamics.spatial import (
    BodyInertia,
    Mat3,
    Scalar,
    Spatial,
    Transform,
    TurnAboutZ,
    Vec3,
    add,
    column,
    matmul,
    mul,
    tmul,
)
from emdeg.robot import BASE, Friction, Pose, Robot, loaded_inertias

K = TypeVar("K", bound=Scalar)


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's armature: its spin momentum per joint speed (inertia * gear ratio) and its axis in the carrier.

    `carrier`: the link that it sits on; None: the joint's parent.
    """

    momentum: Scalar
    axis: Vec3
    carrier: int | None = None


@dataclass(frozen=True)
class Mechanism:
    """A robot in one algebra. `parent[i]` < i, or BASE. `drive` has an entry a speed, the others an entry a link."""

    algebra: Algebra
    parent: tuple[int, ...]
    joints: tuple[JointKind[Any], ...]
    dh: tuple[DHTransform, ...]
    inertia: tuple[BodyInertia, ...]
    drive: tuple[Scalar, ...]
    """The armature: what a motor adds to the inertia seen at its joint."""
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
        """The number of links, and of joints."""
        return len(self.parent)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of speeds."""
        return sum(joint.nv for joint in self.joints)

    @cached_property
    def coordinates(self) -> tuple[range, ...]:
        """Each joint's places among the coordinates."""
        return _places([joint.nq for joint in self.joints])

    @cached_property
    def speeds(self) -> tuple[range, ...]:
        """Each joint's places among the speeds."""
        return _places([joint.nv for joint in self.joints])

    @cached_property
    def revolute(self) -> tuple[bool, ...]:
        """Of each joint whether it is revolute; for algorithms that know revolute and prismatic joints alone."""
        return tuple(joint is REVOLUTE for joint in self.joints)

    @cached_property
    def is_elementary(self) -> bool:
        """Whether every joint rotates about or translates along one axis alone."""
        return all(joint.type.elementary for joint in self.joints)

    @cached_property
    def zero(self) -> Scalar:
        return number(self.algebra, 0)

    @cached_property
    def one(self) -> Scalar:
        return number(self.algebra, 1)

    @cached_property
    def still(self) -> Spatial:
        """No motion, or no force."""
        zero = self.zero
        return Spatial((zero, zero, zero), (zero, zero, zero))

    @cached_property
    def S(self) -> tuple[Spatial, ...]:
        """The motion axis of every speed, in its link's frame."""
        return tuple(axis for joint in self.joints for axis in joint.axes(self.zero, self.one))

    def joint_motion(self, i: int, rates: Sequence[Scalar]) -> Spatial:
        """The motion of link i on its parent at these speeds of all joints, in the link's frame: S_i qd_i."""
        own = [self.S[k] * rates[k] for k in self.speeds[i]]
        return sum(own[1:], own[0]) if own else self.still


def _places(sizes: Sequence[int]) -> tuple[range, ...]:
    return tuple(range(end - size, end) for size, end in zip(sizes, accumulate(sizes)))


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

    transforms, inertias, drives, rotors = [], [], [], []
    joints = tuple(joint_kind(link.joint.kind) for link in robot.links)
    for link, kind, inertia in zip(robot.links, joints, loaded_inertias(robot)):
        place = link.joint.placement
        transform = DHTransform(
            pair(place.gamma),
            w(place.b),
            pair(place.alpha),
            w(place.a),
            pair(place.beta),
            pair(place.theta),
            w(place.d),
        )
        transforms.append(transform)
        xx, xy, xz, yy, yz, zz = (w(v) for v in inertia.tensor)
        mx, my, mz = (w(v) for v in inertia.first_moment)
        J = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        inertias.append(BodyInertia(w(inertia.mass), (mx, my, mz), J))
        drives += [w(link.joint.drive.inertia)] * kind.nv
        rotors.append(_rotor(robot, link.joint.drive, transform, algebra))
    base = pose_matrices(robot.base, algebra)
    gx, gy, gz = (w(v) for v in robot.gravity)
    return Mechanism(
        algebra=algebra,
        parent=tuple(link.parent for link in robot.links),
        joints=joints,
        dh=tuple(transforms),
        inertia=tuple(inertias),
        drive=tuple(drives),
        rotor=tuple(rotors),
        gravity=tmul(base[0], (gx, gy, gz)),
        base=base,
        tool_link=robot.tool.link,
        tool=pose_matrices(robot.tool.pose, algebra),
        friction=tuple(link.joint.drive.friction for link in robot.links),
    )


def _rotor(robot: Robot, drive, transform: DHTransform, algebra: Algebra) -> Rotor | None:
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
        axis = column(transform.tilt(zero, one), 2)
    else:
        axis = tuple(written(algebra, v) for v in drive.motor_axis)
    if drive.motor_link is None:
        carrier = None
    else:  # the base, or what does not move with a link, carries nothing that turns
        carrier = next((i for i, link in enumerate(robot.links) if link.name == drive.motor_link), BASE)
    return Rotor(written(algebra, momentum), axis, carrier)  # type: ignore[arg-type]


def pose_matrices(pose: Pose, algebra: Algebra) -> tuple[Mat3, Vec3]:
    """(R, p) of a pose."""
    roll, pitch, yaw = (None if angle.quarter_turns == 0 else algebra.sincos(angle) for angle in pose.rpy)
    R = rotations((("z", yaw), ("y", pitch), ("x", roll)), number(algebra, 0), number(algebra, 1))
    x, y, z = (written(algebra, v) for v in pose.xyz)
    return R, (x, y, z)


def joint_positions(mech: Mechanism, entry: Entry, circle: Circle) -> list[Position]:
    """Every joint's position from the coordinates: `entry(k)` is the k-th, `circle(k)` its sine and cosine."""

    def of(joint: JointKind[Any], places: range) -> Position:
        return joint.position(lambda i: entry(places[i]), lambda i: circle(places[i]))

    return [of(joint, places) for joint, places in zip(mech.joints, mech.coordinates)]


def positions_at_zero(mech: Mechanism) -> list[Position]:
    """Every joint's position where no joint displaces its link."""
    return [joint.at_zero(mech.zero, mech.one) for joint in mech.joints]


def symbolic_positions(mech: Mechanism, algebra: JointAlgebra, of: str = "") -> list[Position]:
    """Every joint's position in the algebra's symbols, numbered from 1; `of` names one state among several."""

    def entry(k: int) -> Scalar:
        return algebra.displacement(_name(k, of))

    return joint_positions(mech, entry, lambda k: algebra.joint_sincos(_name(k, of)))


def symbolic_state(
    mech: Mechanism, algebra: JointAlgebra, of: str = ""
) -> tuple[list[Position], list[Scalar], list[Scalar]]:
    """(positions, qd, qdd) in the algebra's symbols."""
    names = [_name(k, of) for k in range(mech.nv)]
    rates, accelerations = [algebra.rate(name) for name in names], [algebra.acceleration(name) for name in names]
    return symbolic_positions(mech, algebra, of), rates, accelerations


def _name(k: int, of: str) -> int | str:
    return f"{k + 1}{of}" if of else k + 1


def lift_positions(
    mech: Mechanism, position: Sequence[Position], rates: Sequence[Rates], level: int = 0
) -> list[Position]:
    """The joint positions over dual numbers; `rates` say how far each speed's axis moves in each direction."""
    return [
        joint.lift(at, [rates[k] for k in speeds], level)
        for joint, at, speeds in zip(mech.joints, position, mech.speeds)
    ]


def seed_duals(mech: Mechanism, position: Sequence[Position]) -> list[Position]:
    """The joint positions over dual numbers, moving along speed k's axis in direction k."""
    return lift_positions(mech, position, [{k: mech.one} for k in range(mech.nv)])


def in_motion(mech: Mechanism, position: Sequence[Position], qd: Sequence[Scalar], level: int = 0) -> list[Position]:
    """The joint positions over dual numbers whose direction 0 is time."""
    return lift_positions(mech, position, [{0: v} for v in qd], level)


def frames(mech: Mechanism, position: Sequence[Position]) -> Frames:
    """Every link's frame in its parent's at the given joint positions."""
    placed = [_placed(mech, i, at) for i, at in enumerate(position)]
    return Frames(*(tuple(getattr(one, part) for one in placed) for part in ("R", "p", "turn")))


def link_frame(mech: Mechanism, i: int, at: Position) -> tuple[Mat3, Vec3]:
    """(R, p) of link i in its parent with its joint at `at`."""
    placed = _placed(mech, i, at)
    return placed.R, placed.p


def _placed(mech: Mechanism, i: int, at: Position) -> Placed:
    return mech.joints[i].transform(at, mech.dh[i], mech.zero, mech.one)


def outward(mech: Mechanism) -> Iterator[tuple[int, int]]:
    """(link, parent) from the base to the tips."""
    return iter(enumerate(mech.parent))


def inward(mech: Mechanism) -> Iterator[tuple[int, int]]:
    """(link, parent) from the tips to the base."""
    return reversed(list(enumerate(mech.parent)))


OfLink = TypeVar("OfLink")


def forward_pass(mech: Mechanism, at_base: OfLink, step: Callable[[int, OfLink], OfLink]) -> tuple[OfLink, ...]:
    """A quantity of every link from the base to the tips: step(link, its parent's)."""
    found = {BASE: at_base}
    for i, parent in outward(mech):
        found[i] = step(i, found[parent])
    return tuple(found[i] for i in range(mech.n))


class Addable(Protocol):
    """What can be added to its own kind."""

    def __add__(self, other: Any, /) -> Any: ...


OfBranch = TypeVar("OfBranch", bound=Addable)


def backward_pass(
    mech: Mechanism, own: Sequence[OfBranch], to_parent: Callable[[int, OfBranch], OfBranch]
) -> list[OfBranch]:
    """Each link's own quantity plus those of all links beyond it; `to_parent` restates a link's for its parent."""
    total = list(own)
    for i, parent in inward(mech):
        if parent != BASE:
            total[parent] = total[parent] + to_parent(i, total[i])
    return total


def joint_speeds(mech: Mechanism) -> Iterator[tuple[int, int]]:
    """(joint, speed) for every speed."""
    return ((i, k) for i, places in enumerate(mech.speeds) for k in places)


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
