"""Finds the steps that close a robot's loops analytically, or finds that there are none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice, product
from typing import Any, cast

import numpy as np

from emdeg.algebra import Array, Floats
from emdeg.dynamics.mechanism import joint_conditions, link_frame, path
from emdeg.dynamics.spatial import Vec3, column, cross, dot, scale, sub, tmul
from emdeg.errors import RobotError
from emdeg.loops.analytic_closure import (
    Aim,
    Draw,
    Drawn,
    Gap,
    Pin,
    Plan,
    Point,
    Slide,
    Step,
    Trilaterate,
    Turn,
    ends,
    lifted,
    linear_gap,
    solve,
    triangle,
)
from emdeg.loops.levels import LevelStep, level_of
from emdeg.loops.linkage import Bar, Linkage, Meeting, constraints, linkage_of, world_frames
from emdeg.loops.newton import open_rows, positions_of, size_of
from emdeg.loops.place import Place
from emdeg.loops.rational import places_modulo_a_prime, written_out
from emdeg.loops.ties import ClosedPlaces, further_steps
from emdeg.robot import Robot

NEAR = 1e-9
TRIED = 200
"""Places all over the coordinates' range at which a plan must close every loop, redundant equations included."""
MISSED = 1e-9
"""What a row, scaled by the mechanism's size, may miss there; places where a root is as good as zero are left out."""


def find_plan(link: Linkage, start: Array, generic: Array) -> Plan | None:
    """The steps, their signs those of the closed configuration `start` (n,); None where the loops do not factor.

    `generic` (k, n) are other closed configurations near it, where nothing is parallel or stretched that need not be.
    """
    place = Place(link, dict(enumerate(positions_of(link, generic[0]))))
    looked = ClosedPlaces(link, generic)
    open_ = [*link.bars, *link.meetings]
    known = set(link.coordinates)
    plan: list[Step] = []
    while open_:
        placed = [loop for loop in open_ if _carriers(place, loop) <= known]  # steps are told in the base's frame
        for step, used, found in _candidates(place, placed, known):
            plan.append(step)
            known |= found
            open_ = [loop for loop in open_ if loop not in used]
            break
        else:
            if all(not _unknown(place, loop, known) for loop in open_):
                break
            further = next(further_steps(looked, placed, known), None)
            if further is None:
                return None
            steps, found = further
            plan += steps
            known |= found
    if len(known) < link.n:
        return None
    at_start = Place(link, dict(enumerate(positions_of(link, start))))
    return tuple(_signed(at_start, step, start) for step in plan)


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
    return _sole_ways(over, plan, start)


def is_exact(robot: Robot, plan: Plan) -> bool:
    """Whether every equation, redundant ones too, holds exactly at a place modulo a prime, whatever the symbols are.

    One place is enough: there are 2^54 primes to draw from, and the equations' degrees are small. Sizes that are
    special only up to rounding make a mechanism that moves, but none of which anything can be proved.
    """
    for link, position, _ in islice(places_modulo_a_prime(robot, plan), 1):
        rows = constraints(link, world_frames(link, position))
        if any(row.value for row in rows) or any(joint_conditions(link.tree, position)):
            return False
    return True


def _sole_ways(link: Linkage, plan: Plan, start: Array) -> Plan:
    """The plan without the ways that close a loop's own equations only: other loops' rule them out."""
    for i, step in enumerate(plan):
        if isinstance(step, Drawn) and len(step.ways) == 2:
            other = replace(step, sign=-step.sign)
            if not _holds(link, (*plan[:i], other, *plan[i + 1 :]), start, near=False):
                sole = Drawn(step.joint, step.loop, (step.ways[0 if step.sign > 0 else -1],))
                plan = (*plan[:i], sole, *plan[i + 1 :])
    return plan


def moded(plan: Plan, modes: Mapping[str, int]) -> Plan:
    """The plan with the signs that are asked for, by loop; RobotError where a loop has no such choice."""
    left = dict(modes)
    steps: list[Step] = []
    for step in plan:
        names = step.loops if isinstance(step, Trilaterate) else (step.loop,)
        wanted = next((modes[name] for name in names if name in modes), None)
        if wanted is not None and is_signed(step):
            step = replace(step, sign=wanted)  # type: ignore[call-arg]
            left = {name: sign for name, sign in left.items() if name not in names}
        if isinstance(step, Point) and (along := f"{step.loop}:along") in modes:
            step = replace(step, along=left.pop(along))
        steps.append(step)
    if left:
        raise RobotError("the loop has no mode to choose: the others leave it one way to close", body=min(left))
    return tuple(steps)


