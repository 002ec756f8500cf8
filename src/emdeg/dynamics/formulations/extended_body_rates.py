"""Coriolis and centrifugal coefficients from extended bodies (EMDEG), over any scalar, for serial robots.

Christoffel symbols are sums of derivatives of M, but nothing is differentiated here: what a joint does to axes,
arms and first moments is known (Burdick, Appendix I), and so the derivatives of M are products of the same vectors
that make up M. Most symbols need none of them: they vanish or repeat for every robot (26)-(29), or follow from
others where neighbouring joints are parallel (34), (35).

As in `extended_body`, equations are those of the paper after correction, extended to prismatic joints: z_i turns
into w_i (nothing, for a prismatic joint), and z x U_k into the momentum B_k.
"""

from __future__ import annotations

from fractions import Fraction

from emdeg.dynamics.formulations.coefficients import Coefficients
from emdeg.dynamics.formulations.extended_body import (
    Chain,
    Scheme,
    drives_added,
    extended_bodies,
    gravity,
    link_masses,
    origin_rate,
)
from emdeg.dynamics.mechanism import Frames, Mechanism
from emdeg.dynamics.spatial import Mat3, Scalar, Vec3, add, cross, dot, frozen, mul, sub, zeros


def extended_body_coefficients(
    mech: Mechanism, frame: Frames, scheme: Scheme = "diagonal", parallel_rules: bool = True
) -> Coefficients:
    """M, beta and g. The scheme and the rules for parallel joints change the way, not the result."""
    along = extended_bodies(mech, frame)
    M = drives_added(mech, link_masses(along, scheme, parallel_rules))
    return Coefficients(frozen(M), frozen(Symbols(along, parallel_rules).table()), tuple(gravity(along)))


def inertia_rate(chain: Chain, i: int, j: int, k: int) -> Scalar:
    """dM_ij/dq_k, i <= j (Burdick (26), (32) and Appendix I)."""
    if k <= i:
        return chain.mech.zero  # Burdick (26)
    return _by_inner_joint(chain, i, j, k) if k <= j else _by_outer_joint(chain, i, j, k)


def _by_inner_joint(chain: Chain, i: int, j: int, k: int) -> Scalar:
    """dM_ij/dq_k for i < k <= j: extended body j stays as it is, axis i and its arm move the other way (32)."""
    revolute = chain.mech.revolute
    z_i, z_k, B = chain.z(j, i), chain.z(j, k), chain.B(j)
    if not revolute[i]:
        return dot(cross(z_i, z_k), B) if revolute[k] else chain.mech.zero
    if not revolute[k]:
        return dot(z_i, cross(z_k, B))
    L_ij = chain.L[j][i]
    L_ik = sub(L_ij, chain.L[j][k])
    moment = add(chain.H(j), cross(L_ij, B))
    return dot(cross(z_i, z_k), moment) - dot(z_i, cross(cross(z_k, L_ik), B))


def _by_outer_joint(chain: Chain, i: int, j: int, k: int) -> Scalar:
    """dM_ij/dq_k for i <= j < k: extended body k turns or shifts within the others (A-2)-(A-4)."""
    revolute = chain.mech.revolute
    z_i, z_j, B = chain.z(k, i), chain.z(k, j), chain.B(k)
    if not revolute[i] and not revolute[j]:
        return chain.mech.zero
    if not revolute[i]:
        return dot(z_i, cross(z_j, B))
    if not revolute[j]:
        return dot(z_j, cross(z_i, B))
    L_i, L_j = chain.L[k][i], chain.L[k][j]
    change = mul(_dyadic_rate(chain, k), z_j)
    change = sub(change, add(cross(L_i, cross(B, z_j)), cross(B, cross(L_j, z_j))))
    return dot(z_i, change)


def _dyadic_rate(chain: Chain, k: int) -> Mat3:
    """dI/dq_k of extended body k seen from a frame before joint k, in frame k and about origin k."""
    body = chain.body[k]
    if chain.mech.revolute[k]:  # z^ I - I z^
        (xx, xy, xz), (_, yy, yz), _ = body.I
        return (
            (-(xy + xy), xx - yy, -yz),
            (xx - yy, xy + xy, xz),
            (-yz, xz, chain.mech.zero),
        )
    x, y, z = body.U  # -{z, U}
    zero = chain.mech.zero
    return ((z + z, zero, -x), (zero, z + z, -y), (-x, -y, zero))


