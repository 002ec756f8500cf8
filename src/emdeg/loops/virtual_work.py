"""The same model by virtual work, body by body (Asadi and Heydari (23)-(42), for any bodies), over any scalar.

Each body's partial velocities in the coordinates u are dotted into what its acceleration asks for. Rods are their
three point masses. Everything is in base axes, at the links' frame origins; no use is made of the tree's M, C and g.

The C that comes out this way, sum of J^T (m J-dot ...), gives the same C ud. For point masses and bodies that turn
about one fixed direction it is also the same matrix as the one from Christoffel symbols; for a body that turns in
space it is another one, and M-dot - 2C is then not skew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from emdeg.algebra import Dual, derivative
from emdeg.dynamics.mechanism import BodyInertia, Frames, Position, path
from emdeg.dynamics.spatial import Scalar, Vec3, add, cross, dot, matmul, mul, scale, sub, total, transpose, zeros
from emdeg.loops.linkage import (
    Anchor,
    Bar,
    Linkage,
    anchor_point,
    column,
    in_motion,
    point_columns,
    rate_of,
    world_frames,
)
from emdeg.loops.reduction import Matrix, ReducedModel, TreeRates

Partials = list[Vec3]
"""A vector for each coordinate."""


@dataclass(slots=True)
class Sums:
    """M, C and G as far as they are summed; g is the acceleration of gravity in base axes."""

    M: Matrix
    C: Matrix
    G: list[Scalar]
    g: Vec3

    def point(self, m: Scalar, a: Partials, ad: Partials) -> None:
        """A point mass with the partial velocities a and their rates ad."""
        for s, (moved, bent) in enumerate(zip(a, ad)):
            f, c = scale(m, moved), scale(m, bent)
            for r, partial in enumerate(a):
                self.M[r][s] = self.M[r][s] + dot(partial, f)
                self.C[r][s] = self.C[r][s] + dot(partial, c)
        for r, partial in enumerate(a):
            self.G[r] = self.G[r] - m * dot(partial, self.g)

    def turning(self, body: BodyInertia, a: Partials, ad: Partials, b: Partials, bd: Partials, omega: Vec3) -> None:
        """What a body adds to its mass at its origin: first moment mr and tensor J about it, in base axes."""
        mr, J = body.mr, body.J
        for s in range(len(a)):
            f = cross(b[s], mr)
            c = add(cross(bd[s], mr), cross(omega, f))
            n = add(mul(J, b[s]), cross(mr, a[s]))
            d = add(add(mul(J, bd[s]), cross(omega, mul(J, b[s]))), cross(mr, ad[s]))
            for r in range(len(a)):
                self.M[r][s] = self.M[r][s] + dot(a[r], f) + dot(b[r], n)
                self.C[r][s] = self.C[r][s] + dot(a[r], c) + dot(b[r], d)
        for r, partial in enumerate(b):
            self.G[r] = self.G[r] - dot(partial, cross(mr, self.g))

    def rotor(self, inertia: Scalar, rates: Sequence[Scalar], bent: Sequence[Scalar]) -> None:
        """A drive: its inertia at the joint, whose rate is `rates` . ud."""
        for r, own in enumerate(rates):
            for s, (rate, change) in enumerate(zip(rates, bent)):
                self.M[r][s] = self.M[r][s] + inertia * own * rate
                self.C[r][s] = self.C[r][s] + inertia * own * change


def equations_by_virtual_work(link: Linkage, position: Sequence[Position], move: TreeRates) -> ReducedModel:
    """M, C (of virtual work), G, J, J-dot."""
    sums = _nothing(link)
    moved = _Moved(link, move, world_frames(link, position), _later(link, position, move))
    for i, body in enumerate(link.bare.inertia):
        moved.add_body(sums, i, body)
    for bar in link.bars:
        moved.add_points(sums, bar, bar.masses)
    for k, inertia in enumerate(link.bare.drive):
        if inertia:
            sums.rotor(inertia, move.W[k], move.W_rate[k])
    return _model(link, move, sums)


def unit_equations(link: Linkage, position: Sequence[Position], move: TreeRates) -> Iterator[ReducedModel]:
    """The same for one unit of one parameter after the other: eleven a link, then eleven a rod, as a regressor has."""
    zero, one = link.tree.zero, link.tree.one
    moved = _Moved(link, move, world_frames(link, position), _later(link, position, move))
    for i in range(link.n):
        for k in range(10):
            v = [one if m == k else zero for m in range(10)]
            J = ((v[0], v[1], v[2]), (v[1], v[3], v[4]), (v[2], v[4], v[5]))
            moved.add_body(sums := _nothing(link), i, BodyInertia(v[9], (v[6], v[7], v[8]), J))
            yield _model(link, move, sums)
        (sums := _nothing(link)).rotor(one, move.W[i], move.W_rate[i])
        yield _model(link, move, sums)
    for bar in link.bars:
        # A mass M at the first end; with MX or ZZ besides, masses at both ends and halfway that have these alone.
        per = 1 / bar.length
        square = per * per
        units = {5: (square * 2, square * 2, square * -4), 6: (per * -3, -per, per * 4), 9: (one, zero, zero)}
        halfway = replace(bar, com=link.algebra.number(Fraction(1, 2)))
        for k in range(11):
            sums = _nothing(link)
            if k in units:
                moved.add_points(sums, halfway, units[k])
            yield _model(link, move, sums)


@dataclass(slots=True)
class _Moved:
    """The partial velocities of bodies and points, each found once."""

    link: Linkage
    move: TreeRates
    world: Frames
    later: Frames
    known: dict[int, tuple[tuple[Partials, Partials], tuple[Partials, Partials]]] = field(default_factory=dict)
    ends: dict[str, list[tuple[Partials, Partials]]] = field(default_factory=dict)

    def add_body(self, sums: Sums, i: int, body: BodyInertia) -> None:
        zero, R = self.link.tree.zero, self.world.R[i]
        if i not in self.known:
            origin = point_partials(self.link, self.move, self.world, self.later, Anchor(i, R, (zero, zero, zero)))
            self.known[i] = origin, turning_partials(self.link, self.move, self.world, self.later, i)
        (a, ad), (b, bd) = self.known[i]
        in_base = BodyInertia(body.m, mul(R, body.mr), matmul(matmul(R, body.J), transpose(R)))
        sums.point(body.m, a, ad)
        sums.turning(in_base, a, ad, b, bd, _combined(b, self.move.ud))

    def add_points(self, sums: Sums, bar: Bar, masses: Sequence[Scalar]) -> None:
        """A rod as masses at its first end, at its second and at its share `com`."""
        if bar.name not in self.ends:
            self.ends[bar.name] = [
                point_partials(self.link, self.move, self.world, self.later, end) for end in (bar.first, bar.second)
            ]
        first, second = self.ends[bar.name]
        centre = tuple(
            [add(u, scale(bar.com, sub(v, u))) for u, v in zip(one, other)] for one, other in zip(first, second)
        )
        for (a, ad), m in zip((first, second, centre), masses):
            sums.point(m, a, ad)


def _nothing(link: Linkage) -> Sums:
    nu, zero = len(link.coordinates), link.tree.zero
    gravity = mul(link.bare.base[0], link.bare.gravity)
    return Sums(zeros(zero, nu, nu), zeros(zero, nu, nu), [zero] * nu, gravity)


def _later(link: Linkage, position: Sequence[Position], move: TreeRates) -> Frames:
    return world_frames(link, in_motion(link.tree, position, move.qd))


def _model(link: Linkage, move: TreeRates, sums: Sums) -> ReducedModel:
    J = [move.W[k] for k in link.driven]
    return ReducedModel(sums.M, sums.C, sums.G, J, [move.W_rate[k] for k in link.driven])


def potential_of_bodies(link: Linkage, position: Sequence[Position]) -> Scalar:
    """V [J] of gravity, body by body and point by point, zero for masses at the base frame's origin."""
    world = world_frames(link, position)
    g = mul(link.bare.base[0], link.bare.gravity)
    V = link.tree.zero
    for i, body in enumerate(link.bare.inertia):
        V = V - dot(g, add(scale(body.m, world.p[i]), mul(world.R[i], body.mr)))
    for bar in link.bars:
        first, second = (anchor_point(end, world) for end in (bar.first, bar.second))
        centre = add(first, scale(bar.com, sub(second, first)))
        for point, m in zip((first, second, centre), bar.masses):
            V = V - m * dot(g, point)
    return V


