"""The same mechanism seen in frames that do not all turn with their links, over any scalar.

A link's vectors may be written in its own frame turned back about the joint axis by the angle of its last joint, or
by the sum of the angles of the last few joints if their axes are parallel. Then neighbours on parallel joints share
their axes and nothing is turned between them; instead the link's own parameters turn. A body that is symmetric about
its axis does not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from emdeg.errors import CannotVary
from emdeg.mechanics.mechanism import (
    Frames,
    Mechanism,
    Pair,
    Position,
    Step,
    frames,
    rotations,
    sum_of_angles,
)
from emdeg.mechanics.spatial import BodyInertia, Mat3, Scalar, Vec3
from emdeg.robot.model import BASE

Joints = tuple[int, ...]
PairOf = Callable[[Joints], Pair]
"""(sine, cosine) of the sum of the given joints' variables; a joint named twice counts twice."""


def turn_back_choices(mech: Mechanism) -> list[list[Joints]]:
    """For each link the joints its frame may be turned back by: none, its own, its own and parallel ones before."""
    choices: list[list[Joints]] = []
    for i in range(mech.n):
        options: list[Joints] = [()]
        joints: Joints = ()
        k = i
        while k != BASE:
            if mech.revolute[k]:
                joints = (k, *joints)
                options.append(joints)
            if not _is_straight(mech.step[k]):
                break
            k = mech.parent[k]
        choices.append(options)
    return choices


def frames_turned_back(
    mech: Mechanism,
    position: Sequence[Position],
    back: Sequence[Joints],
    pair_of: PairOf,
    joint: Sequence[int] | None = None,
) -> tuple[Mechanism, Frames]:
    """The mechanism and its frames, link i's frame turned back by the joints `back[i]` (of `turn_back_choices`).

    `joint[i]` is the joint that body i moves with, by default the i-th.
    """
    plain = frames(mech, position)
    R: list[Mat3] = []
    p: list[Vec3] = []
    bodies: list[BodyInertia] = []
    for i, parent in enumerate(mech.parent):
        before = () if parent == BASE else back[parent]
        own = (joint[i] if joint else i,) if mech.revolute[i] else ()
        R.append(_rotation(mech, mech.step[i], before, own, back[i], pair_of))
        p.append(_turn(pair_of(before), plain.p[i]) if before else plain.p[i])
        bodies.append(inertia_turned_back(mech.inertia[i], back[i], pair_of, mech.zero) if back[i] else mech.inertia[i])
    return replace(mech, inertia=tuple(bodies)), Frames(tuple(R), tuple(p))


def _is_straight(step: Step) -> bool:
    return step.alpha is None and step.beta is None and step.gamma is None and step.theta is None


def _rotation(mech: Mechanism, step: Step, before: Joints, own: Joints, after: Joints, pair_of: PairOf) -> Mat3:
    """Rz(before) C Rz(theta + own - after): from the child's turned-back frame to the parent's."""
    zero, one = mech.zero, mech.one
    if _is_straight(step):  # the angles add
        plus, minus = list(before + own), list(after)
        for joint in after:
            if joint in plus:
                plus.remove(joint)
                minus.remove(joint)
        if minus and plus:
            raise CannotVary("a frame cannot be turned back by a joint that does not turn it")
        pair = pair_of(tuple(plus or minus)) if plus or minus else None
        if pair is not None and minus:
            pair = (-pair[0], pair[1])
        return rotations((("z", pair),), zero, one)
    if after not in ((), own):
        raise CannotVary("a frame cannot be turned back past an axis that is not parallel")
    turn = pair_of(own) if own and not after else None
    if step.theta is not None:
        turn = step.theta if turn is None else sum_of_angles(step.theta, turn)
    start = pair_of(before) if before else None
    chain = (("z", start), ("z", step.gamma), ("x", step.alpha), ("y", step.beta), ("z", turn))
    return rotations(chain, zero, one)


def _turn(pair: Pair, v: Vec3) -> Vec3:
    s, c = pair
    return (c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])


def inertia_turned_back(body: BodyInertia, joints: Joints, pair_of: PairOf, zero: Scalar) -> BodyInertia:
    """A body's parameters along axes turned back by the joints' angle; the tensor by the double angle."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    mr = _turn(pair_of(joints), body.mr)
    xz, yz, _ = _turn(pair_of(joints), (xz, yz, zero))
    half = (xx - yy) * Fraction(1, 2)
    if half or xy:
        s, c = pair_of(joints + joints)
        mean = (xx + yy) * Fraction(1, 2)
        swing = half * c - xy * s
        xy = half * s + xy * c
        xx, yy = mean + swing, mean - swing
    return BodyInertia(body.m, mr, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