class Symbols:
    """The coefficients b_ijk (j < k) and c_ijj, each found once, by the first rule that gives it."""

    def __init__(self, along: Chain, parallel_rules: bool) -> None:
        self._along = along
        self._ruled = [parallel_rules and along.parallel(p) for p in range(along.mech.n)]
        self._rates: dict[tuple[int, int, int], Scalar] = {}
        self._b: dict[tuple[int, int, int], Scalar] = {}

    def table(self) -> list[list[list[Scalar]]]:
        """beta_ijk, n x n x n."""
        n = self._along.mech.n
        half = self._along.mech.algebra.number(Fraction(1, 2))
        beta = zeros(self._along.mech.zero, n, n, n)
        for i in range(n):
            for j in range(n):
                beta[i][j][j] = self.c(i, j)
                for k in range(j + 1, n):
                    beta[i][j][k] = beta[i][k][j] = half * self.b(i, j, k)
        return beta

    def rate(self, i: int, j: int, k: int) -> Scalar:
        """dM_ij/dq_k, i <= j."""
        if (i, j, k) not in self._rates:
            self._rates[i, j, k] = inertia_rate(self._along, i, j, k)
        return self._rates[i, j, k]

    def c(self, i: int, j: int) -> Scalar:
        """c_ijj (Burdick (27))."""
        if i == j:
            return self._along.mech.zero
        if i > j:
            half = self._along.mech.algebra.number(Fraction(1, 2))
            return -(half * self.b(j, j, i))
        if self._ruled[i]:  # (35), last two lines
            own = self._twist(i, j, j)
            return own if j == i + 1 else self.c(i + 1, j) + own
        return self.rate(i, j, j)

    def b(self, i: int, j: int, k: int) -> Scalar:
        """b_ijk, j < k (Burdick (28), (29), (34), (35))."""
        if i == k:
            return self._along.mech.zero  # (28)
        if i > k:
            return -self.b(k, j, i)  # (28)
        if (i, j, k) not in self._b:
            self._b[i, j, k] = self._parallel(i, j, k) if self._ruled[i] or self._ruled[j] else self._general(i, j, k)
        return self._b[i, j, k]

    def _general(self, i: int, j: int, k: int) -> Scalar:
        if i == j:
            return self.rate(i, i, k)  # (28) with (27)
        if i < j:
            return self.rate(i, j, k) + self.rate(i, k, j)  # (29)
        return self.rate(j, i, k) - self.rate(j, k, i)  # (29)

    def _parallel(self, i: int, j: int, k: int) -> Scalar:
        """b_ijk, i < k, where joint i or j is parallel to its successor."""
        if self._ruled[j] and i != j:  # its successor may stand for it: (34), and by the same proof for i = j + 1
            return self._twice(self.c(i, k)) if k == j + 1 else self.b(i, j + 1, k)  # (35), third line
        if j < i:  # (35), fifth line and second
            w = self._along.w(k, j)
            own = -self._twice(dot(w, cross(origin_rate(self._along, i, k), self._along.B(k))))
            return own if k == i + 1 else self.b(i + 1, j, k) + own
        own = self._twice(self._twist(i, j, k))
        if j > i + 1:
            return self.b(i + 1, j, k) + own  # (35), fourth line
        if k == i + 1:
            return own  # b_p,p,p+1 = -2 c_p+1,p,p = 2 c_p,p+1,p+1: (35), seventh line
        return self.b(i + 1, i + 1, k) + own  # (35), first and sixth line

    def _twist(self, p: int, j: int, k: int) -> Scalar:
        """(z x P_{p+1}) . (w_j x B_k): the derivative of eta_{p+1,k} by q_j or of eta_{p+1,j} by q_k, j <= k."""
        offset: Vec3 = origin_rate(self._along, p, k)
        return dot(offset, cross(self._along.w(k, j), self._along.B(k)))

    @staticmethod
    def _twice(value: Scalar) -> Scalar:
        return value + value