def momentum_of_bodies(link: Linkage, varied: Frames, ud: Sequence[Scalar]) -> tuple[Vec3, Vec3]:
    """(linear, angular about the origin), base axes, body by body and point by point.

    `varied` are the links' frames in the base over dual numbers, coordinate k varying in direction k: their rates are
    those of the places, and no angular velocity is asked for.
    """
    zero, one = link.tree.zero, link.tree.one
    half = link.algebra.number(Fraction(1, 2))
    linear: Vec3 = (zero, zero, zero)
    angular: Vec3 = (zero, zero, zero)

    def at(v: Any) -> Any:
        return tuple(at(x) if isinstance(x, tuple) else x.value if isinstance(x, Dual) else x for x in v)

    def rate(v: Any) -> Any:
        return tuple(
            rate(x) if isinstance(x, tuple) else total([derivative(x, k, zero) * d for k, d in enumerate(ud)])
            for x in v
        )

    for body, R, p in zip(link.bare.inertia, varied.R, varied.p):
        turned, turning, place, v = at(R), rate(R), at(p), rate(p)
        linear = add(linear, add(scale(body.m, v), mul(turning, body.mr)))
        angular = add(angular, scale(body.m, cross(place, v)))
        angular = add(angular, add(cross(place, mul(turning, body.mr)), cross(mul(turned, body.mr), v)))
        # sum of r x r-dot over the body, from its second moments of mass, half the trace less the tensor
        spread = half * (body.J[0][0] + body.J[1][1] + body.J[2][2])
        for a in range(3):
            for b in range(3):
                moment = (spread if a == b else zero) - body.J[a][b]
                arm, moved = (mul(X, _unit(j, zero, one)) for X, j in ((turned, a), (turning, b)))
                angular = add(angular, scale(moment, cross(arm, moved)))
    for bar in link.bars:
        first, second = (anchor_point(end, varied) for end in (bar.first, bar.second))
        centre = add(first, scale(bar.com, sub(second, first)))
        for point, m in zip((first, second, centre), bar.masses):
            linear, angular = add(linear, scale(m, rate(point))), add(angular, scale(m, cross(at(point), rate(point))))
    return linear, angular


