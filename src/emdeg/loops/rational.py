"""Steps whose root is itself a formula of the coordinates: written out, so that no sign is chosen by size.

The two cranks of a parallelogram, the rods of an elliptic trammel: sqrt(sin^2 q) is not |sin q| but sin q, all the way
round. Whether a radicand is a square is first asked modulo a prime, where every second other number has no root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array, PrimeField, Quotient, QuotientField, Residue
from emdeg.dynamics.mechanism import Position
from emdeg.errors import NoSquare, OverBudget
from emdeg.loops.analytic_closure import Drawn, Pin, Plan, Slide, Step, Turn, Way, solve, take
from emdeg.loops.levels import LevelStep
from emdeg.loops.linkage import Linkage, linkage_of
from emdeg.loops.place import Place
from emdeg.robot import Robot, algebra_of, massless

POINTS = 24
"""Places modulo a prime at which a square must have a root."""
DRAWS = 64
"""Points tried modulo the prime: half of them fail at each square root."""
PLACES = 64
"""Of them with one prime."""
DEEPEST = 8
"""Of more roots than this a place at which all exist is not looked for."""
MOST_TERMS = 3000
"""Terms of a numerator or a denominator on the way; larger ones take minutes to reduce."""
LONG = 300
"""Terms of a formula beyond which it is not written out."""
_NO_FORMULA = (KeyError, NoSquare, OverBudget, ZeroDivisionError)
"""What is raised on the way to a formula that is none, or too long to be one."""


def written_out(robot: Robot, plan: Plan, start: Array, values: Mapping[str, float]) -> Plan:
    """The plan with a `Drawn` step for each whose result is a formula; sign by sign the same at `start` (n,).

    `values` are numbers for the symbols of the robot's geometry, with which the start is closed.
    """
    bare = massless(robot)
    squares = _squares(bare, plan)
    if not squares and not any(_is_formula(step) for step in plan):
        return plan
    algebra = QuotientField(algebra_of(bare, budget=MOST_TERMS))
    link = linkage_of(bare, algebra)
    place = Place(link, {k: _symbols(algebra, link, k) for k in link.coordinates})
    steps: list[Step] = []
    for i, step in enumerate(plan):
        steps.append(_drawn(place, step, start, values) if i in squares or _is_formula(step) else step)
        try:
            take(place, step, _formula_root)
            _need_short(place, step)
        except _NO_FORMULA:  # what follows from here is no formula
            for k in _joints(step):
                place.position.pop(k, None)
    return tuple(steps)


def places_modulo_a_prime(robot: Robot, plan: Plan) -> Iterator[tuple[Linkage, list[Position], int]]:
    """(linkage without masses, closed configuration by the plan, prime) at random residues, where its roots and
    quotients exist.

    A root exists at every second place: the more of them have been seen to, the more places are tried, unless they are
    too many for that. Now and then the prime is another: what a robot's constants need may have no root modulo one.
    """
    bare = massless(robot)
    deepest = drawn = 0
    while drawn < DRAWS << deepest and deepest <= DEEPEST:
        field = PrimeField.fresh()
        link = linkage_of(bare, field)
        for place in range(PLACES):
            drawn, roots = drawn + 1, 0

            def root(value: Residue, _: str, field: PrimeField = field) -> Residue:
                nonlocal roots, deepest
                found = field.sqrt(value)
                roots += 1
                deepest = max(deepest, roots)
                return found

            try:
                found = solve(link, plan, _random_coordinates(link, field, place), root)
            except ZeroDivisionError:
                continue
            yield link, found, field.prime


def _squares(robot: Robot, plan: Plan) -> set[int]:
    """The steps with a root that exists at every point tried."""
    asked, refused, field = [0] * len(plan), set(), PrimeField.fresh()
    link = linkage_of(robot, field)
    for point in range(8 * POINTS):
        place = Place(link, _random_coordinates(link, field, point))
        for i, step in enumerate(plan):
            try:
                take(place, step, lambda value, _: field.sqrt(value))
            except ZeroDivisionError:
                refused.add(i)
                break
            asked[i] += 1
        if all(i in refused or count >= POINTS for i, count in enumerate(asked)):
            break
    turning = {i for i, step in enumerate(plan) if isinstance(step, Turn | Slide | LevelStep)}
    return {i for i in turning if i not in refused and asked[i] >= POINTS}


def field_coordinates(link: Linkage, field: PrimeField) -> dict[int, Position]:
    """Random residues for the independent coordinates: numbered by their place among them, as a program's q is."""
    return {
        k: link.tree.joints[k].position(
            lambda _, place=place: field.displacement(place), lambda _, place=place: field.joint_sincos(place)
        )
        for place, k in enumerate(link.coordinates)
    }


