"""What a robot is: frozen data in normal form, nothing else.

Every link hangs on its parent by one joint whose axis is the link frame's z axis, so a robot with n links has n
joint variables. The geometry is modified Denavit-Hartenberg (Craig, Khalil); see `Placement`. Values are exact
(`Exact`, `Angle`), in SI units. Readers and `normal_form` make robots; the mechanics reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from emdeg.algebra import NO_ANGLE, ONE, ZERO, Angle, Exact
from emdeg.documents import Shown, table
from emdeg.robot.constraints import Constraints
from emdeg.robot.joint_types import JointType, joint_type
from emdeg.robot.kinds import TREE_KIND

Vector = tuple[Exact, Exact, Exact]
Angles = tuple[Angle, Angle, Angle]
JointKind = str
"""The name of a registered joint type (`emdeg.robot.joint_types`); in files also "fixed"."""

NOWHERE: Vector = (ZERO, ZERO, ZERO)
BASE = -1
"""The parent of a link that hangs on the base."""


@dataclass(frozen=True, slots=True)
class Pose(Shown):
    """Where a frame stands in another: origin `xyz` [m], axes turned by `rpy` (about fixed x, then y, then z)."""

    xyz: Vector = NOWHERE
    rpy: Angles = (NO_ANGLE, NO_ANGLE, NO_ANGLE)

    @property
    def is_identity(self) -> bool:
        return not any(self.xyz) and all(angle.is_zero for angle in self.rpy)


@dataclass(frozen=True, slots=True)
class Placement(Shown):
    """A joint's place on its parent: Rz(gamma) Tz(b) Rx(alpha) Tx(a) Ry(beta) Rz(theta) Tz(d).

    `alpha`, `a`, `theta`, `d` are the modified Denavit-Hartenberg parameters; a revolute joint's variable adds to
    theta, a prismatic one's to d. `gamma` and `b` (Khalil and Kleinfinger) are zero along a chain and serve
    branches; `beta` (Hayati and Mirmirani) is zero unless two neighbouring axes are almost, but not exactly,
    parallel, where the common normal is ill defined.
    """

    alpha: Angle = NO_ANGLE
    a: Exact = ZERO
    theta: Angle = NO_ANGLE
    d: Exact = ZERO
    gamma: Angle = NO_ANGLE
    b: Exact = ZERO
    beta: Angle = NO_ANGLE


@dataclass(frozen=True, slots=True)
class Inertia(Shown):
    """Mass [kg], first moments m*r [kg m] and inertia tensor [kg m^2] about the link frame's origin.

    `tensor` holds the matrix entries XX, XY, XZ, YY, YZ, ZZ (products of inertia with their minus sign inside).
    The equations of motion are linear in these ten.
    """

    mass: Exact = ZERO
    first_moment: Vector = NOWHERE
    tensor: tuple[Exact, ...] = (ZERO,) * 6

    @property
    def parameters(self) -> tuple[Exact, ...]:
        """XX XY XZ YY YZ ZZ MX MY MZ M, the order of the regressor's columns."""
        return (*self.tensor, *self.first_moment, self.mass)

    @staticmethod
    def from_parameters(values: tuple[Exact, ...]) -> Inertia:
        xx, xy, xz, yy, yz, zz, mx, my, mz, m = values
        return Inertia(m, (mx, my, mz), (xx, xy, xz, yy, yz, zz))

    @staticmethod
    def about_mass_center(mass: Exact, com: Vector, tensor: tuple[Exact, ...]) -> Inertia:
        """From the tensor about the mass centre `com`, axes parallel to the link frame's."""
        x, y, z = com
        xx, xy, xz, yy, yz, zz = tensor
        return Inertia(
            mass,
            (mass * x, mass * y, mass * z),
            (
                xx + mass * (y * y + z * z),
                xy - mass * x * y,
                xz - mass * x * z,
                yy + mass * (x * x + z * z),
                yz - mass * y * z,
                zz + mass * (x * x + y * y),
            ),
        )

    def __add__(self, other: Inertia) -> Inertia:
        """The inertia of two bodies rigidly joined, both stated in one frame."""
        return Inertia.from_parameters(tuple(p + q for p, q in zip(self.parameters, other.parameters)))

    @property
    def is_zero(self) -> bool:
        return not any(self.parameters)


