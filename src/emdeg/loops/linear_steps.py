"""Steps that close loops by a closure equation itself, and by what joints have in common.

A closure equation is linear in the sine and cosine of a joint if what else it depends on is known: it places the joint
by one root. Joints that always turn together, or not at all, as parallel axes and symmetry make them, follow others by
an affine relation.

Both are searched for in doubles, at a few closed configurations. What is found here is a guess: it stays in a plan only
if every closure equation then holds, exactly modulo primes and in doubles all over the coordinates' range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any, cast

import numpy as np

from emdeg.algebra import NO_ANGLE, Angle, Array, FieldScalar, add_angles, multiple_angle
from emdeg.dynamics.mechanism import Position, path
from emdeg.dynamics.spatial import Scalar, column, dot, sub
from emdeg.loops.analytic_closure import Root, Step
from emdeg.loops.linkage import CLOSING_ROWS, Bar, Linkage, Meeting, Place, world_frames
from emdeg.loops.newton import positions_of, size_of

SAME = 1e-8
"""Angles, and lengths over the mechanism's size, that differ by less are the same."""
TWELFTH = 12
"""Constants of revolute joints are multiples of pi over this."""
DENOMINATOR = 10**6


@dataclass(frozen=True, slots=True)
class AffineRelation(Step):
    """A joint that is a sum of multiples of others and a constant, an angle or a displacement [m]."""

    terms: tuple[tuple[int, int], ...] = ()
    angle: Angle = NO_ANGLE
    shift: Fraction = Fraction(0)

    def take(self, place: Place, root: Root) -> None:
        mech = place.mech
        if not mech.revolute[self.joint]:
            total: Any = mech.zero + mech.algebra.number(self.shift)
            for k, times in self.terms:
                total = total + times * cast(Any, place.position[k])
            place.position[self.joint] = total
            return
        angle: tuple[Any, Any] | None = None if self.angle.is_zero and self.terms else mech.algebra.sincos(self.angle)
        for k, times in self.terms:
            pair = cast(tuple[Any, Any], place.position[k])
            turned = multiple_angle(pair, times, mech.one, mech.zero) if abs(times) != 1 else (times * pair[0], pair[1])
            angle = turned if angle is None else add_angles(angle, turned)
        assert angle is not None
        place.position[self.joint] = angle


@dataclass(frozen=True, slots=True)
class LinearSolve(Step):
    """A joint that meets one closure equation: of its loop's the one numbered `row`, or the gap along an axis.

    `along` is the joint whose axis that is. `followers` are joints that move with this one, `idle` those that the
    equation does not depend on. A revolute joint (`turns`) is found by a root, a prismatic one needs none.
    """

    row: int = 0
    along: int | None = None
    followers: tuple[AffineRelation, ...] = ()
    idle: tuple[int, ...] = ()
    turns: bool = True

    @property
    def roots(self) -> int:
        return int(self.turns)

    def take(self, place: Place, root: Root) -> None:
        u, v, w = (cast(FieldScalar, x) for x in self.equation(place))
        if not self.turns:
            place.position[self.joint] = -(w / u)
            return
        square = u * u + v * v
        h = root(square - w * w, self.loop)
        h = h if self.sign > 0 else -h
        per = 1 / square
        place.position[self.joint] = (u * h - v * w) * per, -((u * w + v * h) * per)

    def margin(self, place: Place) -> Scalar | None:
        if not self.turns:
            return None
        u, v, w = self.equation(place)
        square = u * u + v * v
        return (square - w * w) / cast(FieldScalar, square)

    def measured_margin(self, place: Place) -> Scalar | None:
        if not self.turns:
            return None
        u, v, _ = self.equation(place)
        s, c = cast(tuple[Scalar, Scalar], place.position[self.joint])
        part = u * s - v * c
        return part * part / cast(FieldScalar, u * u + v * v)

    def residual(self, place: Place, at: Position, idle: Mapping[int, Position] | None = None) -> Scalar:
        """What the equation misses with the joint at `at`, joints that do not count anywhere (by default at zero)."""
        rest = {k: place.zero(k) for k in self.idle} if idle is None else idle
        there = Place(place.link, {**place.position, self.joint: at, **rest})
        for follower in self.followers:
            follower.take(there, _no_root)
        loop = there.loops[self.loop]
        gap = sub(there.point(loop.second), there.point(loop.first))
        if self.along is not None:
            return dot(column(there.rest(self.along)[0], 2), gap)
        if isinstance(loop, Bar):
            return (dot(gap, gap) - loop.length_squared) / 2
        one, other = there.axes(loop.first), there.axes(loop.second)
        kind, *axes = CLOSING_ROWS[loop.kind][self.row]
        if kind == "base":
            return gap[axes[0]]
        return dot(column(one, axes[0]), gap if kind == "along" else column(other, axes[1]))

    def equation(self, place: Place) -> tuple[Scalar, Scalar, Scalar]:
        """(u, v, w) of the equation u c + v s + w = 0 for the joint's sine and cosine; (u, 0, w) of u d + w = 0."""
        zero, one = place.mech.zero, place.mech.one
        if not self.turns:
            w = self.residual(place, zero)
            return self.residual(place, one) - w, zero, w
        ahead, back = (self.residual(place, (zero, c)) for c in (one, -one))
        u, w = (ahead - back) / 2, (ahead + back) / 2
        return u, self.residual(place, (one, zero)) - w, w