def _random_coordinates(link: Linkage, field: PrimeField, place: int) -> dict[int, Position]:
    """The coordinates of one of many places; what is constant stays as the field has it."""
    return field_coordinates(link, PrimeField(f"{field.seed} {place}", field.prime))


def _symbols(algebra: QuotientField, link: Linkage, k: int) -> Position:
    return algebra.joint_sincos(k + 1) if link.tree.revolute[k] else algebra.displacement(k + 1)


def _joints(step: Step) -> tuple[int, ...]:
    return step.joints if hasattr(step, "joints") else (step.joint,)  # type: ignore[union-attr]


def _formula_root(value: Quotient, _: str) -> Quotient:
    if len(value) > LONG:
        raise NoSquare
    found = value.square_root()
    if found is None:
        raise NoSquare
    return found


def _need_short(place: Place, step: Step) -> None:
    for k in _joints(step):
        if sum(len(part) for part in _parts(place.position[k])) > LONG:
            raise NoSquare


def _parts(position: Any) -> tuple[Any, ...]:
    return position if isinstance(position, tuple) else (position,)


def _is_formula(step: Step) -> bool:
    """Whether the step is linear, and takes no root."""
    return isinstance(step, Pin) or (isinstance(step, LevelStep) and not step.turns)


def _drawn(place: Place, step: Step, start: Array, values: Mapping[str, float]) -> Step:
    """The step's formulas, or the step itself where they are long or need what is none."""
    assert isinstance(step, Turn | Slide | Pin | LevelStep)
    ways: list[Way] = []
    try:
        for sign in (1,) if _is_formula(step) else (1, -1):
            there = Place(place.link, place.position)
            take(there, step if isinstance(step, Pin) else replace(step, sign=sign), _formula_root)
            _need_short(there, step)
            ways.append(_way(there.position[step.joint]))
    except _NO_FORMULA:
        return step
    if isinstance(step, Pin) or _is_formula(step):
        return Drawn(step.joint, step.loop, tuple(ways))
    missed = [_missed(way, start, step.joint, values) for way in ways]
    if (missed[0] <= missed[1]) != (step.sign > 0):
        ways.reverse()
    return Drawn(step.joint, step.loop, tuple(ways), step.sign)


def _way(position: Any) -> Way:
    quotients: tuple[Quotient, ...] = _parts(position)
    below = quotients[0].denominator
    if any(q.denominator != below for q in quotients):
        s, c = quotients
        return Way((s.numerator * c.denominator, c.numerator * s.denominator), s.denominator * c.denominator)
    return Way(tuple(q.numerator for q in quotients), below)


def _missed(way: Way, start: Array, joint: int, values: Mapping[str, float]) -> float:
    """By how much the way misses the joint's position at the start."""
    below = float(way.below.evaluate(start, parameters=values))
    found = [float(formula.evaluate(start, parameters=values)) / below for formula in way.above]
    wanted = [np.sin(start[joint]), np.cos(start[joint])] if len(found) == 2 else [start[joint]]
    return float(np.abs(np.subtract(found, wanted)).max())
