"""The mass matrix by Burdick's extended bodies (EMDEG), over any scalar, for serial robots.

A joint's extended body is its link and all beyond it. M_ij is a product of two axes with a dyadic I_ij of the
extended body j, and the dyadics follow from one another: along the diagonal, across a row, or down a column. Where
neighbouring joints are parallel, entries of M follow from one another without any dyadic.

The paper's equations carry misprints; `docs/errata/burdick_recursions.md` lists them. What stands here is corrected,
and where the paper treats revolute joints alone the rule is stated for prismatic ones too, in the same letters:
P_j is link j's origin in link j - 1, L_ij the way from origin i to origin j, U_j the first moment and B_j the
momentum of extended body j per unit rate of its joint. Indices count from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from emdeg.dynamics.mechanism import Frames, Mechanism
from emdeg.dynamics.spatial import (
    Mat3,
    Scalar,
    Vec3,
    add,
    column,
    cross,
    dot,
    madd,
    matmul,
    msub,
    mul,
    neg,
    outer,
    scale,
    sub,
    tmul,
    transpose,
    zeros,
)
from emdeg.errors import NotSerial

Scheme = Literal["diagonal", "across", "down"]
"""How the dyadics off the diagonal are reached (Burdick (19), third, second and fourth line)."""


def hats(a: Vec3, b: Vec3) -> Mat3:
    """The product of the tensors of a x and b x: b a^T - (a.b) 1."""
    ab = dot(a, b)
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = outer(b, a)
    return ((xx - ab, xy, xz), (yx, yy - ab, yz), (zx, zy, zz - ab))


def braces(a: Vec3, b: Vec3) -> Mat3:
    """{a, b}: the product of the two tensors plus the product in the other order (after Burdick (20))."""
    return madd(hats(a, b), hats(b, a))


@dataclass(frozen=True, slots=True)
class Extended:
    """Link j and all beyond it, in link j's frame (Burdick (19), (20))."""

    mass: Scalar
    first: Vec3
    """m_j r_j + M_{j+1} P_{j+1}: the part of U that no joint beyond j moves, unless j + 1 slides."""
    U: Vec3
    K: Mat3
    """The part of I_jj that no joint beyond j moves, unless j + 1 slides."""
    I: Mat3
    """I_jj: the inertia about the link frame's origin."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A serial mechanism at a configuration, ready for the recursions."""

    mech: Mechanism
    frame: Frames
    body: tuple[Extended, ...]
    R: tuple[tuple[Mat3, ...], ...]
    """R[j][i] takes frame i's components to frame j's, i <= j."""
    L: tuple[tuple[Vec3, ...], ...]
    """L[j][i] leads from origin i to origin j, in frame j, i <= j."""

    def x(self, j: int, i: int) -> Vec3:
        """x_i in frame j; likewise y and z."""
        return column(self.R[j][i], 0)

    def y(self, j: int, i: int) -> Vec3:
        return column(self.R[j][i], 1)

    def z(self, j: int, i: int) -> Vec3:
        return column(self.R[j][i], 2)

    def w(self, j: int, i: int) -> Vec3:
        """The angular velocity of joint i at unit rate, in frame j: z_i, or nothing (Burdick (4))."""
        return self.z(j, i) if self.mech.revolute[i] else self.mech.still.w

    def B(self, j: int) -> Vec3:
        """The momentum of extended body j at unit rate of joint j, in frame j: z x U_j, or M_j z."""
        body, zero = self.body[j], self.mech.zero
        return (-body.U[1], body.U[0], zero) if self.mech.revolute[j] else (zero, zero, body.mass)

    def H(self, j: int) -> Vec3:
        """The angular momentum about origin j that belongs to B(j): I_jj z, or U_j x z."""
        body, zero = self.body[j], self.mech.zero
        return column(body.I, 2) if self.mech.revolute[j] else (body.U[1], -body.U[0], zero)

    def parallel(self, p: int) -> bool:
        """Whether joints p and p + 1 are revolute and parallel: z_p = z_{p+1} (Burdick (22))."""
        if p + 1 >= self.mech.n or not (self.mech.revolute[p] and self.mech.revolute[p + 1]):
            return False
        place = self.mech.dh[p + 1]
        return place.alpha is None and place.beta is None


NameBody = Callable[[int, Extended], Extended]
"""What a body is called in the next one's equations: a printer puts letters in the place of its formulas."""
NameDyadic = Callable[[int, int, Mat3], Mat3]
"""Likewise of I_ij."""


