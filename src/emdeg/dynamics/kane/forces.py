"""What acts on a robot besides gravity and its drives: loads, springs, dampers, friction; over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from emdeg.algebra import FieldScalar
from emdeg.dynamics.formulations.friction import law_of, parts_of_laws, smooth_sign
from emdeg.dynamics.kane.setup import PointSpring
from emdeg.dynamics.kane.systems import System, host, turned
from emdeg.dynamics.mechanism import path, written
from emdeg.dynamics.spatial import Scalar, Spatial, Vec3, add, cross, dot, mul, neg, scale, sub, tmul
from emdeg.robot import BASE, Frame, Vector

Root = Callable[[Any], FieldScalar]


def external_wrenches(sys: System, move: Sequence[Spatial], inputs: Sequence[Scalar], sqrt: Root) -> dict[int, Spatial]:
    """Link -> moment about its origin and force, in its frame, of all loads and springs between points.

    `inputs` are the components of the loads that have no value of their own, three a load, in order.
    """
    total: dict[int, Spatial] = {}

    def act(link: int, force: Vec3, moment: Vec3) -> None:
        wrench = Spatial(moment, force)
        total[link] = total[link] + wrench if link in total else wrench

    waiting = list(inputs)
    for load in sys.setup.loads:
        if load.value is None:
            vector: Vec3 = (waiting[0], waiting[1], waiting[2])
            del waiting[:3]
        else:
            vector = sys.exact(load.value)
        link, R, origin = host(sys, load.body)
        at, axes, _ = host(sys, load.frame)
        vector = turned(sys, mul(axes, vector), at, link)
        if load.kind == "torque":
            act(link, sys.mech.still.v, vector)
        else:
            act(link, vector, cross(add(origin, mul(R, sys.exact(load.point))), vector))
    for spring in sys.setup.point_springs:
        first, arm = _point(sys, spring.first, spring.first_point)
        second, other = _point(sys, spring.second, spring.second_point)
        force = _pull(sys, spring, (first, arm), (second, other), move, sqrt)
        if first != BASE:
            act(first, force, cross(arm, force))
        if second != BASE:
            back = neg(turned(sys, force, first, second))
            act(second, back, cross(other, back))
    return total


def _point(sys: System, frame: Frame, point: Vector) -> tuple[int, Vec3]:
    link, R, origin = host(sys, frame)
    return link, add(origin, mul(R, sys.exact(point)))


def _pull(
    sys: System,
    spring: PointSpring,
    first: tuple[int, Vec3],
    second: tuple[int, Vec3],
    move: Sequence[Spatial],
    sqrt: Root,
) -> Vec3:
    """The force on the first body, in its axes (frame 0's for a fixed point)."""
    mech = sys.mech
    d = sub(_seen(sys, *second, first[0]), first[1])
    stiffness = written(mech.algebra, spring.stiffness)
    if spring.length:
        far = sqrt(dot(d, d))
        stiffness = stiffness - stiffness * written(mech.algebra, spring.length) / far
    force = scale(stiffness, d)
    if not spring.damping:
        return force
    speeds = []
    for link, arm in (first, second):
        v = mech.still.v if link == BASE else add(move[link].v, cross(move[link].w, arm))
        speeds.append(turned(sys, v, link, first[0]))
    along = sub(speeds[1], speeds[0])
    if spring.length:  # only the change of length is damped
        rate = dot(along, d) / cast(FieldScalar, dot(d, d))
        along = scale(rate, d)
    return add(force, scale(written(mech.algebra, spring.damping), along))


def _seen(sys: System, link: int, point: Vec3, to: int) -> Vec3:
    """A point of `link` from the frame of `to`."""
    up, down = path(sys.mech, link), path(sys.mech, to)
    while up and down and up[0] == down[0]:
        up, down = up[1:], down[1:]
    for i in reversed(up):
        point = add(sys.frame.p[i], mul(sys.frame.R[i], point))
    for i in down:
        point = tmul(sys.frame.R[i], sub(point, sys.frame.p[i]))
    return point


def joint_actions(sys: System, variables: Sequence[Scalar], qd: Sequence[Scalar], sqrt: Root) -> list[Scalar]:
    """Per joint of the mechanism: effort [N m, N] of its springs, dampers and friction, which adds to the drive's.

    `variables` are the joints' variables themselves, angles included.
    """
    algebra, setup, m = sys.mech.algebra, sys.setup, sys.offset
    efforts: list[Scalar] = [sys.mech.zero] * sys.mech.n
    for spring in setup.joint_springs:
        k = m + spring.joint
        if spring.stiffness:
            stretch = variables[k] - written(algebra, spring.rest)
            efforts[k] = efforts[k] - written(algebra, spring.stiffness) * stretch
        if spring.damping:
            efforts[k] = efforts[k] - written(algebra, spring.damping) * qd[k]
    if setup.friction:
        _, exp, tanh = parts_of_laws(sys.mech)
        for i, joint in enumerate(sys.robot.joints):
            law, k = law_of(joint.drive.friction, lambda value: written(algebra, value)), m + i
            if setup.smoothing is None and law.rest_speed is None:
                law = replace(law, coulomb=sys.mech.zero, peak=sys.mech.zero)
            if not law.is_none:
                slow = sys.mech.zero if setup.smoothing is None else written(algebra, setup.smoothing)
                efforts[k] = efforts[k] - law.effort(qd[k], smooth_sign(slow, sqrt), exp, tanh)
    return efforts