def _no_root(value: Any, loop: str) -> FieldScalar:
    raise AssertionError("an affine relation takes no root")


class ClosedPlaces:
    """A mechanism at closed configurations (k, n): which joints are related, which equations place one joint."""

    def __init__(self, link: Linkage, places: Array) -> None:
        self.link, self.places = link, places
        self.size = size_of(link)
        world = world_frames(link, positions_of(link, places[0]))
        self.axes = np.array([cast(Any, column(R, 2)) for R in world.R], dtype=np.float64)

    def relation(self, joint: int, loop: str, others: Sequence[int]) -> AffineRelation | None:
        """How a joint follows from some of the others, if it does."""
        turns = self.link.tree.revolute
        alike = [k for k in others if turns[k] == turns[joint]]
        parallel = [k for k in alike if np.linalg.norm(np.cross(self.axes[k], self.axes[joint])) < SAME]
        for size, among in ((0, alike), (1, alike), (2, parallel), (3, parallel)):
            for some in combinations(among, size):
                for times in product((1, -1, 2, -2) if size == 1 else (1, -1), repeat=size):
                    terms = tuple(zip(some, times))
                    rest = self.places[:, joint] - sum(n * self.places[:, k] for k, n in terms)
                    found = self._constant(np.asarray(rest), turns[joint])
                    if found is not None:
                        return AffineRelation((joint,), (loop,), terms, *found)
        return None

    def _constant(self, values: Array, turning: bool) -> tuple[Angle, Fraction] | None:
        if not turning:
            near = Fraction(float(values[0])).limit_denominator(DENOMINATOR)
            return (Angle(), near) if np.abs(values - float(near)).max() < SAME * self.size else None
        twelfths = round(float(values[0]) * TWELFTH / np.pi)
        off = np.remainder(values - twelfths * np.pi / TWELFTH + np.pi, 2 * np.pi) - np.pi
        return (Angle(Fraction(twelfths % 24, TWELFTH)), Fraction(0)) if np.abs(off).max() < SAME else None

    def equations(self, loop: Meeting, unknown: Sequence[int], known: set[int]) -> Iterator[tuple[Step, ...]]:
        """Equations of a loop that place one of its unknown joints, each with the joints that follow."""
        turns = self.link.tree.revolute
        for joint in unknown:
            others = [k for k in unknown if k != joint]
            relations = {k: self.relation(k, loop.name, [*sorted(known), joint]) for k in others}
            followers = tuple(relation for relation in relations.values() if relation is not None)
            idle = tuple(k for k in others if relations[k] is None)
            rows: list[tuple[int, int | None]] = [(row, None) for row in range(len(CLOSING_ROWS[loop.kind]))]
            rows += [(0, k) for k in others if turns[k]]
            for row, along in rows:
                step = LinearSolve((joint,), (loop.name,), row, along, followers, idle, turns[joint])
                if self._places_it(step):
                    yield step, *followers

    def _places_it(self, step: LinearSolve) -> bool:
        """Whether the equation is linear in the joint, determines it, and does not depend on idle joints."""
        at = positions_of(self.link, self.places)
        place = Place(self.link, {k: p for k, p in enumerate(at) if k not in step.idle})
        own, near = self.places[:, step.joint], SAME * max(self.size, 1.0)
        with np.errstate(all="ignore"):
            u, v, w = (np.asarray(x, dtype=np.float64) for x in step.equation(place))

            def linear(q: Any) -> Array:
                return u * np.cos(q) + v * np.sin(q) + w if step.turns else u * q + w

            if not np.all(np.hypot(u, v) > 1e-6 * (min(self.size, 1.0) if step.turns else 1.0)):
                return False
            for q in (own, *np.random.default_rng(0).uniform(-1, 1, 3)):
                for stray in (0.0, 0.7):
                    loose = {k: self._position(k, stray) for k in step.idle}
                    value = np.asarray(step.residual(place, self._position(step.joint, q), loose), dtype=np.float64)
                    if not np.all(np.abs(value - linear(q)) < near):
                        return False
        return bool(np.abs(linear(own)).max() < near)

    def _position(self, k: int, q: Any) -> Any:
        return (np.sin(q), np.cos(q)) if self.link.tree.revolute[k] else q


def linear_steps(looked: ClosedPlaces, loops: Sequence[Bar | Meeting], known: set[int]) -> Iterator[tuple[Step, ...]]:
    """Steps that find further joints: an equation that is linear in one; else a joint related to known ones."""
    mech = looked.link.tree
    unknown = {
        loop.name: sorted(({*path(mech, loop.first.link)} ^ {*path(mech, loop.second.link)}) - known) for loop in loops
    }
    for loop in loops:
        if isinstance(loop, Meeting) and unknown[loop.name]:
            yield from looked.equations(loop, unknown[loop.name], known)
    for loop in loops:
        for joint in unknown[loop.name]:
            relation = looked.relation(joint, loop.name, sorted(known))
            if relation is not None:
                yield (relation,)