@dataclass(frozen=True, slots=True)
class Limits(Shown):
    """What a joint is allowed: position [rad or m], speed [rad/s or m/s], effort [N m or N]; None is no limit."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    velocity: Fraction | None = None
    effort: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Friction(Shown):
    """Joint-side friction: viscous [N m s/rad or N s/m]; Coulomb, Stribeck peak and break-away [N m or N].

    Stribeck: coulomb + (stribeck - coulomb) exp(-(qd / stribeck_velocity)^2), in the direction of motion. Below
    `rest_speed` [rad/s or m/s], where one is stated, that direction fades: tanh(qd / rest_speed).
    """

    viscous: Exact = ZERO
    coulomb: Exact = ZERO
    stribeck: Exact | None = None
    stribeck_velocity: Exact | None = None
    break_away: Exact | None = None
    rest_speed: Exact | None = None

    @property
    def is_none(self) -> bool:
        """Whether nothing is stated that rubs."""
        return not any((self.viscous, self.coulomb, self.stribeck, self.break_away))

    @property
    def stated(self) -> tuple[Exact, ...]:
        """What the law is made of."""
        every = (self.viscous, self.coulomb, self.stribeck, self.stribeck_velocity, self.break_away, self.rest_speed)
        return tuple(value for value in every if value is not None)


@dataclass(frozen=True, slots=True)
class Drive(Shown):
    """The motor and gear of a joint. `inertia` [kg m^2 or kg] and `max_torque` are as seen at the joint.

    `motor_inertia` and `stall_torque` are at the motor shaft; with `gear_ratio` they give the joint-side values
    where those are not stated. For the gyroscopic terms: `motor_link` names the link, or the base, that carries the
    motor (None: the joint's parent), `motor_axis` is the rotor's axis in the carrier's frame (None: the joint's own).
    """

    inertia: Exact = ZERO
    max_torque: Exact | None = None
    motor_inertia: Exact | None = None
    stall_torque: Exact | None = None
    gear_ratio: Exact | None = None
    motor_axis: Vector | None = None
    motor_link: str | None = None
    friction: Friction = Friction()
    resolution_bits: int | None = None


@dataclass(frozen=True, slots=True)
class Joint(Shown):
    """How a link moves on its parent: about (revolute) or along (prismatic) its own z axis, or as its type says."""

    name: str
    kind: JointKind
    placement: Placement = Placement()
    limits: Limits = Limits()
    drive: Drive = Drive()

    @property
    def type(self) -> JointType:
        """How many coordinates and speeds it has, and their units."""
        return joint_type(self.kind)


@dataclass(frozen=True, slots=True)
class Stated:
    """A link's inertia as its source states it, before it is referred to the link frame's origin.

    `about` says whether `tensor` (Ixx, Ixy, Ixz, Iyy, Iyz, Izz) is about the mass centre or about the frame's
    origin; with "frame", `com` may be absent and `first_moment` given instead.
    """

    about: Literal["com", "frame"]
    mass: Exact
    com: Vector | None
    first_moment: Vector | None
    tensor: tuple[Exact, ...]

    @property
    def inertia(self) -> Inertia:
        """The same about the frame's origin; it must state a mass centre."""
        assert self.com is not None
        if self.about == "com":
            return Inertia.about_mass_center(self.mass, self.com, self.tensor)
        x, y, z = (self.mass * r for r in self.com)
        return Inertia(self.mass, (x, y, z), self.tensor)


@dataclass(frozen=True, slots=True)
class Link(Shown):
    """A rigid body and the joint that carries it; `parent` is the index of an earlier link, or BASE."""

    name: str
    parent: int
    joint: Joint
    inertia: Inertia = Inertia()
    stated: Stated | None = None


@dataclass(frozen=True, slots=True)
class Frame(Shown):
    """A named frame fixed to link number `link` (BASE: to the base): a tool, a flange, a link of the file."""

    name: str
    link: int
    pose: Pose = Pose()


@dataclass(frozen=True, slots=True)
class Payload(Shown):
    """A body carried by the link or frame called `link`: mass [kg], mass centre [m] and tensor about it there."""

    link: str
    mass: Exact
    com: Vector = NOWHERE
    tensor: tuple[Exact, ...] = (ZERO,) * 6
    name: str = "payload"