def is_signed(step: Step) -> bool:
    """Whether the step has two branches."""
    if isinstance(step, LevelStep):
        return step.turns
    return isinstance(step, Turn | Slide | Point | Trilaterate) or (isinstance(step, Drawn) and len(step.ways) == 2)


def _unknown(place: Place, loop: Bar | Meeting, known: set[int]) -> list[int]:
    joints = {*path(place.mech, loop.first.link)} ^ {*path(place.mech, loop.second.link)}
    return sorted(joints - known)


def _carriers(place: Place, loop: Bar | Meeting) -> set[int]:
    """The joints that carry a loop as a whole."""
    return {*path(place.mech, loop.first.link)} & {*path(place.mech, loop.second.link)}


def _candidates(
    place: Place, loops: list[Bar | Meeting], known: set[int]
) -> Iterator[tuple[Step, list[Bar | Meeting], set[int]]]:
    revolute = place.mech.revolute
    for loop in loops:
        unknown = _unknown(place, loop, known)
        if len(unknown) == 1 and not revolute[unknown[0]]:
            (k,) = unknown
            if isinstance(loop, Bar):
                yield Slide(k, loop.name), [loop], {k}
            elif loop.kind != "prismatic":
                yield Draw(k, loop.name), [loop], {k}
        elif isinstance(loop, Meeting) and len(unknown) == 1 and loop.kind != "prismatic":
            (k,) = unknown
            for along in _lifts(place, loop):
                if _length_across(place, Aim(k, loop.name, along), loop) > NEAR:
                    yield Aim(k, loop.name, along), [loop], {k}
        elif isinstance(loop, Meeting) and len(unknown) == 3 and _points(place, *unknown):
            i, j, k = unknown
            yield Point((i, j, k), loop.name), [loop], {i, j, k}
        elif isinstance(loop, Meeting) and len(unknown) == 2 and loop.kind != "prismatic":
            for k, elbow in (unknown, unknown[::-1]):
                if not revolute[k] and revolute[elbow] and _upright(place, k, elbow):
                    yield Slide(k, loop.name, elbow=elbow), [], {k}
    yield from _turns(place, loops, known)
    bars = [loop for loop in loops if isinstance(loop, Bar)]
    for three in combinations(bars, 3):
        unknown = _unknown(place, three[0], known)
        if len(unknown) == 3 and all(_unknown(place, bar, known) == unknown for bar in three):
            i, j, k = unknown
            axes = [column(place.world(joint)[0], 2) for joint in unknown]
            square = all(abs(_dot(a, b)) < NEAR for a, b in combinations(axes, 2))
            chain = place.mech.parent[j] == i and place.mech.parent[k] == j
            if not any(revolute[joint] for joint in unknown) and square and chain:
                yield Trilaterate((i, j, k), tuple(bar.name for bar in three)), [*three], {i, j, k}  # type: ignore[arg-type]


def _turns(
    place: Place, loops: list[Bar | Meeting], known: set[int]
) -> Iterator[tuple[Step, list[Bar | Meeting], set[int]]]:
    """Revolute joints that distances place: by two of them without a root, else by the one that says most."""
    found: dict[int, list[tuple[Gap, Bar | Meeting, Array]]] = {}
    for loop in loops:
        for k, gap in _gaps(place, loop, known):
            t = triangle(place, k, gap, loop)
            size = float(np.linalg.norm(np.array(t.C[:2], float)) * np.linalg.norm(np.array(t.a[:2], float)))
            says = np.array(linear_gap(t), dtype=np.float64)
            if size > NEAR**2 and np.linalg.norm(says) > NEAR * size:
                found.setdefault(k, []).append((gap, loop, says / np.linalg.norm(says)))
    for k, gaps in found.items():
        pairs = {abs(a[2][0] * b[2][1] - a[2][1] * b[2][0]): (a, b) for a, b in combinations(gaps, 2)}
        if pairs and max(pairs) > 1e-6:
            one, two = pairs[max(pairs)]
            yield Pin(k, (one[0], two[0])), [x[1] for x in (one, two) if isinstance(x[1], Bar)], {k}
    for k, gaps in found.items():
        gap, loop, _ = gaps[0]
        yield Turn(k, gap), [loop] if isinstance(loop, Bar) else [], {k}


def _gaps(place: Place, loop: Bar | Meeting, known: set[int]) -> Iterator[tuple[int, Gap]]:
    """(joint, distance): what the loop asks of a single revolute joint."""
    unknown = _unknown(place, loop, known)
    if not all(place.mech.revolute[k] for k in unknown):
        return
    if isinstance(loop, Bar):
        if len(unknown) == 1:
            yield unknown[0], Gap(loop.name)
        return
    if len(unknown) != 2 or loop.kind == "prismatic":
        return
    i, j = unknown
    facing = place.moves(i, loop.first) != place.moves(j, loop.first)
    for k, elbow in ((i, j), (j, i)) if facing else ((i, j),):
        if _parallel(place, i, j):
            yield k, Gap(loop.name, elbow)
            continue
        for by, up in product(_lifts(place, loop), (0, 1)):
            yield k, Gap(loop.name, elbow, (up, by), level=False)


