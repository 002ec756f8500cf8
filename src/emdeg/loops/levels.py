"""Steps that close loops by a closure equation itself, and by what joints have in common.

A closure equation is linear in the sine and cosine of a joint if what else it depends on is known: it places the joint
by one root. Joints that always turn together, or not at all, as parallel axes and symmetry make them, are tied to
others. Both are found by looking (`ties`), and kept because every equation then holds exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from emdeg.algebra import NO_ANGLE, Angle, FieldScalar, add_angles, multiple_angle
from emdeg.dynamics.mechanism import Position
from emdeg.dynamics.spatial import Scalar, column, dot, sub
from emdeg.loops.linkage import CLOSING_ROWS, Bar, Meeting
from emdeg.loops.place import Place

Root = Callable[[Any, str], FieldScalar]
"""The square root, of the radicand's kind, and the loop that it belongs to (for the error if there is no root)."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A joint that is a sum of multiples of others and a constant: `turn` of one that turns, `shift` [m] of a slide."""

    joint: int
    loop: str
    terms: tuple[tuple[int, int], ...] = ()
    turn: Angle = NO_ANGLE
    shift: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class LevelStep:
    """A joint that meets one closure equation: of its loop's the one numbered `row`, or the gap along an axis.

    `along` is the joint whose axis that is. `ties` are joints that move with this one, `idle` those that the equation
    does not depend on. `turns`: by a root, of the sign; a slide needs none.
    """

    joint: int
    loop: str
    row: int = 0
    along: int | None = None
    ties: tuple[Tie, ...] = ()
    idle: tuple[int, ...] = ()
    turns: bool = True
    sign: int = 1


def tied(place: Place, step: Tie) -> Position:
    """Where a tied joint is, the others known."""
    mech = place.mech
    if not mech.revolute[step.joint]:
        total: Any = mech.zero + mech.algebra.number(step.shift)
        for k, times in step.terms:
            total = total + times * cast(Any, place.position[k])
        return total
    angle: tuple[Any, Any] | None = None if step.turn.is_zero and step.terms else mech.algebra.sincos(step.turn)
    for k, times in step.terms:
        pair = cast(tuple[Any, Any], place.position[k])
        turned = multiple_angle(pair, times, mech.one, mech.zero) if abs(times) != 1 else (times * pair[0], pair[1])
        angle = turned if angle is None else add_angles(angle, turned)
    assert angle is not None
    return angle


def row_value(place: Place, loop: Bar | Meeting, row: int) -> Scalar:
    """What the loop's closure equation `row` misses, where its ends are known."""
    U = sub(place.point(loop.second), place.point(loop.first))
    if isinstance(loop, Bar):
        return (dot(U, U) - loop.length_squared) / 2
    one, other = place.axes(loop.first), place.axes(loop.second)
    kind, *axes = CLOSING_ROWS[loop.kind][row]
    if kind == "base":
        return U[axes[0]]
    return dot(column(one, axes[0]), U if kind == "along" else column(other, axes[1]))


def missed(
    place: Place, step: LevelStep, loop: Bar | Meeting, at: Position, idle: Mapping[int, Position] | None = None
) -> Scalar:
    """What the equation misses with the joint `at` a place, joints that do not count anywhere (at rest)."""
    rest = {k: place.zero(k) for k in step.idle} if idle is None else idle
    there = Place(place.link, {**place.position, step.joint: at, **rest})
    for tie in step.ties:
        there.position[tie.joint] = tied(there, tie)
    if step.along is None:
        return row_value(there, loop, step.row)
    gap = sub(there.point(loop.second), there.point(loop.first))
    return dot(column(there.rest(step.along)[0], 2), gap)


def level_of(place: Place, step: LevelStep, loop: Bar | Meeting) -> tuple[Scalar, Scalar, Scalar]:
    """(u, v, w) of the equation u c + v s + w = 0 for the joint's sine and cosine; (u, 0, w) of u d + w = 0."""
    zero, one = place.mech.zero, place.mech.one
    if not step.turns:
        w = missed(place, step, loop, zero)
        return missed(place, step, loop, one) - w, zero, w
    ahead, back = (missed(place, step, loop, (zero, c)) for c in (one, -one))
    u, w = (ahead - back) / 2, (ahead + back) / 2
    return u, missed(place, step, loop, (one, zero)) - w, w


def take_level(place: Place, step: LevelStep, loop: Bar | Meeting, root: Root) -> None:
    """The joint's position becomes known."""
    u, v, w = (cast(FieldScalar, x) for x in level_of(place, step, loop))
    if not step.turns:
        place.position[step.joint] = -(w / u)
        return
    square = u * u + v * v
    h = root(square - w * w, step.loop)
    h = h if step.sign > 0 else -h
    per = 1 / square
    place.position[step.joint] = (u * h - v * w) * per, -((u * w + v * h) * per)
