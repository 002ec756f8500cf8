"""The kinds of joints: how coordinates become a transform, and speeds a motion of the outer link.

A kind of joint has nq coordinates and nv speeds. It says how a position follows from the coordinates, which transform
it makes of a position, along which nv motion axes the outer link moves, and how a position changes along them. The
algorithms ask for nothing else; to add a kind of joint, write a class here or in an extension and register it.

The position is typed by the kind: a revolute joint has the sine and cosine of its angle, a prismatic joint its
displacement [m]. The motion axes are constant in the outer link's frame.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from emdeg.algebra import Array, Dual
from emdeg.dynamics.spatial import (
    Mat3,
    PrismaticAxis,
    RevoluteAxis,
    Scalar,
    Spatial,
    TurnAboutZ,
    Vec3,
    add,
    identity,
    matmul,
    mul,
)
from emdeg.robot import JointType, joint_type, register_joint_type

Pair = tuple[Scalar, Scalar]
"""(sine, cosine)."""
Position = Pair | Scalar | tuple[Scalar, ...]
"""A joint's position as its kind represents it; only the kind reads it."""
Rates = Mapping[int, Scalar]
"""Direction -> derivative of a quantity in that direction."""
Entry = Callable[[int], Scalar]
"""Which of the joint's coordinates -> its value."""
Circle = Callable[[int], Pair]
"""Which of the joint's coordinates -> the sine and cosine of that angle."""


