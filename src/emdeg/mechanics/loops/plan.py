"""Finds the steps that close a robot's loops analytically, or finds that there are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import cast

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ClosureError
from emdeg.mechanics.loops.closure import (
    Aim,
    Place,
    Plan,
    Point,
    Slide,
    Step,
    Trilaterate,
    Turn,
    ends,
    solve,
    triangle,
)
from emdeg.mechanics.loops.linkage import Bar, Linkage, Meeting, constraints, world_frames
from emdeg.mechanics.loops.newton import positions_of
from emdeg.mechanics.mechanism import link_frame, path
from emdeg.mechanics.spatial import Vec3, column, cross, dot, scale, sub, tmul
from emdeg.robot import Loops

NEAR = 1e-9


def find_plan(link: Linkage, loops: Loops, start: Array) -> Plan | None:
    """The steps, their signs those of the closed configuration `start` (n,); None where the loops do not factor."""
    place = Place(link, dict(enumerate(positions_of(link, start))))
    open_ = [*link.bars, *link.meetings]
    known = set(link.coordinates)
    plan: list[Step] = []
    while open_:
        for step, used, found in _candidates(place, open_, known):
            plan.append(step)
            known |= found
            open_ = [loop for loop in open_ if loop not in used]
            break
        else:
            if all(not _unknown(place, loop, known) for loop in open_):
                break
            return None
    if len(known) < link.n:
        return None
    signed = tuple(_signed(place, step, start) for step in plan)
    if not _holds(link, signed, start):
        return None
    modes = dict(loops.modes)
    return tuple(_moded(step, modes) for step in signed)


def _moded(step: Step, modes: dict[str, int]) -> Step:
    names = step.loops if isinstance(step, Trilaterate) else (step.loop,)
    wanted = [modes[name] for name in names if name in modes]
    return replace(step, sign=wanted[0]) if wanted and not isinstance(step, Aim) else step


def _unknown(place: Place, loop: Bar | Meeting, known: set[int]) -> list[int]:
    joints = {*path(place.mech, loop.first.link)} ^ {*path(place.mech, loop.second.link)}
    return sorted(joints - known)


def _candidates(
    place: Place, loops: list[Bar | Meeting], known: set[int]
) -> Iterator[tuple[Step, list[Bar | Meeting], set[int]]]:
    revolute = place.mech.revolute
    for loop in loops:
        unknown = _unknown(place, loop, known)
        if isinstance(loop, Bar) and len(unknown) == 1:
            (k,) = unknown
            yield (Turn(k, loop.name) if revolute[k] else Slide(k, loop.name)), [loop], {k}
        elif isinstance(loop, Meeting) and loop.kind != "prismatic":
            if len(unknown) == 1 and revolute[unknown[0]]:
                yield Aim(unknown[0], loop.name), [loop], set(unknown)
            elif len(unknown) == 2 and all(revolute[k] for k in unknown) and _parallel(place, *unknown):
                i, j = unknown
                yield Turn(i, loop.name, elbow=j), [], {i}
            elif len(unknown) == 3 and _points(place, *unknown):
                i, j, k = unknown
                yield Point((i, j, k), loop.name), [loop], {i, j, k}
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


def _parallel(place: Place, i: int, j: int) -> bool:
    turned = cross(column(place.world(i)[0], 2), column(place.world(j)[0], 2))
    return _dot(turned, turned) < NEAR


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
            t = triangle(place, step, loops[step.loop])
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
    return step


def _lands(place: Place, step: Slide | Trilaterate, q: Array) -> bool:
    joints = (step.joint,) if isinstance(step, Slide) else step.joints
    known = {k: at for k, at in place.position.items() if k not in joints}
    found = solve(place.link, (step,), known, lambda value, _: np.sqrt(np.maximum(value, 0.0)))
    return all(abs(float(found[k]) - q[k]) < 1e-6 for k in joints)


def _holds(link: Linkage, plan: Plan, start: Array) -> bool:
    """Whether the steps close every loop at and near the start: what they assume of the geometry is so."""
    rng = np.random.default_rng(1)
    for size in (0.0, 1e-3, 1e-3):
        q = start + size * rng.uniform(-1, 1, start.shape)
        at = positions_of(link, q)
        try:
            with np.errstate(all="raise"):
                found = solve(link, plan, {k: at[k] for k in link.coordinates}, lambda value, _: np.sqrt(value))
        except (FloatingPointError, ClosureError):
            return False
        if any(abs(cast(float, row.value)) > 1e-10 for row in constraints(link, world_frames(link, found))):
            return False
    return True
