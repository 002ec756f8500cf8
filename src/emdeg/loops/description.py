"""How a tree becomes a mechanism with closed loops: rods, closing joints, driven joints, independent coordinates.

The robot's links remain a tree. A loop is closed by a rod with a ball joint at either end (one length that stays
what it is), or by a joint between two frames of the tree. Frozen data, exact values, SI units.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast

from emdeg.algebra import NO_ANGLE, ZERO, Angle, Exact, FieldScalar
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.robot import Constraints, ConstraintsDraft

if TYPE_CHECKING:
    from emdeg.robot import Frame, Link, ParameterGroup, Pose, Robot

CLOSED_LOOPS = "closed loops"
"""The name of the kind of mechanism."""

ClosureKind = Literal["spherical", "universal", "revolute", "prismatic", "fixed"]
CLOSURE_KINDS: tuple[ClosureKind, ...] = ("spherical", "universal", "revolute", "prismatic", "fixed")
Vector = tuple[Exact, Exact, Exact]
Angles = tuple[Angle, Angle, Angle]
Masses = tuple[Exact, Exact, Exact]
S = TypeVar("S", bound=FieldScalar)
HALF = Exact.of(Fraction(1, 2))
LATER = {"later": True}
"""Marks a field that came after programs had been filed: a robot without it keeps its digest."""


@dataclass(frozen=True, slots=True)
class End:
    """A frame on link number `link` (-1: the base): turned by `turn` about the link's z, then moved and turned.

    `turn` keeps the points of a circle exact: radius in `xyz`, angle in `turn`.
    """

    link: int = -1
    turn: Angle = NO_ANGLE
    xyz: Vector = (ZERO, ZERO, ZERO)
    rpy: Angles = (NO_ANGLE, NO_ANGLE, NO_ANGLE)


@dataclass(frozen=True, slots=True)
class Rod(Shown):
    """A slender rigid rod of `length` [m] with ball joints at both ends.

    `com` is the share of the length from the first end to the mass centre; `inertia` [kg m^2] is about it, across
    the rod. The moment about the rod's own axis is neglected: nothing drives or observes that rotation. `points` [kg]
    states it the other way, as masses at the first end, at the second and at the share `com`.
    """

    name: str
    length: Exact
    first: End = End()
    second: End = End()
    mass: Exact = ZERO
    com: Exact = HALF
    inertia: Exact = ZERO
    points: tuple[Exact, Exact, Exact] | None = field(default=None, metadata=LATER)

    @property
    def moments(self) -> tuple[Exact, Exact, Exact]:
        """(M, MX, ZZ): mass [kg], first moment [kg m] and inertia [kg m^2] about the first end, x along the rod."""
        l, r = self.length, self.com
        if self.points is not None:
            _, m2, m3 = self.points
            return self.mass, l * (m2 + r * m3), l * l * (m2 + r * r * m3)
        return self.mass, self.mass * r * l, self.inertia + self.mass * r * r * l * l

    def points_in(self, written: Callable[[Exact], S]) -> tuple[S, S, S]:
        """Point masses at the first end, at the second and at the mass centre that are the rod, dynamically.

        The one solution of Asadi and Heydari's conditions (22): the same mass, the same mass centre, the same
        inertia about it. The mass at the centre may be negative. As scalars of `written`, which divide.
        """
        if self.points is not None:
            m1, m2, m3 = map(written, self.points)
            return m1, m2, m3
        if not self.inertia:
            return written(ZERO), written(ZERO), written(self.mass)
        r, k = self.com, self._spread
        if k is not None and r.is_number:
            s = r.number
            return written(k / s), written(k / (1 - s)), written(self.mass - k / (s * (1 - s)))
        share: Any = written(self.inertia) / written(self.length * self.length) if k is None else written(k)
        first, second = share / written(r), share / written(1 - r)
        return first, second, written(self.mass) - first - second

    def ends_in(self, written: Callable[[Exact], S]) -> tuple[S, S, S]:
        """(m11, m12, m22) with 2 T = m11 v1.v1 + 2 m12 v1.v2 + m22 v2.v2, v1 and v2 the ends' velocities.

        The same rod again: a point at the share s of the length moves with (1 - s) v1 + s v2, so the m are the
        integrals of (1 - s)^2, s (1 - s) and s^2 over the mass. Every rod has them, whatever its mass centre.
        """
        r, k = self.com, self._spread
        if self.points is not None:
            m1, m2, m3 = self.points
            return written(m1 + m3 * (1 - r) * (1 - r)), written(m3 * r * (1 - r)), written(m2 + m3 * r * r)
        parts = (self.mass * (1 - r) * (1 - r), self.mass * r * (1 - r), self.mass * r * r)
        if k is not None:
            return written(parts[0] + k), written(parts[1] - k), written(parts[2] + k)
        m11, m12, m22 = map(written, parts)
        share: Any = written(self.inertia) / written(self.length * self.length)
        return m11 + share, m12 - share, m22 + share

    def with_moments(self, values: Mapping[str, Exact]) -> Rod:
        """The rod as masses at its ends and halfway that have this ZZ, MX and M about its first end."""
        if not self.length.is_number:
            if any(values.values()):
                raise RobotError("its length is a symbol, so its inertia cannot be regrouped", body=self.name)
            return replace(self, mass=ZERO, inertia=ZERO, points=None)
        ends, moment = values["ZZ"] / self.length.number**2, values["MX"] / self.length.number
        points = (values["M"] - 3 * moment + 2 * ends, 2 * ends - moment, 4 * moment - 4 * ends)
        return replace(self, mass=values["M"], com=HALF, inertia=ZERO, points=points)

    @property
    def three_masses(self) -> tuple[Exact, Exact, Exact]:
        """`points_in` exact numbers, for a rod whose length is one."""
        return cast(Masses, self.points_in(cast(Any, Exact.of)))

    @property
    def end_masses(self) -> tuple[Exact, Exact, Exact]:
        """`ends_in` exact numbers, for a rod whose length is one."""
        return cast(Masses, self.ends_in(cast(Any, Exact.of)))

    @property
    def _spread(self) -> Exact | None:
        """inertia / length^2 [kg]; None where the length is a symbol and has to be divided by."""
        if not self.inertia:
            return ZERO
        return self.inertia / (self.length.number**2) if self.length.is_number else None


@dataclass(frozen=True, slots=True)
class Closure:
    """A joint between two frames of the tree that closes a loop.

    spherical: the origins meet. universal: and the z axes stay at right angles. revolute: the origins meet and the
    z axes are one. prismatic: the frames are parallel and the second's origin stays on the first's z axis. fixed: the
    frames are one.
    """

    name: str
    kind: ClosureKind
    first: End = End()
    second: End = End()


@dataclass(frozen=True, slots=True)
class Loops(Constraints):
    """What closes the tree's loops, and how the mechanism is driven and described.

    `coordinates` and `driven` are numbers of joints of the tree: the independent coordinates, and the joints with
    motors. `start` is a place near which the loops close, a value [rad or m] for every joint of the tree; it says
    which of several ways of closing is meant. `modes` overrides that for single loops: +1 or -1 by name. `values` are
    numbers near which symbols of the geometry are meant: with them the start closes and the way to close is found.
    `allocation` holds a share of every driven joint, where they are more than the freedoms: the efforts are those
    of the least sum of effort^2 / share. None are equal shares.
    """

    kind: ClassVar[str] = CLOSED_LOOPS
    rods: tuple[Rod, ...]
    closures: tuple[Closure, ...]
    coordinates: tuple[int, ...]
    driven: tuple[int, ...]
    start: tuple[Fraction, ...]
    modes: tuple[tuple[str, int], ...] = ()
    values: tuple[tuple[str, Fraction], ...] = field(default=(), metadata=LATER)
    allocation: tuple[Fraction, ...] = field(default=(), metadata=LATER)

    def independent(self, n: int) -> tuple[int, ...]:
        return self.coordinates

    def actuated(self, n: int) -> tuple[int, ...]:
        return self.driven

    @property
    def bodies(self) -> tuple[Rod, ...]:
        return self.rods

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in (*self.rods, *self.closures))

    @property
    def loops(self) -> Loops:
        return self

    @property
    def digested(self) -> object:
        return self

    def exact_values(self) -> Iterable[Exact | Angle]:
        for rod in self.rods:
            yield from (rod.length, rod.com, rod.mass, rod.inertia, *(rod.points or ()))
        for loop in (*self.rods, *self.closures):
            for end in (loop.first, loop.second):
                yield from (*end.xyz, end.turn, *end.rpy)

    def parameter_groups(self) -> Iterable[ParameterGroup]:
        from emdeg.loops.symbols import parameter_groups

        return parameter_groups(self)

    def body_parameters(self) -> Iterable[Mapping[str, Exact]]:
        """ZZ across the rod and MX along it, both about its first end, and M."""
        return (dict(zip(("M", "MX", "ZZ"), rod.moments)) for rod in self.rods)

    def with_body_parameters(self, values: Sequence[Mapping[str, Exact]]) -> Loops:
        return replace(self, rods=tuple(rod.with_moments(own) for rod, own in zip(self.rods, values, strict=True)))

    def with_values(self, values: Mapping[str, Fraction]) -> Loops:
        return replace(self, values=tuple({**dict(self.values), **values}.items()))

    def with_geometry(self, shape: Robot, base: Pose) -> Robot:
        return replace(shape, base=base, constraints=self.massless())

    def massless(self) -> Loops:
        bare = (replace(rod, mass=ZERO, com=HALF, inertia=ZERO, points=None) for rod in self.rods)
        return replace(self, rods=tuple(bare))

    def to_toml(self, links: Sequence[Link], root: str) -> list[str]:
        from emdeg.loops.toml import written_loops

        return written_loops(self, links, root)


@dataclass(frozen=True, slots=True)
class NamedEnd:
    """An end as a file states it: the name of a link, joint or frame, and where on it."""

    host: str
    end: End


@dataclass(frozen=True, slots=True)
class LoopsDraft(ConstraintsDraft):
    """Loops as a file states them: by names."""

    rods: tuple[tuple[Rod, NamedEnd, NamedEnd], ...]
    closures: tuple[tuple[Closure, NamedEnd, NamedEnd], ...]
    coordinates: tuple[str, ...]
    driven: tuple[str, ...]
    start: tuple[tuple[str, Fraction], ...]
    modes: tuple[tuple[str, int], ...] = ()
    values: tuple[tuple[str, Fraction], ...] = ()
    allocation: tuple[tuple[str, Fraction], ...] = ()

    def resolved(self, links: Sequence[Link], host: Callable[[str, str], Frame], locked: Collection[str]) -> Loops:
        from emdeg.loops.toml import resolved

        return resolved(self, links, host, locked)
