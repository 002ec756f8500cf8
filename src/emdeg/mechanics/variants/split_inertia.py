"""A link's inertia split between the link and a second body on the same joint, over any scalar.

Efforts are linear in the parameters, so a body may be counted as two that move alike: the link, and a second body on
the same joint variable whose frame is turned differently. A force or an acceleration may then be written in the frame
in which it is cheapest (a first moment where the axes do not turn, the tensor in the body's own axes). Second bodies
of successive links form a chain of their own beside the links; the efforts of bodies on one joint add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from emdeg.mechanics.mechanism import Mechanism
from emdeg.mechanics.spatial import BodyInertia
from emdeg.mechanics.vectors import Scalar

SPLITS = ("", "nothing", "mass", "ZZ", "mass and ZZ")
"""What a second body carries: there is none; nothing (others hang on it); mass and first moments; ZZ; all of these."""


@dataclass(frozen=True, slots=True)
class SplitMechanism:
    """The mechanism with the second bodies behind the links, and the joint that each body moves with."""

    mech: Mechanism
    joint: tuple[int, ...]

    def of_bodies(self, per_joint: Sequence[Scalar]) -> list[Scalar]:
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
