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

from emdeg.mechanics.formulations.composite_body import composite_inertias, unit_effort
from emdeg.mechanics.formulations.energy import velocities
from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, inward
from emdeg.mechanics.spatial import Spatial, force_to_parent, inertia_times
from emdeg.mechanics.vectors import Mat3, Scalar, Vec3, add, madd, matmul, mul, outer, skew, transpose
from emdeg.robot.model import BASE


@dataclass(frozen=True, slots=True)
class Flow:
    """A body's momentum P = sum m a and D = sum m a r^T about the frame's origin."""

    P: Vec3
    D: Mat3


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k."""
    n, zero = mech.n, mech.zero
    v = velocities(mech, frame, qd)
    composite = composite_inertias(mech, frame)
    flow = composite_flows(mech, frame, v)
    rate = [_axis_rate(mech.revolute[j], v[j], zero) for j in range(n)]
    C = [[zero] * n for _ in range(n)]
    for j in range(n):
        F = inertia_times(composite[j], rate[j]) + _factor_times_axis(flow[j], mech.revolute[j], zero)
        f, m = unit_effort(composite[j], mech.revolute[j], zero)
        G = Spatial(m, f)
        H = _axis_times_factor(flow[j], mech.revolute[j])
        C[j][j] = _along(F, mech.revolute[j])
        i, parent = j, mech.parent[j]
        while parent != BASE:
            F, G, H = _to_parent(frame, i, F), _to_parent(frame, i, G), mul(frame.R[i], H)
            i, parent = parent, mech.parent[parent]
            C[i][j] = _along(F, mech.revolute[i])
            felt = G.dot(rate[i])
            C[j][i] = felt + H[2] if mech.revolute[i] else felt
    return C


def composite_flows(mech: Mechanism, frame: Frames, v: Sequence[Spatial]) -> list[Flow]:
    """Each link's flow together with that of everything beyond it, in the link's frame."""
    flows = [_flow(mech.inertia[i], v[i], mech) for i in range(mech.n)]
    for i, parent in inward(mech):
        if parent != BASE:
            R, p = frame.R[i], frame.p[i]
            P = mul(R, flows[i].P)
            D = madd(matmul(matmul(R, flows[i].D), transpose(R)), outer(P, p))
            flows[parent] = Flow(add(flows[parent].P, P), madd(flows[parent].D, D))
    return flows


def _flow(body: BodyInertia, v: Spatial, mech: Mechanism) -> Flow:
    half = mech.algebra.number(Fraction(1, 2))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.J
    spread = (  # sum m r r^T
        ((yy + zz - xx) * half, -xy, -xz),
        (-xy, (xx + zz - yy) * half, -yz),
        (-xz, -yz, (xx + yy - zz) * half),
    )
    P = inertia_times(body, v).v
    return Flow(P, madd(outer(v.v, body.h), matmul(skew(v.w), spread)))


def _axis_rate(revolute: bool, v: Spatial, zero: Scalar) -> Spatial:
    """S-dot = v x S: the joint's axis moves with its link."""
    if revolute:
        return Spatial((v.w[1], -v.w[0], zero), (v.v[1], -v.v[0], zero))
    return Spatial((zero, zero, zero), (v.w[1], -v.w[0], zero))


def _factor_times_axis(flow: Flow, revolute: bool, zero: Scalar) -> Spatial:
    """B S: the force z x P and the moment tr(D) z - D z of a turn about z; a slide feels nothing."""
    if not revolute:
        return Spatial((zero,) * 3, (zero,) * 3)
    P, D = flow.P, flow.D
    return Spatial((-D[0][2], -D[1][2], D[0][0] + D[1][1]), (-P[1], P[0], zero))


def _axis_times_factor(flow: Flow, revolute: bool) -> Vec3:
    """B^T S: what a turn w at the other joint is weighted with."""
    P, D = flow.P, flow.D
    if revolute:  # tr(D) z - D^T z
        return (-D[2][0], -D[2][1], D[0][0] + D[1][1])
    return (P[1], -P[0], P[2] * 0)  # P x z


def _along(effort: Spatial, revolute: bool) -> Scalar:
    return effort.w[2] if revolute else effort.v[2]


def _to_parent(frame: Frames, i: int, effort: Spatial) -> Spatial:
    return force_to_parent(frame.R[i], frame.p[i], effort)
