"""Finds the steps that close a robot's loops analytically, or finds that there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, product
from typing import Any, cast

import numpy as np

from emdeg.algebra import Array, Floats
from emdeg.dynamics.mechanism import path
from emdeg.dynamics.spatial import Vec3, column, cross, dot, scale, sub
from emdeg.errors import RobotError
from emdeg.loops.analytic_closure import (
    Aim,
    CircleIntersection,
    ClosedForm,
    Gap,
    Leg,
    Plan,
    SphereIntersection,
    Step,
    ends,
    lifted,
    solve,
    triangle,
)
from emdeg.loops.linear_steps import ClosedPlaces, linear_steps
from emdeg.loops.linkage import Bar, Linkage, Meeting, Place, linkage_of, open_values
from emdeg.loops.newton import open_rows, positions_of, size_of
from emdeg.loops.rational import places_modulo_a_prime, written_out
from emdeg.robot import Robot

NEAR = 1e-9
TRIED = 200
"""Places all over the coordinates' range at which a plan must close every loop, redundant equations included."""
MISSED = 1e-9
"""What a row, scaled by the mechanism's size, may miss there; places where a root is as good as zero are left out."""

Loop = Bar | Meeting


def find_plan(link: Linkage, start: Array, generic: Array) -> Plan | None:
    """The steps, their signs those of the closed configuration `start` (n,); None where the loops do not factor.

    `generic` (k, n) are other closed configurations near it, where nothing is parallel or stretched that need not be.
    """
    place = Place(link, dict(enumerate(positions_of(link, generic[0]))))
    looked = ClosedPlaces(link, generic)
    open_ = [*link.loops]
    known = set(link.coordinates)
    plan: list[Step] = []
    while open_:
        placed = [loop for loop in open_ if _carriers(place, loop) <= known]  # steps are stated in the base's frame
        if (candidate := next(_candidates(place, placed, known), None)) is not None:
            step, closed = candidate
            steps: Sequence[Step] = (step,)
            open_ = [loop for loop in open_ if loop not in closed]
        elif all(not _unknown(place, loop, known) for loop in open_):
            break
        elif (steps := next(linear_steps(looked, placed, known), ())) == ():
            return None
        plan += steps
        known |= {k for step in steps for k in step.joints}
    if len(known) < link.n:
        return None
    at_start = dict(enumerate(positions_of(link, start)))
    return tuple(_signed_as(link, step, at_start) for step in plan)


def settled(
    link: Linkage, robot: Robot, plan: Plan, start: Array, values: Mapping[str, float] | None = None
) -> Plan | None:
    """The plan with formulas written out, if it closes every loop wherever it goes through; None if it does not.

    `link` is over doubles; the robot's geometry may have symbols, then `values` are the numbers that the start is
    closed with.
    """
    plan = written_out(robot, plan, start, values or {})
    over = linkage_of(robot, Floats(values)) if values else link
    if not _holds(over, plan, start) or not is_exact(robot, plan):
        return None
    for i, step in enumerate(plan):  # where other loops rule out one of two expressions, the other is left
        if isinstance(step, ClosedForm) and step.signs:
            other = replace(step, sign=-step.sign)
            if not _holds(over, (*plan[:i], other, *plan[i + 1 :]), start, near=False):
                sole = ClosedForm(step.joints, step.loops, (step.expressions[0 if step.sign > 0 else -1],))
                plan = (*plan[:i], sole, *plan[i + 1 :])
    return plan


def is_exact(robot: Robot, plan: Plan) -> bool:
    """Whether every equation, redundant ones too, holds exactly at a place modulo a prime, whatever the symbols are.

    One place is enough: there are 2^54 primes to draw from, and the equations' degrees are small. Sizes that are
    special only up to rounding make a mechanism that moves, but none of which anything can be proved.
    """
    for link, position, _ in islice(places_modulo_a_prime(robot, plan), 1):
        if any(value for _, value in open_values(link, position)):
            return False
    return True


def moded(plan: Plan, modes: Mapping[str, int]) -> Plan:
    """The plan with the signs that are asked for, by loop; RobotError where a loop has no such choice."""
    left, steps = set(modes), []
    for step in plan:
        if step.signs:
            names = [*reversed(step.loops), *step.signs]  # of three rods each may name their step
            wanted = {(step.loop if n in step.loops else n): modes[n] for n in names if n in modes}
            left -= set(names)
            step = step.with_signs(wanted)
        steps.append(step)
    if left:
        raise RobotError("the loop has no mode to choose: the others leave it one way to close", body=min(left))
    return tuple(steps)


