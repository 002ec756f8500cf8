"""The same mechanism with other constants: what the joints feel stays, what is written down changes.

A link frame may slide along its joint axis, and a body that a joint cannot tell from its parent's may be counted with
either: on a revolute joint a body symmetric about the axis (a moment XX = YY, a first moment MZ, a mass M), on a
prismatic one the whole tensor (Gautier and Khalil, 1990). Every choice gives the same efforts; some give fewer terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeVar

from emdeg.algebra import Exact, PrimeField
from emdeg.mechanics.mechanism import Mechanism, frames, inward, mechanism, written
from emdeg.mechanics.parameters.regressor import COLUMNS, regressor
from emdeg.mechanics.spatial import BodyInertia, Scalar, Transform, identity
from emdeg.robot.model import BASE, Robot

T = TypeVar("T")
Axial = Literal["yy", "xx", "mean"]
"""Which moment a link hands to its parent: YY (leaving XX - YY, 0), XX (0, YY - XX) or the mean of the two."""


def frames_slid(mech: Mechanism, along: Sequence[Exact]) -> Mechanism:
    """The mechanism with link i's frame moved by `along[i]` [m] along its joint axis."""
    zero, one = mech.zero, mech.one
    steps, bodies = list(mech.step), list(mech.inertia)
    for i, length in enumerate(along):
        if not length:
            continue
        t = written(mech.algebra, length)
        steps[i] = replace(steps[i], d=steps[i].d + t)
        bodies[i] = bodies[i].to_parent(Transform(identity(zero, one), (zero, zero, -t)))
        for child, parent in enumerate(mech.parent):
            if parent == i:
                steps[child] = replace(steps[child], b=steps[child].b - t)
    return replace(mech, step=tuple(steps), inertia=tuple(bodies))


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
    zero, one = mech.zero, mech.one
    X = frames(mech, [(zero, one) if revolute else zero for revolute in mech.revolute]).X
    bodies = list(mech.inertia)
    for i, parent in inward(mech):
        if mech.revolute[i]:
            bodies[i], given = _about_axis(bodies[i], axial[i], keep_mass[i], zero)
        else:
            nothing = BodyInertia.nothing(zero)
            given = replace(nothing, J=bodies[i].J)
            bodies[i] = replace(bodies[i], J=nothing.J)
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
    field = PrimeField(seed=1)
    plain = mechanism(robot, field)
    joints = range(plain.n)
    position = [field.joint_sincos(k) if plain.revolute[k] else field.displacement(k) for k in joints]
    Y = regressor(
        plain, frames(plain, position), [field.rate(k) for k in joints], [field.acceleration(k) for k in joints]
    )
    bodies, drives = list(mech.inertia), list(mech.drive)
    for i in joints:
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
    parts = {name: list(getattr(mech, name)) for name in ("parent", "revolute", "step", "inertia", "drive", "rotor")}
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
        new = (above, mech.revolute[i], mech.step[i], given, mech.zero, None)
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
