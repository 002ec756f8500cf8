"""How far every loop is from where it can no longer close: a flag that programs carry where they cannot raise an error.

A step that takes a root asks for a distance that links can reach. Its margin is the sine squared of the angle that they
make there: one at right angles, zero where they are stretched or folded (a dead point), negative beyond.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from emdeg.algebra import FieldScalar
from emdeg.dynamics.spatial import Scalar, Vec3, add, column, cross, dot, scale, sub, tmul
from emdeg.dynamics.state import Outputs
from emdeg.errors import RobotError
from emdeg.loops.analytic_closure import (
    Plan,
    Point,
    Slide,
    Step,
    Trilaterate,
    Turn,
    ends,
    lifted,
    spheres,
    stretch,
    take,
    triangle,
)
from emdeg.loops.levels import LevelStep, level_of
from emdeg.loops.linkage import Bar, Meeting
from emdeg.loops.place import Place
from emdeg.loops.state import LoopState

Loops = Mapping[str, Bar | Meeting]


def margins(s: LoopState) -> Outputs:
    """One a loop, rods first: what its root asks for against what there is; one where no root is taken."""
    plan, loops = _plan(s), _loops(s)
    found: dict[str, Scalar] = dict.fromkeys(loops, s.tree.one)
    place = Place(s.link, s.coordinates)
    for step in plan:
        left = _asked(place, step, loops)
        if left is not None:
            found |= dict.fromkeys(_names(step), left)
        take(place, step, s.root)
    return {"closure": list(found.values())}


def margins_from_positions(s: LoopState) -> Outputs:
    """The same from where the links are: the angles between them, measured."""
    plan, loops = _plan(s), _loops(s)
    found: dict[str, Scalar] = dict.fromkeys(loops, s.tree.one)
    place = Place(s.link, dict(enumerate(s.position)))
    for step in plan:
        angle = _measured(place, step, loops)
        if angle is not None:
            found |= dict.fromkeys(_names(step), angle)
    return {"closure": list(found.values())}


def _plan(s: LoopState) -> Plan:
    if s.plan is None:
        raise RobotError("its loops close numerically, and have no margins: ask emdeg.loops.reachable", body="closure")
    return s.plan


def _loops(s: LoopState) -> dict[str, Bar | Meeting]:
    return {loop.name: loop for loop in (*s.link.bars, *s.link.meetings)}


def _names(step: Step) -> tuple[str, ...]:
    return step.loops if isinstance(step, Trilaterate) else (step.loop,)


def _asked(place: Place, step: Step, loops: Loops) -> Scalar | None:
    """The radicand over what it would be at right angles."""
    match step:
        case Turn():
            t = triangle(place, step.joint, step.gap, loops[step.loop])
            return t.radicand / cast(FieldScalar, (t.C[0] * t.C[0] + t.C[1] * t.C[1]) * t.w)
        case Slide():
            _, across, reach = stretch(place, step, loops[step.loop])
            return (reach - across) / cast(FieldScalar, reach)
        case Point():
            _, fixed = ends(place, step.joints[2], loops[step.loop])
            R, p = place.rest(step.joints[0])
            t = tmul(R, sub(place.point(fixed), p))
            flat = t[0] * t[0] + t[1] * t[1]
            return flat / cast(FieldScalar, flat + t[2] * t[2])
        case Trilaterate():
            three = spheres(place, step, [loops[name] for name in step.loops])
            return three.radicand / cast(FieldScalar, three.length_squared * three.NN)
        case LevelStep() if step.turns:
            u, v, w = level_of(place, step, loops[step.loop])
            square = u * u + v * v
            return (square - w * w) / cast(FieldScalar, square)
    return None


def _measured(place: Place, step: Step, loops: Loops) -> Scalar | None:
    """The sine squared of the angle at which the step's links meet."""
    match step:
        case Turn():
            R, p = place.world(step.joint)
            z = column(R, 2)
            a, e = (cross(z, sub(point, p)) for point in _gap_ends(place, step, loops[step.loop]))
            return _share(dot(z, cross(a, e)), dot(a, a) * dot(e, e))
        case Slide():
            U = _reached(place, step, loops[step.loop])
            return _share(dot(column(place.world(step.joint)[0], 2), U), dot(U, U))
        case Point():
            _, fixed = ends(place, step.joints[2], loops[step.loop])
            R, p = place.world(step.joints[0])
            t = sub(place.point(fixed), p)
            flat = cross(column(R, 2), t)
            return dot(flat, flat) / cast(FieldScalar, dot(t, t))
        case Trilaterate():
            ends_of = [ends(place, step.joints[2], loops[name]) for name in step.loops]
            Y = [sub(place.point(moving), place.point(fixed)) for moving, fixed in ends_of]
            N = cross(sub(Y[1], Y[0]), sub(Y[2], Y[0]))
            return _share(dot(N, Y[0]), dot(N, N) * dot(Y[0], Y[0]))
        case LevelStep() if step.turns:
            u, v, _ = level_of(place, step, loops[step.loop])
            s, c = cast(tuple[Scalar, Scalar], place.position[step.joint])
            return _share(u * s - v * c, u * u + v * v)
    return None


def _share(part: Scalar, whole: Scalar) -> Scalar:
    return part * part / cast(FieldScalar, whole)


def _gap_ends(place: Place, step: Turn, loop: Bar | Meeting) -> tuple[Vec3, Vec3]:
    """The two points whose distance stays what it is."""
    moving, fixed = ends(place, step.joint, loop)
    if step.gap.elbow is None:
        return place.point(moving), place.point(fixed)
    up, along = step.gap.lifted
    R, p = place.world(step.gap.elbow)
    hinge = add(p, column(R, 2)) if up else p
    if place.moves(step.gap.elbow, moving):
        return hinge, place.point(lifted(fixed, abs(along)))
    return hinge, place.point(lifted(moving, along))


def _reached(place: Place, step: Slide, loop: Bar | Meeting) -> Vec3:
    """From where a slide's distance is measured to where it ends, at right angles to the hinge that is there."""
    moving, fixed = ends(place, step.joint, loop)
    if step.elbow is None:
        return sub(place.point(moving), place.point(fixed))
    R, p = place.world(step.elbow)
    U, z = sub(place.point(fixed), p), column(R, 2)
    return sub(U, scale(dot(z, U), z))