def _lifts(place: Place, loop: Meeting) -> tuple[int, ...]:
    """What `lifted` may be: no way along the closing z axes, or one where the closing joint holds these together."""
    return (0, _same_way(place, loop)) if loop.kind in ("revolute", "fixed") else (0,)


def _same_way(place: Place, loop: Meeting) -> int:
    """1 if the closing frames' z axes point the same way, -1 if they are opposite."""
    one, two = (column(place.axes(end), 2) for end in (loop.first, loop.second))
    return 1 if _dot(one, two) >= 0 else -1


def _length_across(place: Place, step: Aim, loop: Meeting) -> float:
    """How far from the joint's axis the point lies that it aims with."""
    moving, _ = ends(place, step.joint, loop)
    e = place.local(lifted(moving, step.lifted), step.joint)
    return float(np.hypot(cast(float, e[0]), cast(float, e[1])))


def _parallel(place: Place, i: int, j: int) -> bool:
    turned = cross(column(place.world(i)[0], 2), column(place.world(j)[0], 2))
    return _dot(turned, turned) < NEAR


def _upright(place: Place, k: int, elbow: int) -> bool:
    """Whether a slide is at right angles to the axis of a joint that turns."""
    return abs(_dot(column(place.world(k)[0], 2), column(place.world(elbow)[0], 2))) < NEAR


def _dot(u: Vec3, v: Vec3) -> float:
    """u . v: a plan is found in doubles, from the robot at its start."""
    return cast(float, dot(u, v))


def _points(place: Place, i: int, j: int, k: int) -> bool:
    """Two crossing revolute joints and a prismatic one through their crossing, at right angles to the second."""
    mech = place.mech
    if not (mech.revolute[i] and mech.revolute[j] and not mech.revolute[k]):
        return False
    if mech.parent[j] != i or mech.parent[k] != j:
        return False
    R, p = link_frame(mech, j, place.zero(j))
    S, r = link_frame(mech, k, place.zero(k))
    axis = column(S, 2)
    off_axis = sub(r, scale(dot(axis, r), axis))
    square = abs(cast(float, R[2][2])) < NEAR and abs(cast(float, S[2][2])) < NEAR
    return square and _dot(p, p) < NEAR and _dot(off_axis, off_axis) < NEAR


def _signed(place: Place, step: Step, q: Array) -> Step:
    """The step with the signs that the configuration q has."""
    loops: dict[str, Bar | Meeting] = {x.name: x for x in (*place.link.bars, *place.link.meetings)}
    match step:
        case Turn():
            t = triangle(place, step.joint, step.gap, loops[step.loop])
            s, c = np.sin(q[step.joint]), np.cos(q[step.joint])
            x, y = c * t.C[0] - s * t.C[1], s * t.C[0] + c * t.C[1]
            return replace(step, sign=1 if t.a[0] * y - t.a[1] * x >= 0 else -1)
        case Slide():
            plus = replace(step, sign=1)
            return plus if _lands(place, plus, q) else replace(step, sign=-1)
        case Point():
            i, j, _ = step.joints
            _, fixed = ends(place, step.joints[2], loops[step.loop])
            R, p = place.rest(i)
            t = tmul(R, sub(place.point(fixed), p))
            axis = column(place.world(j)[0], 2)
            local = tmul(R, axis)
            sign = 1 if local[1] * t[0] - local[0] * t[1] >= 0 else -1
            R, p = place.rest(j)
            d = column(place.world(step.joints[2])[0], 2)
            along = 1 if _dot(d, sub(place.point(fixed), p)) >= 0 else -1
            return replace(step, sign=sign, along=along)
        case Trilaterate():
            plus = replace(step, sign=1)
            return plus if _lands(place, plus, q) else replace(step, sign=-1)
        case LevelStep() if step.turns:
            u, v, _ = level_of(place, step, loops[step.loop])
            return replace(step, sign=1 if u * np.sin(q[step.joint]) >= v * np.cos(q[step.joint]) else -1)
    return step


def _lands(place: Place, step: Slide | Trilaterate, q: Array) -> bool:
    joints = (step.joint,) if isinstance(step, Slide) else step.joints
    known = {k: at for k, at in place.position.items() if k not in joints}
    found = solve(place.link, (step,), known, lambda value, _: np.sqrt(np.maximum(value, 0.0)))
    return all(abs(float(found[k]) - q[k]) < 1e-6 for k in joints)


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