@dataclass(frozen=True, slots=True)
class DHTransform:
    """The constants of a `Placement`; a rotation by exactly zero is None."""

    gamma: Pair | None
    b: Scalar
    alpha: Pair | None
    a: Scalar
    beta: Pair | None
    theta: Pair | None
    d: Scalar

    @property
    def is_parallel(self) -> bool:
        """Whether the joint's axis is parallel to the parent's, and no rotation lies between their frames."""
        return self.alpha is None and self.beta is None and self.gamma is None and self.theta is None

    def tilt(self, zero: Scalar, one: Scalar) -> Mat3:
        """The constant rotation before the joint's own about z."""
        return rotations((("z", self.gamma), ("x", self.alpha), ("y", self.beta)), zero, one)

    def axis_frame(self, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
        """(R, p) of the joint's axis on its parent: the joint rotates about or translates along its z axis."""
        s, c = (zero, one) if self.gamma is None else self.gamma
        return self.tilt(zero, one), (c * self.a, s * self.a, self.b)

    def frame(self, theta: Pair | None, d: Scalar, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
        """(R, p) of the link's frame in its parent's for these values of theta and d."""
        R = rotations((("z", self.gamma), ("x", self.alpha), ("y", self.beta), ("z", theta)), zero, one)
        lift = rotations((("x", self.alpha), ("y", self.beta)), zero, one)
        x, y, z = (self.a + lift[0][2] * d, lift[1][2] * d, self.b + lift[2][2] * d)
        if self.gamma is not None:
            s, c = self.gamma
            x, y = c * x - s * y, s * x + c * y
        return R, (x, y, z)


def _elementary(axis: str, pair: Pair, zero: Scalar, one: Scalar) -> Mat3:
    s, c = pair
    if axis == "x":
        return ((one, zero, zero), (zero, c, -s), (zero, s, c))
    if axis == "y":
        return ((c, zero, s), (zero, one, zero), (-s, zero, c))
    return ((c, -s, zero), (s, c, zero), (zero, zero, one))


def rotations(rotations: Sequence[tuple[str, Pair | None]], zero: Scalar, one: Scalar) -> Mat3:
    """The product of elementary rotations; those that are None are left out."""
    result: Mat3 | None = None
    for axis, pair in reversed(rotations):
        if pair is not None:
            elementary = _elementary(axis, pair, zero, one)
            result = elementary if result is None else matmul(elementary, result)
    return identity(zero, one) if result is None else result


def sum_of_angles(first: Pair, second: Pair) -> Pair:
    """Sine and cosine of the sum of two angles."""
    (s1, c1), (s2, c2) = first, second
    return s1 * c2 + c1 * s2, c1 * c2 - s1 * s2


P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Placed:
    """A link's frame in its parent's; `turn` is how R is made, where that is known."""

    R: Mat3
    p: Vec3
    turn: TurnAboutZ | None = None


class JointKind(ABC, Generic[P]):
    """A kind of joint, P being the type of its position. Its instances are stateless and compare by identity."""

    type: JointType
    """Its name, and how many coordinates and speeds it has."""

    def __repr__(self) -> str:
        return f"<{self.type.name} joint>"

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.type.nq

    @property
    def nv(self) -> int:
        """The number of speeds."""
        return self.type.nv

    @abstractmethod
    def position(self, entry: Entry, circle: Circle) -> P:
        """The position from the coordinates."""

    @abstractmethod
    def at_zero(self, zero: Scalar, one: Scalar) -> P:
        """The position at which the joint does not displace the link."""

    @abstractmethod
    def parts(self, at: P) -> tuple[Scalar, ...]:
        """The scalars of a position."""

    @abstractmethod
    def motion(self, at: P, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
        """(R, p) of the frame behind the joint in the frame before it, the same at zero."""

    @abstractmethod
    def axes(self, zero: Scalar, one: Scalar) -> tuple[Spatial, ...]:
        """The motion subspace S: a unit motion for each speed, in the outer link's frame."""

    @abstractmethod
    def lift(self, at: P, rates: Sequence[Rates], level: int = 0) -> P:
        """The position over dual numbers; `rates` say how far it moves along each motion axis in each direction."""

    def transform(self, at: P, place: DHTransform, zero: Scalar, one: Scalar) -> Placed:
        """The link's frame in its parent's."""
        R, p = place.frame(place.theta, place.d, zero, one)
        R_joint, p_joint = self.motion(at, zero, one)
        return Placed(matmul(R, R_joint), add(p, mul(R, p_joint)))

    def conditions(self, at: P, one: Scalar) -> tuple[Scalar, ...]:
        """What is zero for every position of the joint (s^2 + c^2 - 1, a quaternion's norm less one)."""
        return ()

    def integrate(self, q: Array, v: Array) -> Array:
        """q (..., nq) moved by the displacement v (..., nv) along the motion axes."""
        return q + v

    def difference(self, start: Array, end: Array) -> Array:
        """The displacement (..., nv) that leads from one q (..., nq) to another."""
        return end - start

    def neutral(self) -> Array:
        """q (nq,) at which the joint does not displace the link."""
        return np.zeros(self.nq)


class Revolute(JointKind[Pair]):
    """Rotates about z: one angle, added to theta of the placement."""

    type = joint_type("revolute")

    def position(self, entry: Entry, circle: Circle) -> Pair:
        return circle(0)

    def at_zero(self, zero: Scalar, one: Scalar) -> Pair:
        return zero, one

    def parts(self, at: Pair) -> tuple[Scalar, ...]:
        return at

    def motion(self, at: Pair, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
        return rotations((("z", at),), zero, one), (zero, zero, zero)

    def axes(self, zero: Scalar, one: Scalar) -> tuple[Spatial, ...]:
        return (RevoluteAxis.along_z(zero, one),)

    def lift(self, at: Pair, rates: Sequence[Rates], level: int = 0) -> Pair:
        (s, c), (along,) = at, rates
        return (
            Dual(s, {k: c * rate for k, rate in along.items()}, level),
            Dual(c, {k: -(s * rate) for k, rate in along.items()}, level),
        )

    def transform(self, at: Pair, place: DHTransform, zero: Scalar, one: Scalar) -> Placed:
        theta = at if place.theta is None else sum_of_angles(place.theta, at)
        return Placed(*place.frame(theta, place.d, zero, one), TurnAboutZ(place.tilt(zero, one), theta))

    def conditions(self, at: Pair, one: Scalar) -> tuple[Scalar, ...]:
        return (at[0] * at[0] + at[1] * at[1] - one,)


class Prismatic(JointKind[Scalar]):
    """Translates along z: one displacement, added to d of the placement."""

    type = joint_type("prismatic")

    def position(self, entry: Entry, circle: Circle) -> Scalar:
        return entry(0)

    def at_zero(self, zero: Scalar, one: Scalar) -> Scalar:
        return zero

    def parts(self, at: Scalar) -> tuple[Scalar, ...]:
        return (at,)

    def motion(self, at: Scalar, zero: Scalar, one: Scalar) -> tuple[Mat3, Vec3]:
        return identity(zero, one), (zero, zero, at)

    def axes(self, zero: Scalar, one: Scalar) -> tuple[Spatial, ...]:
        return (PrismaticAxis.along_z(zero, one),)

    def lift(self, at: Scalar, rates: Sequence[Rates], level: int = 0) -> Scalar:
        (along,) = rates
        return Dual(at, dict(along), level)

    def transform(self, at: Scalar, place: DHTransform, zero: Scalar, one: Scalar) -> Placed:
        return Placed(*place.frame(place.theta, place.d + at, zero, one))


REVOLUTE, PRISMATIC = Revolute(), Prismatic()
_KINDS: dict[str, JointKind[Any]] = {kind.type.name: kind for kind in (REVOLUTE, PRISMATIC)}


def register_joint_kind(kind: JointKind[Any]) -> None:
    """Make a kind of joint known by its name, to robots and to the algorithms."""
    register_joint_type(kind.type)
    _KINDS[kind.type.name] = kind


def joint_kind(name: str) -> JointKind[Any]:
    """The kind of joint of this name."""
    joint_type(name)
    return _KINDS[name]
