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
from emdeg.dynamics.mechanism import Frames, Mechanism, links_before, summed_inward
from emdeg.dynamics.spatial import (
    Axis,
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
    zeros,
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A body's momentum P = sum m a and D = sum m a r^T about the frame's origin."""

    P: Vec3
    D: Mat3

    def __add__(self, other: Flow) -> Flow:
        return Flow(add(self.P, other.P), madd(self.D, other.D))

    def to_parent(self, X: Transform) -> Flow:
        """The flow stated in a child's frame, in the parent's."""
        P = mul(X.R, self.P)
        return Flow(P, madd(X.turned(self.D), outer(P, X.p)))


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k."""
    return coriolis_of_motion(mech, frame, velocities(mech, frame, qd))


def coriolis_of_motion(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> list[list[Scalar]]:
    """C, n x n, of links that move with v; it is linear in v."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    Sd = [v[j].cross(S[j]) for j in range(mech.n)]
    flow = composite_flows(mech, frame, v)
    C = zeros(mech.zero, mech.n, mech.n)
    for j in range(mech.n):
        F = I[j] @ Sd[j] + _factor_times_axis(flow[j], S[j])
        G = I[j] @ S[j]
        H = axis_times_factor(flow[j], S[j])
        C[j][j] = S[j].dot(F)
        for k, i in links_before(mech, j):
            F, G, H = X[k].T @ F, X[k].T @ G, mul(X[k].R, H)
            C[i][j] = S[i].dot(F)
            felt = G.dot(Sd[i])
            C[j][i] = felt + H[2] if S[i].revolute else felt
    return C


def composite_flows(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> list[Flow]:
    """Each link's flow together with that of everything beyond it, in the link's frame."""
    X = frame.X
    own = [_flow(mech.inertia[i], v[i], mech) for i in range(mech.n)]
    return summed_inward(mech, own, lambda i, flow: flow.to_parent(X[i]))


def _flow(body: BodyInertia, v: Spatial, mech: Mechanism) -> Flow:
    half = mech.algebra.number(Fraction(1, 2))
    P = (body @ v).v
    return Flow(P, madd(outer(v.v, body.mr), matmul(skew(v.w), second_moments(body.J, half))))


def _factor_times_axis(flow: Flow, S: Axis) -> Spatial:
    """B S: the force z x P and the moment tr(D) z - D z of a turn about z; a slide feels nothing."""
    zero = S.w[0]
    if not S.revolute:
        none = (zero, zero, zero)
        return Spatial(none, none)
    P, D = flow.P, flow.D
    return Spatial((-D[0][2], -D[1][2], D[0][0] + D[1][1]), (-P[1], P[0], zero))


def axis_times_factor(flow: Flow, S: Axis) -> Vec3:
    """B^T S: what a turn w at the other joint is weighted with."""
    P, D = flow.P, flow.D
    if S.revolute:  # tr(D) z - D^T z
        return (-D[2][0], -D[2][1], D[0][0] + D[1][1])
    return (P[1], -P[0], S.w[0])  # P x z
