"""The same mechanism with other frames and other constants: what the joints feel stays, what is written down changes.

A link's vectors may be written in its own frame turned back about the joint axis by the angle of its last joint, or
by the sum of the angles of the last few joints if their axes are parallel. Then neighbours on parallel joints share
their axes and nothing is turned between them; instead the link's own parameters turn. A body that is symmetric about
its axis does not notice.

A link frame may also slide along its joint axis, and a body that a joint cannot tell from its parent's may be counted
with either: on a revolute joint a body symmetric about the axis (a moment XX = YY, a first moment MZ, a mass M), on a
prismatic one the whole tensor (Gautier and Khalil, 1990). Every choice gives the same efforts; some give fewer terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeVar

from emdeg.algebra import Exact, PrimeField
from emdeg.dynamics.joints import PRISMATIC, REVOLUTE, DHTransform, Pair, Position, rotations, sum_of_angles
from emdeg.dynamics.mechanism import (
    Frames,
    Mechanism,
    frames,
    inward,
    mechanism_of,
    positions_at_zero,
    symbolic_state,
    written,
)
from emdeg.dynamics.parameters.regressor import COLUMNS, regressor
from emdeg.dynamics.spatial import BodyInertia, Mat3, Scalar, Transform, Vec3, identity
from emdeg.errors import CannotVary
from emdeg.robot import BASE, Robot

T = TypeVar("T")
Axial = Literal["yy", "xx", "mean"]
"""Which moment a link hands to its parent: YY (leaving XX - YY, 0), XX (0, YY - XX) or the mean of the two."""


def frames_slid(mech: Mechanism, along: Sequence[Exact]) -> Mechanism:
    """The mechanism with link i's frame moved by `along[i]` [m] along its joint axis."""
    zero, one = mech.zero, mech.one
    steps, bodies = list(mech.dh), list(mech.inertia)
    for i, length in enumerate(along):
        if not length:
            continue
        t = written(mech.algebra, length)
        steps[i] = replace(steps[i], d=steps[i].d + t)
        bodies[i] = bodies[i].to_parent(Transform(identity(zero, one), (zero, zero, -t)))
        for child, parent in enumerate(mech.parent):
            if parent == i:
                steps[child] = replace(steps[child], b=steps[child].b - t)
    return replace(mech, dh=tuple(steps), inertia=tuple(bodies))


def slide_choices(robot: Robot) -> list[list[Exact]]:
    """For each link where its frame may slide to: nowhere, to d = 0, or to take over a parallel child's d."""
    choices = []
    for i, link in enumerate(robot.links):
        options = [Exact()]
        if link.joint.placement.d:
            options.append(-link.joint.placement.d)
        for child in robot.links:
            place = child.joint.placement
            if child.parent == i and place.alpha.is_zero and place.beta.is_zero and place.d and place.d not in options:
                options.append(place.d)
        choices.append(options)
    return choices


def inertia_handed_inwards(mech: Mechanism, axial: Sequence[Axial], keep_mass: Sequence[bool]) -> Mechanism:
    """The mechanism with every link's inertia handed to its parent as far as its joint cannot tell.

    `axial` says which moment goes; `keep_mass[i]` leaves a link's mass where it is: at the frame's origin, whose
    acceleration may be computed anyway.
    """
    X = frames(mech, positions_at_zero(mech)).X
    bodies, nothing = list(mech.inertia), BodyInertia.nothing(mech.zero)
    for i, parent in inward(mech):
        if mech.joints[i] is REVOLUTE:
            bodies[i], given = _about_axis(bodies[i], axial[i], keep_mass[i], mech.zero)
        elif mech.joints[i] is PRISMATIC:
            given = replace(nothing, J=bodies[i].J)
            bodies[i] = replace(bodies[i], J=nothing.J)
        else:
            given = nothing
        if parent != BASE:
            bodies[parent] = bodies[parent] + given.to_parent(X[i])
    return replace(mech, inertia=tuple(bodies))