def _unknown(place: Place, loop: Loop, known: set[int]) -> list[int]:
    joints = {*path(place.mech, loop.first.link)} ^ {*path(place.mech, loop.second.link)}
    return sorted(joints - known)


def _carriers(place: Place, loop: Loop) -> set[int]:
    """The joints that carry a loop as a whole."""
    return {*path(place.mech, loop.first.link)} & {*path(place.mech, loop.second.link)}


def _candidates(place: Place, loops: Sequence[Loop], known: set[int]) -> Iterator[tuple[Step, Sequence[Loop]]]:
    """(step, the loops that it closes), the cheapest first."""
    revolute = place.mech.revolute
    for loop in loops:
        unknown, names = _unknown(place, loop, known), (loop.name,)
        if len(unknown) == 1 and isinstance(loop, Bar):
            if not revolute[unknown[0]]:
                yield CircleIntersection((*unknown,), names, (Gap(),)), [loop]
        elif isinstance(loop, Bar) or loop.kind == "prismatic":
            continue
        elif len(unknown) == 1 and not revolute[unknown[0]]:
            yield Aim((*unknown,), names), [loop]
        elif len(unknown) == 1:
            for lift in _lifts(place, loop):
                if _is_off_axis(place, unknown[0], loop, lift):
                    yield Aim((*unknown,), names, lift), [loop]
        elif len(unknown) == 2:
            for k, elbow in (unknown, unknown[::-1]):
                if not revolute[k] and revolute[elbow] and abs(_dot(_axis(place, k), _axis(place, elbow))) < NEAR:
                    yield CircleIntersection((k,), names, (Gap(elbow),)), []
        elif len(unknown) == 3 and _is_leg(place, *unknown):
            yield Leg((*unknown,), names), [loop]
    yield from _turns(place, loops, known)
    for rods in combinations([loop for loop in loops if isinstance(loop, Bar)], 3):
        unknown = _unknown(place, rods[0], known)
        if len(unknown) == 3 and all(_unknown(place, rod, known) == unknown for rod in rods):
            i, j, k = unknown
            square = all(abs(_dot(_axis(place, a), _axis(place, b))) < NEAR for a, b in combinations(unknown, 2))
            chain = place.mech.parent[j] == i and place.mech.parent[k] == j
            if not any(revolute[joint] for joint in unknown) and square and chain:
                yield SphereIntersection((i, j, k), tuple(rod.name for rod in rods)), rods


def _turns(place: Place, loops: Sequence[Loop], known: set[int]) -> Iterator[tuple[Step, Sequence[Loop]]]:
    """Revolute joints that distances place: by two of them without a root, else by the one that determines most."""
    found: dict[int, list[tuple[Gap, Loop, Array]]] = {}
    for loop in loops:
        for k, gap in _gaps(place, loop, known):
            t = triangle(place, k, gap, loop.name)
            size = float(np.linalg.norm(np.array(t.C[:2], float)) * np.linalg.norm(np.array(t.a[:2], float)))
            uv = np.array(t.equation, dtype=np.float64)
            if size > NEAR**2 and np.linalg.norm(uv) > NEAR * size:
                found.setdefault(k, []).append((gap, loop, uv / np.linalg.norm(uv)))
    for k, gaps in found.items():
        pairs = {abs(a[2][0] * b[2][1] - a[2][1] * b[2][0]): (a, b) for a, b in combinations(gaps, 2)}
        if pairs and max(pairs) > 1e-6:
            two = pairs[max(pairs)]
            step = CircleIntersection((k,), tuple(loop.name for _, loop, _ in two), tuple(gap for gap, _, _ in two))
            yield step, [loop for _, loop, _ in two if isinstance(loop, Bar)]
    for k, gaps in found.items():
        gap, loop, _ = gaps[0]
        yield CircleIntersection((k,), (loop.name,), (gap,)), [loop] if isinstance(loop, Bar) else []