def extended_bodies(mech: Mechanism, frame: Frames, named: NameBody = lambda j, body: body) -> Chain:
    """The extended bodies from the tip inwards (the 'diagonal' recursion) and the frames in one another."""
    if any(parent != i - 1 for i, parent in enumerate(mech.parent)):
        raise NotSerial("extended bodies are for serial robots; this one branches (use Lagrange's or Kane's equations)")
    zero, one, n = mech.zero, mech.one, mech.n
    bodies: list[Extended] = []
    for j in reversed(range(n)):
        m, mr, J = mech.inertia[j].m, mech.inertia[j].mr, mech.inertia[j].J
        if not bodies:
            bodies.append(named(j, Extended(m, mr, mr, J, J)))
            continue
        beyond, P, R = bodies[-1], frame.p[j + 1], frame.R[j + 1]
        first = add(mr, scale(beyond.mass, P))
        U = mul(R, beyond.U)
        K = msub(J, hats(scale(beyond.mass, P), P))  # Burdick (20)
        turned = matmul(matmul(R, beyond.I), transpose(R))
        inertia = madd(msub(K, braces(P, U)), turned)  # Burdick (19), first line
        bodies.append(named(j, Extended(m + beyond.mass, first, add(first, U), K, inertia)))
    R_all: list[tuple[Mat3, ...]] = []
    L_all: list[tuple[Vec3, ...]] = []
    unit = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    for j in range(n):
        inwards, P = transpose(frame.R[j]), frame.p[j]
        R_before, L_before = (R_all[-1], L_all[-1]) if j else ((), ())
        R_all.append((*(inwards if i == j - 1 else matmul(inwards, R) for i, R in enumerate(R_before)), unit))
        L_all.append((*(mul(inwards, P if i == j - 1 else add(L, P)) for i, L in enumerate(L_before)), mech.still.w))
    return Chain(mech, frame, tuple(reversed(bodies)), tuple(R_all), tuple(L_all))


def dyadics(
    chain: Chain, scheme: Scheme = "diagonal", named: NameDyadic = lambda i, j, dyadic: dyadic
) -> dict[tuple[int, int], Mat3]:
    """I_ij, i <= j, in frame j, by one of the recursions (Burdick (18), (19), (21))."""
    n, revolute = chain.mech.n, chain.mech.revolute
    found: dict[tuple[int, int], Mat3] = {}
    for i in range(n):
        if scheme == "across":
            across = _across_row(chain, i, named)
            found.update({(i, j): across[j] for j in range(i, n) if revolute[j]})
        for j in range(i, n):
            if (i, j) not in found and scheme != "down":
                found[i, j] = named(i, j, _dyadic(chain, i, j))
    if scheme == "down":
        for j in range(n):
            found.update(_down_column(chain, j, named))
    return found


def _dyadic(chain: Chain, i: int, j: int) -> Mat3:
    """I_ij from extended body j (Burdick (18); revolute: (19), third line)."""
    mech, body, L = chain.mech, chain.body[j], chain.L[j][i]
    y = (mech.zero, mech.one, mech.zero)
    if mech.revolute[i] and mech.revolute[j]:
        return body.I if i == j else msub(body.I, hats(L, body.U))
    if mech.revolute[j]:
        return hats(neg(chain.y(j, i)), body.U)
    if mech.revolute[i]:
        return hats(neg(add(scale(body.mass, L), body.U)), y)
    return hats(scale(-body.mass, chain.y(j, i)), y)


def _across_row(chain: Chain, i: int, named: NameDyadic) -> dict[int, Mat3]:
    """I_ij of row i from the tip inwards, as for revolute j (Burdick (19), second line; (21), first line)."""
    mech = chain.mech
    row: dict[int, Mat3] = {}

    def own(j: int, dyadic: Mat3) -> Mat3:
        return named(i, j, dyadic) if mech.revolute[j] else dyadic  # of a prismatic j it is a step on the way

    for j in reversed(range(i, mech.n)):
        body, L = chain.body[j], chain.L[j][i]
        if j == mech.n - 1:
            slid = hats(neg(chain.y(j, i)), body.U)
            row[j] = own(j, msub(body.I, hats(L, body.U)) if mech.revolute[i] else slid)
            continue
        P, R = chain.frame.p[j + 1], chain.frame.R[j + 1]
        turned = matmul(matmul(R, row[j + 1]), transpose(R))
        if mech.revolute[i]:
            U = mul(R, chain.body[j + 1].U)
            now = madd(msub(body.K, madd(hats(L, body.first), hats(U, P))), turned)
        else:
            now = msub(turned, hats(chain.y(j, i), body.first))
        row[j] = own(j, now)
    return row