def _about_axis(body: BodyInertia, axial: Axial, keep_mass: bool, zero: Scalar) -> tuple[BodyInertia, BodyInertia]:
    """(what remains, the symmetric body that the parent takes)."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    mx, my, mz = body.mr
    moment = {"yy": yy, "xx": xx, "mean": (xx + yy) * Fraction(1, 2)}[axial]
    mass = zero if keep_mass else body.m
    kept = BodyInertia(body.m - mass, (mx, my, zero), ((xx - moment, xy, xz), (xy, yy - moment, yz), (xz, yz, zz)))
    given = BodyInertia(mass, (zero, zero, mz), ((moment, zero, zero), (zero, moment, zero), (zero, zero, zero)))
    return kept, given


def drives_in_links(robot: Robot, mech: Mechanism) -> Mechanism:
    """The mechanism with each drive's inertia added to its link's ZZ wherever the two cannot be told apart."""
    field = PrimeField.fresh()
    plain = mechanism_of(robot, field)
    position, qd, qdd = symbolic_state(plain, field)
    Y = regressor(plain, frames(plain, position), qd, qdd)
    bodies, drives = list(mech.inertia), list(mech.drive)
    for i in range(plain.n):
        first = len(COLUMNS) * i
        zz, ia = first + COLUMNS.index("ZZ"), first + COLUMNS.index("Ia")
        if mech.drive[i] and all(row[zz] == row[ia] for row in Y):
            x, y, z = bodies[i].J
            bodies[i] = replace(bodies[i], J=(x, y, (z[0], z[1], z[2] + drives[i])))
            drives[i] = mech.zero
    return replace(mech, inertia=tuple(bodies), drive=tuple(drives))


SPLITS = ("", "nothing", "mass", "ZZ", "mass and ZZ")
"""What a second body carries: there is none; nothing (others hang on it); mass and first moments; ZZ; all of these."""


@dataclass(frozen=True, slots=True)
class SplitMechanism:
    """The mechanism with the second bodies behind the links, and the joint that each body moves with."""

    mech: Mechanism
    joint: tuple[int, ...]

    def of_bodies(self, per_joint: Sequence[T]) -> list[T]:
        """A quantity of every body from that of its joint."""
        return [per_joint[j] for j in self.joint]

    def of_joints(self, per_body: Sequence[Scalar], n: int) -> list[Scalar]:
        """The efforts of the joints from those of the bodies."""
        total = list(per_body[:n])
        for body in range(n, len(per_body)):
            total[self.joint[body]] = total[self.joint[body]] + per_body[body]
        return total


def split_mechanism(mech: Mechanism, splits: Sequence[str]) -> SplitMechanism:
    """The mechanism with a second body for every link whose split is not ""."""
    n = mech.n
    parts = {name: list(getattr(mech, name)) for name in ("parent", "joints", "dh", "inertia", "drive", "rotor")}
    second: dict[int, int] = {}
    joint = list(range(n))
    for i, split in enumerate(splits):
        if not split:
            continue
        second[i] = len(joint)
        joint.append(i)
        kept, given = _split(mech.inertia[i], split, mech.zero)
        parts["inertia"][i] = kept
        above = second.get(mech.parent[i], mech.parent[i])
        new = (above, mech.joints[i], mech.dh[i], given, mech.zero, None)
        for name, value in zip(parts, new):
            parts[name].append(value)
    return SplitMechanism(replace(mech, **{name: tuple(values) for name, values in parts.items()}), tuple(joint))


def _split(body: BodyInertia, split: str, zero: Scalar) -> tuple[BodyInertia, BodyInertia]:
    """(what the link keeps, what its second body takes)."""
    nothing = BodyInertia.nothing(zero)
    kept, given = body, nothing
    if "mass" in split:
        given = replace(given, m=body.m, mr=body.mr)
        kept = replace(kept, m=zero, mr=nothing.mr)
    if "ZZ" in split:
        x, y, z = kept.J
        given = replace(given, J=(nothing.mr, nothing.mr, (zero, zero, z[2])))
        kept = replace(kept, J=(x, y, (z[0], z[1], zero)))
    return kept, given


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
            if not mech.dh[k].is_parallel:
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
        R.append(_rotation(mech, mech.dh[i], before, own, back[i], pair_of))
        p.append(_turn(pair_of(before), plain.p[i]) if before else plain.p[i])
        bodies.append(inertia_turned_back(mech.inertia[i], back[i], pair_of, mech.zero) if back[i] else mech.inertia[i])
    return replace(mech, inertia=tuple(bodies)), Frames(tuple(R), tuple(p))


def _rotation(mech: Mechanism, step: DHTransform, before: Joints, own: Joints, after: Joints, pair_of: PairOf) -> Mat3:
    """Rz(before) C Rz(theta + own - after): from the child's turned-back frame to the parent's."""
    zero, one = mech.zero, mech.one
    if step.is_parallel:  # the angles add
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
