"""A robot with closed loops written in one algebra, and the equations that keep its loops closed.

`Linkage` is to `Mechanism` what loops are to a tree. The constraint rows and their Jacobian are over any scalar;
their rates come from dual numbers. World means the base frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from emdeg.algebra import Algebra, Exact, FieldScalar, derivative
from emdeg.dynamics.joints import Position
from emdeg.dynamics.mechanism import (
    BodyInertia,
    Frames,
    Mechanism,
    frames,
    in_base,
    lift_positions,
    link_frame,
    mechanism_of,
    path,
    pose_matrices,
    written,
)
from emdeg.dynamics.spatial import Mat3, Scalar, Vec3, add, column, cross, dot, matmul, mul, sub
from emdeg.errors import RobotError
from emdeg.loops.description import End, Loops
from emdeg.robot import BASE, Pose, Robot

TIME = 1
"""The level of dual numbers that vary with time: the coordinates', below it, may vary besides."""
Columns = dict[int, Vec3]
"""Joint number -> the velocity of a point per unit of its rate, in base axes."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A frame fixed to a link (BASE: to the base), in that link's frame."""

    link: int
    R: Mat3
    p: Vec3


@dataclass(frozen=True, slots=True)
class Bar:
    """A rod in one algebra; `mutual` is the m12 of its two ends, `masses` its three points' (first, second, centre)."""

    name: str
    first: Anchor
    second: Anchor
    length: FieldScalar
    length_squared: Scalar
    mutual: Scalar
    masses: tuple[Scalar, Scalar, Scalar]
    com: Scalar


@dataclass(frozen=True, slots=True)
class Meeting:
    """A closing joint in one algebra."""

    name: str
    kind: str
    first: Anchor
    second: Anchor


@dataclass(frozen=True, slots=True)
class Pivots:
    """(row, column) of the pivots that solve the independent equations for the dependent joints, and their transposed
    for the undriven ones' (none where these are fewer)."""

    dependent: tuple[tuple[int, int], ...]
    passive: tuple[tuple[int, int], ...] | None


@dataclass(frozen=True, slots=True)
class Linkage:
    """A mechanism with loops. In `tree` the rods' own ends' masses are part of the links; in `bare` they are not."""

    tree: Mechanism
    bare: Mechanism
    bars: tuple[Bar, ...]
    meetings: tuple[Meeting, ...]
    coordinates: tuple[int, ...]
    driven: tuple[int, ...]
    rows: tuple[int, ...] | None = None
    """The constraint rows that are independent; None: all."""
    pivots: Pivots | None = None
    """Where the geometry is special: at which places the equations are divided by."""
    shares: tuple[Scalar, ...] = ()
    """Of the driven joints, where they are more than the coordinates."""

    @property
    def algebra(self) -> Algebra:
        return self.tree.algebra

    @property
    def n(self) -> int:
        return self.tree.n

    @property
    def loops(self) -> tuple[Bar | Meeting, ...]:
        """What closes the loops, rods first."""
        return (*self.bars, *self.meetings)

    @property
    def redundant(self) -> bool:
        """Whether more joints are driven than there are freedoms."""
        return len(self.driven) > len(self.coordinates)

    @property
    def dependent(self) -> tuple[int, ...]:
        return tuple(k for k in range(self.n) if k not in self.coordinates)

    @property
    def passive(self) -> tuple[int, ...]:
        return tuple(k for k in range(self.n) if k not in self.driven)


@dataclass(frozen=True, slots=True)
class Row:
    """One constraint equation: which loop it belongs to, its value (zero if closed), its derivative by each joint."""

    name: str
    value: Scalar
    by: dict[int, Scalar]


def linkage_of(
    robot: Robot, algebra: Algebra, rows: tuple[int, ...] | None = None, pivots: Pivots | None = None
) -> Linkage:
    """`robot` and its loops in `algebra`."""
    loops = loops_of(robot)
    bare = mechanism_of(robot, algebra)

    def w(value: Exact) -> FieldScalar:
        return written(algebra, value)  # type: ignore[return-value]  # loops are closed over scalars that divide

    inertias = list(bare.inertia)
    bars = []
    for rod in loops.rods:
        first, second = _anchor(rod.first, algebra), _anchor(rod.second, algebra)
        m11, m12, m22 = rod.ends_in(w)
        for end, mass in ((first, m11), (second, m22)):
            if end.link != BASE:
                inertias[end.link] = inertias[end.link] + _point(mass, end.p)
        masses, com = rod.points_in(w), w(rod.com)
        bars.append(Bar(rod.name, first, second, w(rod.length), w(rod.length * rod.length), m12, masses, com))
    return Linkage(
        tree=replace(bare, inertia=tuple(inertias)),
        bare=bare,
        bars=tuple(bars),
        meetings=tuple(
            Meeting(c.name, c.kind, _anchor(c.first, algebra), _anchor(c.second, algebra)) for c in loops.closures
        ),
        coordinates=loops.coordinates,
        driven=loops.driven,
        rows=rows,
        pivots=pivots,
        shares=tuple(algebra.number(share) for share in loops.allocation or (Fraction(1),) * len(loops.driven)),
    )


