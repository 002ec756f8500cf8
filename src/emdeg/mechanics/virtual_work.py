"""The same model by virtual work, body by body (Asadi and Heydari (23)-(42), for any bodies), over any scalar.

Each body's partial velocities in the coordinates u are dotted into what its acceleration asks for. Rods are their
three point masses. Everything is in base axes, at the links' frame origins; no use is made of the tree's M, C and g.

The C that comes out this way, sum of J^T (m J-dot ...), gives the same C ud. For point masses and bodies that turn
about one fixed direction it is also the same matrix as the one from Christoffel symbols; for a body that turns in
space it is another one, and M-dot - 2C is then not skew.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.mechanics.closed_loop import Matrix, Model, Motion, motion
from emdeg.mechanics.linear import Scalar, Vec3, add, cross, dot, matmul, mul, scale, sub, total, transpose
from emdeg.mechanics.linkage import (
    Anchor,
    Linkage,
    anchor_point,
    column,
    in_motion,
    point_columns,
    rate_of,
    world_frames,
)
from emdeg.mechanics.mechanism import Frames, Position, path

Partials = list[Vec3]
"""A vector for each coordinate."""


def virtual_work(link: Linkage, position: Sequence[Position], ud: Sequence[Scalar]) -> Model:
    """M, C (of virtual work), G, J, J-dot."""
    nu, zero = len(link.coordinates), link.tree.zero
    move = motion(link, position, ud)
    world = world_frames(link, position)
    moving = world_frames(link, in_motion(link.tree, position, move.qd))
    g = mul(link.bare.base[0], link.bare.gravity)
    M: Matrix = [[zero] * nu for _ in range(nu)]
    C: Matrix = [[zero] * nu for _ in range(nu)]
    G: list[Scalar] = [zero] * nu

    def account(
        a: Partials, ad: Partials, m: Scalar, b: Partials | None = None, bd: Partials | None = None,
        h: Vec3 | None = None, J=None, omega: Vec3 | None = None,
    ) -> None:  # fmt: skip
        """A body with partial velocities a of its point and b of its turning: force on a, moment on b."""
        for s in range(nu):
            f, c = scale(m, a[s]), scale(m, ad[s])
            n = d = None
            if b is not None and bd is not None and h is not None and omega is not None:
                f = add(f, cross(b[s], h))
                c = add(c, add(cross(bd[s], h), cross(omega, cross(b[s], h))))
                n = add(mul(J, b[s]), cross(h, a[s]))
                d = add(add(mul(J, bd[s]), cross(omega, mul(J, b[s]))), cross(h, ad[s]))
            for r in range(nu):
                M[r][s] = M[r][s] + dot(a[r], f)
                C[r][s] = C[r][s] + dot(a[r], c)
                if b is not None and n is not None and d is not None:
                    M[r][s] = M[r][s] + dot(b[r], n)
                    C[r][s] = C[r][s] + dot(b[r], d)
        for r in range(nu):
            G[r] = G[r] - m * dot(a[r], g)
            if b is not None and h is not None:
                G[r] = G[r] - dot(b[r], cross(h, g))

    for i, body in enumerate(link.bare.inertia):
        a, ad = point_partials(link, move, world, moving, Anchor(i, world.R[i], (zero, zero, zero)))
        b, bd = turning_partials(link, move, world, moving, i)
        R = world.R[i]
        omega = _combined(b, ud)
        account(a, ad, body.m, b, bd, mul(R, body.h), matmul(matmul(R, body.J), transpose(R)), omega)
    for bar in link.bars:
        ends = [point_partials(link, move, world, moving, end) for end in (bar.first, bar.second)]
        centre = [
            [add(u, scale(bar.com, sub(v, u))) for u, v in zip(one, other)]
            for one, other in zip(ends[0], ends[1])
        ]
        for (a, ad), m in zip((*ends, centre), bar.masses):
            account(a, ad, m)
    for k, inertia in enumerate(link.bare.drive):
        if inertia:
            for r in range(nu):
                for s in range(nu):
                    M[r][s] = M[r][s] + inertia * move.W[k][r] * move.W[k][s]
                    C[r][s] = C[r][s] + inertia * move.W[k][r] * move.W_rate[k][s]
    J = [move.W[k] for k in link.driven]
    return Model(M, C, G, J, [move.W_rate[k] for k in link.driven])


def _combined(partials: Partials, ud: Sequence[Scalar]) -> Vec3:
    x, y, z = (total([p[i] * v for p, v in zip(partials, ud)]) for i in range(3))
    return x, y, z


def point_partials(
    link: Linkage, move: Motion, world: Frames, moving: Frames, anchor: Anchor
) -> tuple[Partials, Partials]:
    """(partial velocities of an anchor's point, their rates), base axes."""
    zero = link.tree.zero
    here = point_columns(link.tree, world, anchor.link, anchor_point(anchor, world))
    later = point_columns(link.tree, moving, anchor.link, anchor_point(anchor, moving))
    rates = {k: rate_of(v, zero) for k, v in later.items()}
    return _mapped(here, move.W, rates, move.W_rate, zero)


def turning_partials(
    link: Linkage, move: Motion, world: Frames, moving: Frames, body: int
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
