"""Inverse dynamics of a platform that does not turn, held by rods to arms on the base: few operations, any scalar.

The class is read off the structure: the coordinates are the platform's three slides, and each driven joint is a
revolute one on the base whose arm is tied to the platform by one rod. Then in the arm's plane, with E the arm's tip
seen from its joint and y the rod's other end seen from there,

    y.E = K = (y.y + r^2 - l^2) / 2,   y x E = h = +- sqrt(r^2 w - K^2),   w the square of y in the plane,

so E costs one root and no sine, and h is at once the constraint's derivative by the arm's angle. Rates follow from
U = y - E, the rod:  h qd = -U.Xd  and  h qdd = -(U.Xdd + Xd.Xd - 2 qd T.Xd + K qd^2),  T = dE/dq. A rod adds its
ends' own masses to arm and platform, and its mutual mass m12 times the other end's acceleration to either.
The rods' forces are the three multipliers in  sum lambda U = F, the platform's force; the motor i gives what its own
arm needs, less h lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from emdeg.algebra import FieldScalar
from emdeg.algebra.linear import solve_system
from emdeg.dynamics.mechanism import path
from emdeg.dynamics.spatial import Scalar, Vec3, add, column, dot, mul, scale, sub, total
from emdeg.loops.analytic_closure import Plan, Root, Turn
from emdeg.loops.linkage import Linkage
from emdeg.loops.place import Place
from emdeg.robot import BASE


@dataclass(frozen=True, slots=True)
class Leg:
    """Constants of one leg, in base axes: the arm's plane (x, y), b with y = X + b, the moving point C in the plane."""

    name: str
    joint: int
    sign: int
    x: Vec3
    y: Vec3
    b: Vec3
    C: tuple[Scalar, Scalar]
    length_squared: Scalar
    mutual: Scalar


@dataclass(frozen=True, slots=True)
class Legs:
    legs: tuple[Leg, ...]
    axes: tuple[Vec3, Vec3, Vec3]
    mass: Scalar
    gravity: Vec3


def legs_of(link: Linkage, plan: Plan | None) -> Legs | None:
    """The legs, None for a mechanism of another class."""
    mech = link.tree
    if plan is None or link.meetings or len(link.bars) != 3 or len(link.coordinates) != 3 or mech.n != 6:
        return None
    platform = path(mech, max(link.coordinates, key=lambda k: len(path(mech, k))))
    if sorted(platform) != sorted(link.coordinates) or any(mech.revolute[k] for k in platform):
        return None
    if sorted(link.driven) != sorted(link.dependent):
        return None
    place = Place(link, dict.fromkeys(platform, mech.zero))
    origin = place.world(platform[-1])
    legs = []
    for step in plan:
        bar = next((bar for bar in link.bars if isinstance(step, Turn) and bar.name == step.loop), None)
        if bar is None or not isinstance(step, Turn) or mech.parent[step.joint] != BASE:
            return None
        ends = (bar.first, bar.second) if bar.first.link == step.joint else (bar.second, bar.first)
        if ends[0].link != step.joint or ends[1].link != platform[-1]:
            return None
        R, p = place.rest(step.joint)
        x, y, z = (column(R, k) for k in range(3))
        C = ends[0].p
        b = sub(sub(add(origin[1], mul(origin[0], ends[1].p)), p), scale(C[2], z))
        legs.append(Leg(bar.name, step.joint, step.sign, x, y, b, (C[0], C[1]), bar.length_squared, bar.mutual))
    if sorted(leg.joint for leg in legs) != sorted(link.driven):
        return None
    first, second, third = (column(place.world(k)[0], 2) for k in link.coordinates)
    for u, v in ((first, second), (first, third), (second, third)):
        if dot(u, v):  # the platform's slides are at right angles
            return None
    slides = [mech.inertia[k].m for k in platform]
    if any(slides[:-1]) or any(mech.drive[k] for k in platform):
        return None
    pull = mul(mech.base[0], mech.gravity)
    return Legs(tuple(legs), (first, second, third), slides[-1], pull)