def loops_of(robot: Robot) -> Loops:
    """The robot's loops; RobotError if it has none."""
    if not isinstance(robot.constraints, Loops):
        raise RobotError("it has no closed loops", body=robot.name)
    return robot.constraints


def _anchor(end: End, algebra: Algebra) -> Anchor:
    R, p = pose_matrices(Pose(end.xyz, end.rpy), algebra)
    if end.turn.quarter_turns != 0:
        s, c = algebra.sincos(end.turn)
        zero = written(algebra, end.xyz[0]) * 0
        one = zero + 1
        turned: Mat3 = ((c, -s, zero), (s, c, zero), (zero, zero, one))
        R, p = matmul(turned, R), mul(turned, p)
    return Anchor(end.link, R, p)


def _point(m: Scalar, p: Vec3) -> BodyInertia:
    x, y, z = p
    mx, my, mz = m * x, m * y, m * z
    xy, xz, yz = -(mx * y), -(mx * z), -(my * z)
    tensor = ((my * y + mz * z, xy, xz), (xy, mx * x + mz * z, yz), (xz, yz, mx * x + my * y))
    return BodyInertia(m, (mx, my, mz), tensor)


def anchor_point(anchor: Anchor, world: Frames) -> Vec3:
    """Where an anchor is in the base frame."""
    if anchor.link == BASE:
        return anchor.p
    return add(world.p[anchor.link], mul(world.R[anchor.link], anchor.p))


def anchor_axes(anchor: Anchor, world: Frames) -> Mat3:
    """An anchor's axes in the base frame, as columns."""
    return anchor.R if anchor.link == BASE else matmul(world.R[anchor.link], anchor.R)


def point_columns(mech: Mechanism, world: Frames, link: int, point: Vec3) -> Columns:
    """How each joint's rate moves a point of `link`."""
    found: Columns = {}
    for k in path(mech, link):
        z = column(world.R[k], 2)
        found[k] = cross(z, sub(point, world.p[k])) if mech.revolute[k] else z
    return found


_POINTS = (("base", 0), ("base", 1), ("base", 2))
_AXES = (("across", 0, 1), ("across", 1, 2), ("across", 2, 0))
CLOSING_ROWS: Mapping[str, tuple[tuple[Any, ...], ...]] = {
    "spherical": _POINTS,
    "universal": (*_POINTS, ("across", 2, 2)),
    "revolute": (*_POINTS, ("across", 0, 2), ("across", 1, 2)),
    "prismatic": (("along", 0), ("along", 1), *_AXES),
    "fixed": (*_POINTS, *_AXES),
}
"""The equations of each kind of closing joint: the gap along an axis of the base, or of the first end; the product of
an axis of the first end and one of the second."""


def constraints(link: Linkage, world: Frames) -> list[Row]:
    """Every constraint equation, rods first; those of `link.rows` only, where they are chosen."""
    rows = [row for loop in link.loops for row in _rows(link, loop, world)]
    return rows if link.rows is None else [rows[i] for i in link.rows]


def _rows(link: Linkage, loop: Bar | Meeting, world: Frames) -> list[Row]:
    """A loop's equations; a rod's is (U.U - l^2) / 2 = 0, U from end to end (Asadi and Heydari (4), (8))."""
    mech, a, b = link.tree, loop.first, loop.second
    C, A = anchor_point(a, world), anchor_point(b, world)
    X, Y = (anchor_axes(end, world) if isinstance(loop, Meeting) else end.R for end in (a, b))
    U = sub(A, C)
    before, after = path(mech, a.link), path(mech, b.link)
    first, second = [k for k in before if k not in after], [k for k in after if k not in before]
    by_C, by_A = point_columns(mech, world, a.link, C), point_columns(mech, world, b.link, A)

    def along(direction: Vec3) -> dict[int, Scalar]:
        """The derivatives of direction . U, the direction fixed in the base."""
        return {k: -dot(direction, by_C[k]) for k in first} | {k: dot(direction, by_A[k]) for k in second}

    if isinstance(loop, Bar):
        by = along(U)
        return [Row(loop.name, (dot(U, U) - loop.length_squared) / 2, by)]
    zero, one = mech.zero, mech.one
    unit = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    rows = []
    for kind, *axes in CLOSING_ROWS[loop.kind]:
        if kind == "across":
            u, v = column(X, axes[0]), column(Y, axes[1])
            w = cross(u, v)
            by = {k: dot(column(world.R[k], 2), w) for k in (*first, *second) if mech.revolute[k]}
            rows.append(Row(loop.name, dot(u, v), {k: x if k in first else -x for k, x in by.items()}))
            continue
        direction = unit[axes[0]] if kind == "base" else column(X, axes[0])
        by = along(direction)
        for k in first if kind == "along" else ():  # the direction turns with the first end
            if mech.revolute[k]:
                by[k] = by[k] + dot(cross(column(world.R[k], 2), direction), U)
        rows.append(Row(loop.name, dot(direction, U), by))
    return rows