@dataclass(frozen=True, slots=True, repr=False)
class Robot:
    """A fixed-base tree of rigid links, tied by `constraints` if it has any; frozen, exact. See `emdeg.load`."""

    name: str
    links: tuple[Link, ...]
    base: Pose = Pose()
    tool: Frame = Frame("tool", BASE)
    gravity: Vector = (ZERO, ZERO, Exact.of(Fraction(-981, 100)))
    frames: tuple[Frame, ...] = ()
    payloads: tuple[Payload, ...] = ()
    title: str = ""
    source: str = ""
    nonphysical: str = ""
    """Why the file's data breaks a physical rule, in the file's own words; empty if it does not."""
    tolerances: Mapping[str, Fraction] = field(default_factory=dict)
    """Path of a parameter ("link2.mass", "link3.com.x", "q1.drive.inertia") -> its +- in the same unit."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Path of a parameter -> where its value comes from."""
    notes: tuple[str, ...] = ()
    """What a reader changed or found worth saying."""
    constraints: Constraints = field(default=Constraints(), metadata={"json": "loops"})
    """What makes it another kind of mechanism than a tree: closed loops, or another extension's data."""

    def __repr__(self) -> str:
        """What it is in a line: a robot's numbers fill pages."""
        words = [f"{self.n} joints", *([f"{self.freedoms} freedoms"] if self.freedoms != self.n else [])]
        words += [f"{len(self.symbols)} symbols"] if self.symbols else []
        words += [f"payload {payload.name}" for payload in self.payloads[:3]]
        title = f" ({self.title[:200]})" if self.title else ""
        return f"<Robot {self.name[:200]}: {', '.join(words)}{title}>"

    def __hash__(self) -> int:
        return hash((self.name, self.links, self.base, self.tool, self.gravity, self.payloads, self.constraints))

    @property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(link.joint for link in self.links)

    @property
    def n(self) -> int:
        """The number of joints of the tree."""
        return len(self.links)

    @property
    def nq(self) -> int:
        """The number of coordinates of all joints of the tree."""
        return sum(joint.type.nq for joint in self.joints)

    @property
    def nv(self) -> int:
        """The number of speeds of all joints of the tree."""
        return sum(joint.type.nv for joint in self.joints)

    @property
    def coordinates(self) -> tuple[Joint, ...]:
        """The joints whose variables are the independent coordinates: all of a tree's."""
        return tuple(self.links[i].joint for i in self.constraints.independent(self.n))

    @property
    def freedoms(self) -> int:
        """The degrees of freedom: the number of independent speeds."""
        return sum(joint.type.nv for joint in self.coordinates)

    @property
    def driven(self) -> tuple[Joint, ...]:
        """The joints with motors: all of a tree's."""
        return tuple(self.links[i].joint for i in self.constraints.actuated(self.n))

    @property
    def rubs(self) -> bool:
        """Whether any joint's file data says how it rubs."""
        return not all(joint.drive.friction.is_none for joint in self.joints)

    @property
    def bodies(self) -> tuple[str, ...]:
        """The names of all bodies with inertia: the links, then those that the constraints add."""
        return (*(link.name for link in self.links), *(body.name for body in self.constraints.bodies))

    @property
    def loops(self) -> Any:
        """What closes its loops (`emdeg.loops`); None of a robot without closed loops."""
        return self.constraints.loops

    @property
    def rods(self) -> Sequence[Any]:
        """The rods that close loops."""
        return self.constraints.bodies

    @property
    def closures(self) -> Sequence[Any]:
        """The joints that close loops."""
        return getattr(self.constraints, "closures", ())

    @property
    def is_tree(self) -> bool:
        """Whether the links alone are the machine: every joint is a coordinate and driven."""
        return self.constraints.kind == TREE_KIND

    @property
    def hidden(self) -> tuple[int, ...]:
        """The joints of the tree that are no coordinates, by number."""
        chosen = set(self.constraints.independent(self.n))
        return tuple(k for k in range(self.n) if k not in chosen)

    @property
    def open_tree(self) -> Robot:
        """The tree of its links, without the constraints."""
        return replace(self, constraints=Constraints())

    @property
    def is_serial(self) -> bool:
        return all(link.parent == i - 1 for i, link in enumerate(self.links))

    @property
    def symbols(self) -> frozenset[str]:
        """The names of the parameters that have no number."""
        found: set[str] = set()
        for value in values(self):
            if isinstance(value, Angle):
                found |= {value.symbol} if value.symbol else set()
            else:
                found |= value.symbols
        return frozenset(found)

    def with_gravity(self, gravity: Vector) -> Robot:
        return replace(self, gravity=gravity)

    def _repr_html_(self) -> str:
        rows = []
        for i, link in enumerate(self.links):
            place = link.joint.placement
            cells = (place.alpha, place.a, place.theta, place.d, link.inertia.mass)
            rows.append((i + 1, link.joint.name, link.joint.kind, *(_decimal(cell) for cell in cells)))
        head = ("", "joint", "kind", "alpha", "a [m]", "theta", "d [m]", "mass [kg]")
        return table(f"{self.name}: {self.title}" if self.title else self.name, rows, head)


def _decimal(value: Exact | Angle) -> object:
    """A number as people write it; symbols and angles as they are."""
    return float(value) if isinstance(value, Exact) and value.is_number else value


def values(robot: Robot) -> Iterator[Exact | Angle]:
    """Every value the equations of motion, with friction too, and the kinematics depend on, base to tip."""
    yield from (*robot.base.xyz, *robot.base.rpy)
    for link in robot.links:
        place = link.joint.placement
        yield from (place.gamma, place.b, place.alpha, place.a, place.beta, place.theta, place.d)
        yield from (link.inertia.mass, *link.inertia.first_moment, *link.inertia.tensor)
        yield link.joint.drive.inertia
        yield from link.joint.drive.friction.stated
    yield from (*robot.tool.pose.xyz, *robot.tool.pose.rpy)
    carriers = {frame.name: frame for frame in robot.frames}
    for payload in robot.payloads:
        yield from carriers[payload.link].pose.xyz
        yield from (payload.mass, *payload.com, *payload.tensor)
    yield from robot.gravity
    yield from robot.constraints.exact_values()


__all__ = [
    "BASE",
    "NOWHERE",
    "ONE",
    "Angles",
    "Drive",
    "Frame",
    "Friction",
    "Inertia",
    "Joint",
    "JointKind",
    "Limits",
    "Link",
    "Payload",
    "Placement",
    "Pose",
    "Robot",
    "Stated",
    "Vector",
]
