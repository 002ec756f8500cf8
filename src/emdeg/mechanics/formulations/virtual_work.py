"""The same model by virtual work, body by body (Asadi and Heydari (23)-(42), for any bodies), over any scalar.

Each body's partial velocities in the coordinates u are dotted into what its acceleration asks for. Rods are their
three point masses. Everything is in base axes, at the links' frame origins; no use is made of the tree's M, C and g.

The C that comes out this way, sum of J^T (m J-dot ...), gives the same C ud. For point masses and bodies that turn
about one fixed direction it is also the same matrix as the one from Christoffel symbols; for a body that turns in
space it is another one, and M-dot - 2C is then not skew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from emdeg.mechanics.loops.linkage import (
    Anchor,
    Linkage,
    anchor_point,
    column,
    in_motion,
    point_columns,
    rate_of,
    world_frames,
)
from emdeg.mechanics.loops.reduction import Matrix, ReducedModel, TreeRates
from emdeg.mechanics.mechanism import BodyInertia, Frames, Position, path
from emdeg.mechanics.spatial import Scalar, Vec3, add, cross, dot, matmul, mul, scale, sub, total, transpose, zeros

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
    nu, zero = len(link.coordinates), link.tree.zero
    world = world_frames(link, position)
    moving = world_frames(link, in_motion(link.tree, position, move.qd))
    sums = Sums(
        zeros(zero, nu, nu),
        zeros(zero, nu, nu),
        [zero] * nu,
        mul(link.bare.base[0], link.bare.gravity),
    )
    for i, body in enumerate(link.bare.inertia):
        R = world.R[i]
        a, ad = point_partials(link, move, world, moving, Anchor(i, R, (zero, zero, zero)))
        b, bd = turning_partials(link, move, world, moving, i)
        in_base = BodyInertia(body.m, mul(R, body.mr), matmul(matmul(R, body.J), transpose(R)))
        sums.point(body.m, a, ad)
        sums.turning(in_base, a, ad, b, bd, _combined(b, move.ud))
    for bar in link.bars:
        first, second = (point_partials(link, move, world, moving, end) for end in (bar.first, bar.second))
        centre = tuple(
            [add(u, scale(bar.com, sub(v, u))) for u, v in zip(one, other)] for one, other in zip(first, second)
        )
        for (a, ad), m in zip((first, second, centre), bar.masses):
            sums.point(m, a, ad)
    for k, inertia in enumerate(link.bare.drive):
        if inertia:
            sums.rotor(inertia, move.W[k], move.W_rate[k])
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