def open_values(link: Linkage, position: Sequence[Position]) -> list[tuple[str, Scalar]]:
    """(loop, value) of every closure equation, redundant ones too, and what each joint's position must satisfy."""
    rows = constraints(replace(link, rows=None), world_frames(link, position))
    own = [
        (f"joint {k + 1}", value)
        for k, (joint, at) in enumerate(zip(link.tree.joints, position))
        for value in joint.conditions(at, link.tree.one)
    ]
    return [*((row.name, row.value) for row in rows), *own]


def jacobian_matrix(link: Linkage, rows: Sequence[Row]) -> list[list[Scalar]]:
    """The constraints' derivatives, one row each, one column a joint of the tree."""
    zero = link.tree.zero
    return [[row.by.get(k, zero) for k in range(link.n)] for row in rows]


def in_motion(mech: Mechanism, position: Sequence[Position], qd: Sequence[Scalar]) -> list[Position]:
    """The joint positions as dual numbers whose derivative is the rate of time."""
    return lift_positions(mech, position, [{0: v} for v in qd], TIME)


def world_frames(link: Linkage, position: Sequence[Position]) -> Frames:
    return in_base(link.tree, frames(link.tree, position))


def rate_of(values: Any, zero: Scalar) -> Any:
    """The rates of nested lists of dual numbers."""
    if isinstance(values, (list, tuple)):
        return [rate_of(value, zero) for value in values]
    return derivative(values, 0, zero, TIME)


class Place:
    """Where links are while their joints' positions become known one after the other."""

    def __init__(self, link: Linkage, known: Mapping[int, Position]) -> None:
        self.link = link
        self.mech = link.tree
        self.loops = {loop.name: loop for loop in link.loops}
        self.position: dict[int, Position] = dict(known)
        self._world: dict[int, tuple[Mat3, Vec3]] = {BASE: link.tree.base}

    def world(self, k: int) -> tuple[Mat3, Vec3]:
        """Link k's frame in the base frame."""
        if k not in self._world:
            self._world[k] = self._beyond(k, self.position[k])
        return self._world[k]

    def rest(self, k: int) -> tuple[Mat3, Vec3]:
        """Link k's frame in the base frame with its joint at zero."""
        return self._beyond(k, self.zero(k))

    def _beyond(self, k: int, at: Position) -> tuple[Mat3, Vec3]:
        R, p = self.world(self.mech.parent[k])
        inner = link_frame(self.mech, k, at)
        return matmul(R, inner[0]), add(p, mul(R, inner[1]))

    def hinge(self, k: int) -> Anchor:
        """Link k's frame on the link before it, with its joint at zero."""
        R, p = link_frame(self.mech, k, self.zero(k))
        return Anchor(self.mech.parent[k], R, p)

    def zero(self, k: int) -> Position:
        zero, one = self.mech.zero, self.mech.one
        return self.mech.joints[k].at_zero(zero, one)

    def rod(self, name: str) -> Bar:
        loop = self.loops[name]
        assert isinstance(loop, Bar)
        return loop

    def point(self, anchor: Anchor) -> Vec3:
        """An anchor's point in the base frame."""
        if anchor.link == BASE:
            return anchor.p
        R, p = self.world(anchor.link)
        return add(p, mul(R, anchor.p))

    def axes(self, anchor: Anchor) -> Mat3:
        """An anchor's axes in the base frame, as columns."""
        return anchor.R if anchor.link == BASE else matmul(self.world(anchor.link)[0], anchor.R)

    def local(self, anchor: Anchor, k: int) -> Vec3:
        """An anchor's point in link k's frame, every joint between them known."""
        p, at = anchor.p, anchor.link
        while at != k:
            inner = link_frame(self.mech, at, self.position[at])
            p, at = add(inner[1], mul(inner[0], p)), self.mech.parent[at]
        return p

    def moves(self, k: int, anchor: Anchor) -> bool:
        return k in path(self.mech, anchor.link)
