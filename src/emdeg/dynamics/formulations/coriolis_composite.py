"""The Christoffel-consistent Coriolis matrix by composite bodies, over any scalar.

For a body moving with velocity field a(r), the factorisation B of Echeandia and Wensing acts on a motion (w, u) point
by point as the force dm w x a: so it needs the body's momentum P = sum m a and the matrix D = sum m a r^T alone, and
both of them add up over bodies and move from child to parent as cheaply as an inertia does. With composite I, P and D,

    C_ij = S_i . (I S_j-dot + B S_j)                       of the bodies beyond both joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from emdeg.dynamics.formulations.composite_body import composite_inertias
from emdeg.dynamics.formulations.energy import velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, joint_speeds, links_before
from emdeg.dynamics.spatial import (
    BodyInertia,
    Mat3,
    Scalar,
    Spatial,
    Transform,
    Vec3,
    add,
    madd,
    matmul,
    mul,
    outer,
    second_moments,
    skew,
    transpose,
    zeros,
)


@dataclass(frozen=True, slots=True)
class CoriolisFactor:
    """B of a body as its momentum P = sum m a and D = sum m a r^T about the frame's origin."""

    P: Vec3
    D: Mat3

    def __add__(self, other: CoriolisFactor) -> CoriolisFactor:
        return CoriolisFactor(add(self.P, other.P), madd(self.D, other.D))

    def __matmul__(self, m: Spatial) -> Spatial:
        """B m: the force w x P and the moment tr(D) w - D w of a motion that rotates by w."""
        return Spatial(m.spread(self.D), m.turn_cross(self.P))

    def turn_weight(self, m: Spatial) -> Vec3:
        """The rotational part of B^T m."""
        return add(m.spread(transpose(self.D)), m.cross_slide(self.P))

    def to_parent(self, X: Transform) -> CoriolisFactor:
        """The factor stated in a child's frame, in the parent's."""
        P = mul(X.R, self.P)
        return CoriolisFactor(P, madd(X.turned(self.D), outer(P, X.p)))


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k."""
    return coriolis_of_motion(mech, frame, velocities(mech, frame, qd))


def coriolis_of_motion(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> list[list[Scalar]]:
    """C, n x n, of links that move with v; it is linear in v."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    Sd = [v[j].cross(S[b]) for j, b in joint_speeds(mech)]
    B = composite_factors(mech, frame, v)
    C = zeros(mech.zero, mech.nv, mech.nv)
    for j, b in joint_speeds(mech):
        F = I[j] @ Sd[b] + B[j] @ S[b]
        G = I[j] @ S[b]
        H = B[j].turn_weight(S[b])
        for a in mech.speeds[j]:
            C[a][b] = S[a].dot(F)
        for k, i in links_before(mech, j):
            F, G, H = X[k].T @ F, X[k].T @ G, mul(X[k].R, H)
            for a in mech.speeds[i]:
                C[a][b] = S[a].dot(F)
                C[b][a] = G.dot(Sd[a]) + S[a].turn_dot(H)
    return C


def composite_factors(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> list[CoriolisFactor]:
    """Each link's factor plus those of all links beyond it, in the link's frame."""
    X = frame.X
    own = [_factor(mech.inertia[i], v[i], mech) for i in range(mech.n)]
    return backward_pass(mech, own, lambda i, B: B.to_parent(X[i]))


def _factor(body: BodyInertia, v: Spatial, mech: Mechanism) -> CoriolisFactor:
    half = mech.algebra.number(Fraction(1, 2))
    P = (body @ v).v
    return CoriolisFactor(P, madd(outer(v.v, body.mr), matmul(skew(v.w), second_moments(body.J, half))))