def _gaps(place: Place, loop: Loop, known: set[int]) -> Iterator[tuple[int, Gap]]:
    """(joint, distance): what the loop requires of a single revolute joint."""
    unknown = _unknown(place, loop, known)
    if not all(place.mech.revolute[k] for k in unknown):
        return
    if isinstance(loop, Bar):
        if len(unknown) == 1:
            yield unknown[0], Gap()
        return
    if len(unknown) != 2 or loop.kind == "prismatic":
        return
    i, j = unknown
    facing = place.moves(i, loop.first) != place.moves(j, loop.first)
    turned = cross(_axis(place, i), _axis(place, j))
    for k, elbow in ((i, j), (j, i)) if facing else ((i, j),):
        if _dot(turned, turned) < NEAR:
            yield k, Gap(elbow)
            continue
        for by, up in product(_lifts(place, loop), (0, 1)):
            yield k, Gap(elbow, (up, by), level=False)


def _lifts(place: Place, loop: Meeting) -> tuple[int, ...]:
    """What `lifted` may be: zero or, where the closing joint holds the closing z axes together, 1 if they point the
    same way and -1 if they are opposite."""
    one, two = (column(place.axes(end), 2) for end in (loop.first, loop.second))
    return (0, 1 if _dot(one, two) >= 0 else -1) if loop.kind in ("revolute", "fixed") else (0,)


def _is_off_axis(place: Place, k: int, loop: Meeting, lift: int) -> bool:
    """Whether the point that the joint aims with is off its axis."""
    x, y, _ = place.local(lifted(ends(place, k, loop.name)[0], lift), k)
    return float(np.hypot(cast(float, x), cast(float, y))) > NEAR


def _axis(place: Place, k: int) -> Vec3:
    return column(place.world(k)[0], 2)


def _dot(u: Vec3, v: Vec3) -> float:
    """u . v: a plan is found in doubles, from the robot at its start."""
    return cast(float, dot(u, v))


def _is_leg(place: Place, i: int, j: int, k: int) -> bool:
    """Two crossing revolute joints and a prismatic one through their crossing, at right angles to the second."""
    mech = place.mech
    if [mech.revolute[joint] for joint in (i, j, k)] != [True, True, False]:
        return False
    if mech.parent[j] != i or mech.parent[k] != j:
        return False
    second, slide = place.hinge(j), place.hinge(k)
    axis = column(slide.R, 2)
    off_axis = sub(slide.p, scale(dot(axis, slide.p), axis))
    square = abs(cast(float, second.R[2][2])) < NEAR and abs(cast(float, slide.R[2][2])) < NEAR
    return square and _dot(second.p, second.p) < NEAR and _dot(off_axis, off_axis) < NEAR


def _signed_as(link: Linkage, step: Step, position: Mapping[int, Any]) -> Step:
    """The step with the signs that the configuration has."""
    known = {k: at for k, at in position.items() if k not in step.joints}

    def miss(variant: Step) -> float:
        there = Place(link, known)
        with np.errstate(all="ignore"):
            variant.take(there, lambda value, _: np.sqrt(np.maximum(value, 0.0)))
            off = [np.abs(np.subtract(np.asarray(there.position[k]), position[k])).max() for k in step.joints]
        return round(float(np.nan_to_num(off, nan=np.inf, posinf=1e300).max()), 6)

    return min(step.variants(), key=miss)


def _holds(link: Linkage, plan: Plan, start: Array, *, near: bool = True) -> bool:
    """Whether the steps close every loop, redundant equations too: at and near the start, and wherever roots exist."""
    rng = np.random.default_rng(1)
    turning = np.array(link.tree.revolute)
    far = np.where(turning, np.pi, 0.5 * size_of(link))
    here = start + 1e-3 * np.array([0.0, 1.0, 1.0])[:, None] * rng.uniform(-1, 1, (3, link.n))
    q = np.concatenate([here, start + far * rng.uniform(-1, 1, (TRIED, link.n))])
    at = positions_of(link, q)
    roots: list[Array] = []

    def root(value: Any, _: str) -> Array:
        roots.append(np.broadcast_to(value, q.shape[:1]))
        return np.sqrt(value)

    with np.errstate(all="ignore"):
        found = solve(link, plan, {k: at[k] for k in link.coordinates}, root)
        worst = np.broadcast_to(open_rows(link, found).max(axis=-1), q.shape[:1])
    if near and not np.all(worst[:3] < MISSED / 10):
        return False
    sound = np.isfinite(worst)
    for value in roots:
        sound &= value > 1e-6 * np.nanmax(np.abs(value))
    return bool(np.all(worst[sound] < MISSED))
