"""Inertias regrouped link by link, over any scalar: the same efforts whatever the base does.

What turns about its own joint's axis without being noticed belongs as well to the link before: of a link on a
revolute joint a body that is symmetric about that axis (moment YY, first moment MZ, mass M), of a link on a
prismatic joint the whole tensor (Gautier and Khalil, 'Direct calculation of minimum set of inertial parameters of
serial robots', 1990). Nothing is dropped, so it holds on a moving base too, where the base parameters of a fixed one
do not. Efforts, M, C and g stay exactly the same; the links' own forces do not.
"""

from __future__ import annotations

from dataclasses import replace

from emdeg.mechanics.composite_body import joined, moved
from emdeg.mechanics.linear import Scalar, Vec3
from emdeg.mechanics.mechanism import BodyInertia, Mechanism, frames, inward
from emdeg.robot.model import BASE


def grouped(mech: Mechanism) -> Mechanism:
    """The mechanism with each link's inertia reduced to what its own joint can feel."""
    zero, one = mech.zero, mech.one
    rest = frames(mech, [(zero, one) if revolute else zero for revolute in mech.revolute])
    bodies = list(mech.inertia)
    for i, parent in inward(mech):
        kept, given = _about_axis(bodies[i], zero) if mech.revolute[i] else _along_axis(bodies[i], zero)
        bodies[i] = kept
        if parent != BASE:
            bodies[parent] = joined(bodies[parent], moved(given, rest.R[i], rest.p[i]))
    return replace(mech, inertia=tuple(bodies))


def _about_axis(body: BodyInertia, zero: Scalar) -> tuple[BodyInertia, BodyInertia]:
    """(what remains, the symmetric body that the parent takes): YY, MZ and M go."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    hx, hy, hz = body.h
    kept = BodyInertia(zero, (hx, hy, zero), ((xx - yy, xy, xz), (xy, zero, yz), (xz, yz, zz)))
    return kept, BodyInertia(body.m, (zero, zero, hz), ((yy, zero, zero), (zero, yy, zero), (zero,) * 3))


def _along_axis(body: BodyInertia, zero: Scalar) -> tuple[BodyInertia, BodyInertia]:
    """(what remains, what the parent takes): a body that does not turn against its parent leaves it its tensor."""
    none: Vec3 = (zero, zero, zero)
    return BodyInertia(body.m, body.h, (none, none, none)), BodyInertia(zero, none, body.J)
