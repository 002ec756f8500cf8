"""A link's inertia shared between the link and a massless-joint twin of it, over any scalar.

Efforts are linear in the parameters, so a body may be counted as two that move alike: the link, and a twin on the same
joint variable whose frame is turned differently. A force or an acceleration may then be written in the frame in which
it is cheapest (a first moment where the axes do not turn, the tensor in the body's own axes). Twins of successive
links form a chain of their own beside the links; the efforts of bodies on one joint add.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from emdeg.mechanics.mechanism import Mechanism
from emdeg.mechanics.spatial import BodyInertia
from emdeg.mechanics.vectors import Scalar

SHARES = ("", "-", "h", "z", "hz")
"""What a twin carries: there is none; nothing (others hang on it); mass and first moments; ZZ; all of these."""


@dataclass(frozen=True, slots=True)
class Twinned:
    """The mechanism with its twins behind the links, and the joint that each body moves with."""

    mech: Mechanism
    joint: tuple[int, ...]

    def spread(self, per_joint: Sequence[Scalar]) -> list[Scalar]:
        """A quantity of every body from that of its joint."""
        return [per_joint[j] for j in self.joint]

    def gathered(self, per_body: Sequence[Scalar], n: int) -> list[Scalar]:
        """The efforts of the joints from those of the bodies."""
        total = list(per_body[:n])
        for body in range(n, len(per_body)):
            total[self.joint[body]] = total[self.joint[body]] + per_body[body]
        return total


def twinned(mech: Mechanism, shares: Sequence[str]) -> Twinned:
    """The mechanism with a twin for every link whose share is not ""."""
    n = mech.n
    parts = {name: list(getattr(mech, name)) for name in ("parent", "revolute", "step", "inertia", "drive", "rotor")}
    twin: dict[int, int] = {}
    joint = list(range(n))
    for i, share in enumerate(shares):
        if not share:
            continue
        twin[i] = len(joint)
        joint.append(i)
        kept, given = _shared(mech.inertia[i], share, mech.zero)
        parts["inertia"][i] = kept
        above = twin.get(mech.parent[i], mech.parent[i])
        new = (above, mech.revolute[i], mech.step[i], given, mech.zero, None)
        for name, value in zip(parts, new):
            parts[name].append(value)
    return Twinned(replace(mech, **{name: tuple(values) for name, values in parts.items()}), tuple(joint))


def _shared(body: BodyInertia, share: str, zero: Scalar) -> tuple[BodyInertia, BodyInertia]:
    """(what the link keeps, what its twin takes)."""
    nothing = BodyInertia.nothing(zero)
    kept, given = body, nothing
    if "h" in share:
        given = replace(given, m=body.m, mr=body.mr)
        kept = replace(kept, m=zero, mr=nothing.mr)
    if "z" in share:
        x, y, z = kept.J
        given = replace(given, J=(nothing.mr, nothing.mr, (zero, zero, z[2])))
        kept = replace(kept, J=(x, y, (z[0], z[1], zero)))
    return kept, given