def _unit(j: int, zero: Scalar, one: Scalar) -> Vec3:
    return ((one, zero, zero), (zero, one, zero), (zero, zero, one))[j]


def _combined(partials: Partials, ud: Sequence[Scalar]) -> Vec3:
    x, y, z = (total([p[i] * v for p, v in zip(partials, ud)]) for i in range(3))
    return x, y, z


def point_partials(
    link: Linkage, move: TreeRates, world: Frames, moving: Frames, anchor: Anchor
) -> tuple[Partials, Partials]:
    """(partial velocities of an anchor's point, their rates), base axes."""
    zero = link.tree.zero
    here = point_columns(link.tree, world, anchor.link, anchor_point(anchor, world))
    later = point_columns(link.tree, moving, anchor.link, anchor_point(anchor, moving))
    rates = {k: rate_of(v, zero) for k, v in later.items()}
    return _mapped(here, move.W, rates, move.W_rate, zero)


def turning_partials(
    link: Linkage, move: TreeRates, world: Frames, moving: Frames, body: int
) -> tuple[Partials, Partials]:
    """(partial angular velocities of a link, their rates), base axes."""
    zero = link.tree.zero
    joints = [k for k in path(link.tree, body) if link.tree.revolute[k]]
    here = {k: column(world.R[k], 2) for k in joints}
    rates = {k: rate_of(column(moving.R[k], 2), zero) for k in joints}
    return _mapped(here, move.W, rates, move.W_rate, zero)


def _mapped(here, W: Matrix, rates, W_rate: Matrix, zero: Scalar) -> tuple[Partials, Partials]:
    nu = len(W[0])
    a: Partials = []
    ad: Partials = []
    for r in range(nu):
        velocity: Vec3 = (zero, zero, zero)
        rate: Vec3 = (zero, zero, zero)
        for k, v in here.items():
            velocity = add(velocity, scale(W[k][r], v))
            rate = add(rate, add(scale(W[k][r], rates[k]), scale(W_rate[k][r], v)))
        a.append(velocity)
        ad.append(rate)
    return a, ad
