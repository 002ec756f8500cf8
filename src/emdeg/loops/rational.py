"""Steps whose result is itself a formula of the coordinates: written out, so that no sign is chosen by size.

The two cranks of a parallelogram, the rods of an elliptic trammel: sqrt(sin^2 q) is not |sin q| but sin q, all the way
round. Whether a radicand is a square is first asked modulo a prime, where every second other number has no root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from emdeg.algebra import Array, PrimeField, Quotient, QuotientField, Residue
from emdeg.dynamics.mechanism import Position
from emdeg.errors import NoSquare, OverBudget
from emdeg.loops.analytic_closure import CircleIntersection, ClosedForm, Expression, Plan, Step, solve
from emdeg.loops.linear_steps import LinearSolve
from emdeg.loops.linkage import Linkage, Place, linkage_of
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
    """The plan with a `ClosedForm` for each step whose result is a formula; sign by sign the same at `start` (n,).

    `values` are numbers for the symbols of the robot's geometry, with which the start is closed.
    """
    bare = massless(robot)
    chosen = [i for i, step in enumerate(plan) if isinstance(step, CircleIntersection | LinearSolve)]
    squares = _squares(bare, plan) if any(plan[i].roots for i in chosen) else set()
    chosen = [i for i in chosen if i in squares or not plan[i].roots]
    if not chosen:
        return plan
    algebra = QuotientField(algebra_of(bare, budget=MOST_TERMS))
    link = linkage_of(bare, algebra)
    place = Place(link, {k: _symbols(algebra, link, k) for k in link.coordinates})
    steps: list[Step] = []
    for i, step in enumerate(plan):
        steps.append(_closed_form(place, step, start, values) if i in chosen else step)
        try:
            _take(place, step)
        except _NO_FORMULA:  # what follows from here is no formula
            for k in step.joints:
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
    """The steps whose roots exist at every point tried."""
    asked, refused, field = [0] * len(plan), set(), PrimeField.fresh()
    link = linkage_of(robot, field)
    for point in range(8 * POINTS):
        place = Place(link, _random_coordinates(link, field, point))
        for i, step in enumerate(plan):
            try:
                step.take(place, lambda value, _: field.sqrt(value))
            except ZeroDivisionError:
                refused.add(i)
                break
            asked[i] += 1
        if all(i in refused or count >= POINTS for i, count in enumerate(asked)):
            break
    return {i for i in range(len(plan)) if i not in refused and asked[i] >= POINTS}


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


def _formula_root(value: Quotient, _: str) -> Quotient:
    found = value.square_root() if len(value) <= LONG else None
    if found is None:
        raise NoSquare
    return found


def _take(place: Place, step: Step) -> None:
    """The step in formulas; one of `_NO_FORMULA` where its result is none, or too long to be one."""
    step.take(place, _formula_root)
    for k in step.joints:
        if sum(len(part) for part in _parts(place.position[k])) > LONG:
            raise NoSquare


def _parts(position: Any) -> tuple[Any, ...]:
    return position if isinstance(position, tuple) else (position,)


def _closed_form(place: Place, step: Step, start: Array, values: Mapping[str, float]) -> Step:
    """The step's formulas, or the step itself where they are too long or do not exist."""
    found: list[Expression] = []
    try:
        for variant in step.variants():
            there = Place(place.link, place.position)
            _take(there, variant)
            found.append(_expression(there.position[step.joint]))
    except _NO_FORMULA:
        return step
    if len(found) == 2:
        missed = [_missed(one, start, step.joint, values) for one in found]
        if (missed[0] <= missed[1]) != (step.sign > 0):
            found.reverse()
    return ClosedForm(step.joints, step.loops, tuple(found), sign=step.sign)


def _expression(position: Any) -> Expression:
    parts: tuple[Quotient, ...] = _parts(position)
    below = parts[0].denominator
    if all(part.denominator == below for part in parts):
        return Expression(tuple(part.numerator for part in parts), below)
    s, c = parts
    return Expression((s.numerator * c.denominator, c.numerator * s.denominator), below * c.denominator)


def _missed(found: Expression, start: Array, joint: int, values: Mapping[str, float]) -> float:
    """By how much the expression misses the joint's position at the start."""
    below = float(found.denominator.evaluate(start, parameters=values))
    parts = [float(formula.evaluate(start, parameters=values)) / below for formula in found.numerators]
    wanted = [np.sin(start[joint]), np.cos(start[joint])] if len(parts) == 2 else [start[joint]]
    return float(np.abs(np.subtract(parts, wanted)).max())