def _down_column(chain: Chain, j: int, named: NameDyadic) -> dict[tuple[int, int], Mat3]:
    """I_ij of column j from the diagonal up (Burdick (19), fourth line; (21), second line)."""
    mech, body = chain.mech, chain.body[j]
    y = (mech.zero, mech.one, mech.zero)
    column: dict[tuple[int, int], Mat3] = {}
    current = body.I if mech.revolute[j] else hats(neg(body.U), y)  # as for revolute i
    for i in reversed(range(j + 1)):
        if i < j:
            P = sub(chain.L[j][i], chain.L[j][i + 1])
            by = hats(P, body.U) if mech.revolute[j] else hats(scale(body.mass, P), y)
            current = msub(current, by)
        if mech.revolute[i]:
            current = column[i, j] = named(i, j, current)
        else:
            column[i, j] = named(i, j, _dyadic(chain, i, j))
    return column


def dyadic_entry(chain: Chain, dyadic: Mat3, i: int, j: int) -> Scalar:
    """M_ij without drives from its dyadic (Burdick (17), (18))."""
    left = chain.z(j, i) if chain.mech.revolute[i] else chain.x(j, i)
    return dot(left, column(dyadic, 2 if chain.mech.revolute[j] else 0))


def mass_matrix(
    mech: Mechanism, frame: Frames, scheme: Scheme = "diagonal", parallel_rules: bool = True
) -> list[list[Scalar]]:
    """M, n x n, both triangles, drives included."""
    return drives_added(mech, link_masses(extended_bodies(mech, frame), scheme, parallel_rules))


def drives_added(mech: Mechanism, M: list[list[Scalar]]) -> list[list[Scalar]]:
    return [[v + mech.drive[i] if i == j else v for j, v in enumerate(row)] for i, row in enumerate(M)]


def link_masses(chain: Chain, scheme: Scheme, parallel_rules: bool) -> list[list[Scalar]]:
    """M without drives: the rules for parallel joints hold only without them."""
    n = chain.mech.n
    M = zeros(chain.mech.zero, n, n)
    ruled = [parallel_rules and chain.parallel(p) for p in range(n)]
    table = dyadics(chain, scheme) if scheme != "diagonal" else {}
    for j in reversed(range(n)):
        for i in reversed(range(j + 1)):
            if ruled[i] and j > i:
                value = M[i + 1][j] + eta(chain, i, j)  # Burdick (24); (25), last line
            elif ruled[j]:
                value = M[i][j + 1] + _last_link_step(chain, i, j)
            else:
                value = dyadic_entry(chain, table[i, j] if table else _dyadic(chain, i, j), i, j)
            M[i][j] = M[j][i] = value
    return M


def eta(chain: Chain, p: int, j: int) -> Scalar:
    """M_pj - M_{p+1,j} for parallel joints p and p + 1: (z x P_{p+1}) . B_j (Burdick, after (24))."""
    return dot(origin_rate(chain, p, j), chain.B(j))


def origin_rate(chain: Chain, p: int, j: int) -> Vec3:
    """z_p x P_{p+1} in frame j > p: how fast joint p moves the origin of link p + 1."""
    P = sub(chain.L[j][p], chain.L[j][p + 1])
    return cross(chain.z(j, p), P)


def _last_link_step(chain: Chain, i: int, p: int) -> Scalar:
    """M_ip - M_{i,p+1} for parallel joints p and p + 1, i <= p (Burdick (25), second and third line)."""
    mech, body = chain.mech, chain.body[p]
    z = (mech.zero, mech.zero, mech.one)
    if not mech.revolute[i]:
        return dot(chain.z(p, i), cross(z, body.first))
    P, R = chain.frame.p[p + 1], chain.frame.R[p + 1]
    U = mul(R, chain.body[p + 1].U)
    step = sub(column(body.K, 2), cross(U, cross(P, z)))
    if i < p:
        step = sub(step, cross(chain.L[p][i], cross(body.first, z)))
    return dot(chain.z(p, i), step)


def gravity(chain: Chain) -> list[Scalar]:
    """g_i: the momentum of extended body i against the acceleration of gravity (Burdick (16), its sign corrected)."""
    g: list[Scalar] = []
    G = chain.mech.gravity
    for i in range(chain.mech.n):
        G = tmul(chain.frame.R[i], G)
        g.append(-dot(G, chain.B(i)))
    return g
