"""How a tree becomes a mechanism with closed loops: rods, closing joints, driven joints, independent coordinates.

The robot's links remain a tree. A loop is closed by a rod with a ball joint at either end (one length that stays
what it is), or by a joint between two frames of the tree. Frozen data, exact values, SI units.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from emdeg.algebra import NO_ANGLE, ZERO, Angle, Exact

ClosureKind = Literal["spherical", "universal", "revolute", "prismatic"]
CLOSURE_KINDS: tuple[ClosureKind, ...] = ("spherical", "universal", "revolute", "prismatic")
Vector = tuple[Exact, Exact, Exact]
Angles = tuple[Angle, Angle, Angle]


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
class Rod:
    """A slender rigid rod of `length` [m] with ball joints at both ends.

    `com` is the share of the length from the first end to the mass centre; `inertia` [kg m^2] is about it, across
    the rod. The moment about the rod's own axis is neglected: nothing drives or observes that rotation.
    """

    name: str
    length: Exact
    first: End = End()
    second: End = End()
    mass: Exact = ZERO
    com: Fraction = Fraction(1, 2)
    inertia: Exact = ZERO

    @property
    def spread(self) -> Exact:
        """inertia / length^2 [kg]."""
        return self.inertia / (self.length.number**2) if self.inertia else ZERO

    @property
    def three_masses(self) -> tuple[Exact, Exact, Exact]:
        """Point masses at the first end, at the second and at the mass centre that are the rod, dynamically.

        The one solution of Asadi and Heydari's conditions (22): the same mass, the same mass centre, the same
        inertia about it. The mass at the centre may be negative.
        """
        r, k = self.com, self.spread
        if not k:
            return ZERO, ZERO, self.mass
        return k / r, k / (1 - r), self.mass - k / (r * (1 - r))

    @property
    def end_masses(self) -> tuple[Exact, Exact, Exact]:
        """(m11, m12, m22) with 2 T = m11 v1.v1 + 2 m12 v1.v2 + m22 v2.v2, v1 and v2 the ends' velocities.

        The same rod again: a point at the share s of the length moves with (1 - s) v1 + s v2, so the m are the
        integrals of (1 - s)^2, s (1 - s) and s^2 over the mass. Every rod has them, whatever its mass centre.
        """
        r, k = self.com, self.spread
        return self.mass * (1 - r) ** 2 + k, self.mass * (r * (1 - r)) - k, self.mass * r**2 + k


@dataclass(frozen=True, slots=True)
class Closure:
    """A joint between two frames of the tree that closes a loop.

    spherical: the origins meet. universal: and the z axes stay at right angles. revolute: the origins meet and the
    z axes are one. prismatic: the frames are parallel and the second's origin stays on the first's z axis.
    """

    name: str
    kind: ClosureKind
    first: End = End()
    second: End = End()


@dataclass(frozen=True, slots=True)
class Loops:
    """What closes the tree's loops, and how the mechanism is driven and described.

    `coordinates` and `driven` are numbers of joints of the tree: the independent coordinates, and the joints with
    motors. `start` is a place near which the loops close, a value [rad or m] for every joint of the tree; it says
    which of several ways of closing is meant. `modes` overrides that for single loops: +1 or -1 by name.
    """

    rods: tuple[Rod, ...]
    closures: tuple[Closure, ...]
    coordinates: tuple[int, ...]
    driven: tuple[int, ...]
    start: tuple[Fraction, ...]
    modes: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in (*self.rods, *self.closures))


@dataclass(frozen=True, slots=True)
class NamedEnd:
    """An end as a file states it: the name of a link, joint or frame, and where on it."""

    host: str
    end: End


@dataclass(frozen=True, slots=True)
class LoopsDraft:
    """Loops as a file states them: by names."""

    rods: tuple[tuple[Rod, NamedEnd, NamedEnd], ...]
    closures: tuple[tuple[Closure, NamedEnd, NamedEnd], ...]
    coordinates: tuple[str, ...]
    driven: tuple[str, ...]
    start: tuple[tuple[str, Fraction], ...]
    modes: tuple[tuple[str, int], ...] = ()


def values(loops: Loops):
    """Every exact value and angle the dynamics depends on."""
    for rod in loops.rods:
        yield from (rod.length, rod.mass, rod.inertia)
    for loop in (*loops.rods, *loops.closures):
        for end in (loop.first, loop.second):
            yield from (*end.xyz, end.turn, *end.rpy)