def inverse_dynamics(
    link: Linkage, of: Legs, X: Sequence[Scalar], Xd: Sequence[Scalar], Xdd: Sequence[Scalar], root: Root
) -> list[Scalar]:
    """tau of the driven joints, in their order."""
    x, xd, xdd = (_in_base(of.axes, v) for v in (X, Xd, Xdd))
    unit = _common(tuple(leg.mutual for leg in of.legs), link.tree.one)  # efforts are counted in it until the end
    speed = dot(xd, xd)
    own: list[Scalar] = []
    h: list[Scalar] = []
    E: list[tuple[Scalar, Scalar]] = []
    pushed: list[tuple[Scalar, Scalar]] = []
    for leg in of.legs:
        mutual = leg.mutual / unit
        y = add(x, leg.b)
        u, v = dot(leg.x, y), dot(leg.y, y)
        r2 = leg.C[0] * leg.C[0] + leg.C[1] * leg.C[1]
        K = (dot(y, y) + (r2 - leg.length_squared)) / 2
        w = u * u + v * v
        side = root(r2 * w - K * K, leg.name)
        side = side if leg.sign > 0 else -side
        per_w = 1 / w
        Ex, Ey = (K * u - side * v) * per_w, (K * v + side * u) * per_w
        along, across = _turned(Ex, Ey, dot(leg.x, xd), dot(leg.y, xd))
        per_side = 1 / side
        qd = -((dot(y, xd) - along) * per_side)
        along, force = _turned(Ex, Ey, dot(leg.x, xdd), dot(leg.y, xdd))
        bent = speed + qd * (K * qd - (across + across))
        qdd = -((dot(y, xdd) - along + bent) * per_side)
        inertia = link.tree.inertia[leg.joint]
        J = (inertia.J[2][2] + link.tree.drive[leg.joint]) / unit
        weight = _weight(leg, inertia.mr[:2], r2, unit, tmul_plane(leg, of.gravity), (Ex, Ey))
        own.append(J * qdd + mutual * force - weight)
        h.append(side)
        E.append((Ex, Ey))
        square = qd * qd
        pushed.append((mutual * (Ey * qdd + Ex * square), mutual * (Ex * qdd - Ey * square)))
    load = total([leg.mutual for leg in of.legs])
    rows, right = [], []
    for i in range(3):
        size = _common(tuple(leg.x[i] for leg in of.legs if leg.x[i]), link.tree.one)
        per = 1 / size
        row, f = [], of.mass / unit * per * xdd[i] - (of.mass + load) / unit * per * of.gravity[i]
        start = x[i] * per
        for leg, (Ex, Ey), (back, up) in zip(of.legs, E, pushed):
            lx, ly = leg.x[i] / size, leg.y[i] / size
            row.append(start + leg.b[i] * per - lx * Ex - ly * Ey)
            f = f - lx * back + ly * up
        rows.append(row)
        right.append([f])
    force = [r[0] for r in solve_system(rows, right, link.algebra)]
    tau = {leg.joint: unit * (o - s * f) for leg, o, s, f in zip(of.legs, own, h, force)}
    return [tau[k] for k in link.driven]


def _in_base(axes: tuple[Vec3, Vec3, Vec3], v: Sequence[Scalar]) -> Vec3:
    return add(add(scale(v[0], axes[0]), scale(v[1], axes[1])), scale(v[2], axes[2]))


def tmul_plane(leg: Leg, v: Vec3) -> tuple[Scalar, Scalar]:
    return dot(leg.x, v), dot(leg.y, v)


def _turned(Ex: Scalar, Ey: Scalar, vx: Scalar, vy: Scalar) -> tuple[Scalar, Scalar]:
    """(E.v, T.v), T being E turned by a right angle."""
    return Ex * vx + Ey * vy, Ex * vy - Ey * vx


def _weight(
    leg: Leg,
    h: tuple[Scalar, Scalar],
    r2: FieldScalar,
    unit: FieldScalar,
    g: tuple[Scalar, Scalar],
    E: tuple[Scalar, Scalar],
) -> Scalar:
    """The moment of gravity on the arm and on the rod's mutual mass at its tip.

    The first moment h turns with the tip: along it by h.C / r^2, across it by C x h / r^2.
    """
    along = (h[0] * leg.C[0] + h[1] * leg.C[1]) / r2 + leg.mutual
    across = (leg.C[0] * h[1] - leg.C[1] * h[0]) / r2
    a, b = along / unit, across / unit
    return E[0] * (a * g[1] + b * g[0] * -1) - E[1] * (a * g[0] + b * g[1])


def _common(values: tuple[Scalar, ...], one: Scalar) -> FieldScalar:
    """The size that all values share up to sign, one if they do not: not zero, to be divided by."""
    size = one
    if values and values[0]:
        first = values[0]
        same = all(not (v - first) or not (v + first) for v in values)
        size = first if same else one
    return cast(FieldScalar, size)


__all__ = ["Leg", "Legs", "inverse_dynamics", "legs_of"]
