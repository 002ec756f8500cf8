"""How efforts change with positions and speeds, by composite bodies, over any scalar.

Singh, Russell and Wensing, 'Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra',
2022, for joints of one speed. With v and a the motion of a joint's inner link, S' = v x S and S'' = a x S + v x S',
and I, B, f the inertia, the Coriolis factor and the force of all bodies beyond the outer of two joints i <= j,

    d tau_i / d q_j = S_i . (2 B S_j' + I S_j'' + S_j x* f)        d tau_j / d q_i = S_j . (2 B S_i' + I S_i'')

and d tau / d qd is twice the Coriolis matrix of Christoffel's symbols. B is kept as two sums over
the bodies (`coriolis_composite`); linear accelerations are those of points, as in the recursion that programs are
traced from. Whatever is doubled here is linear in the velocities: so these are doubled, once for each link.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.composite_body import composite_inertias
from emdeg.dynamics.formulations.coriolis_composite import (
    composite_factors,
    coriolis_of_motion,
)
from emdeg.dynamics.formulations.rnea_link_frame import (
    LinkMotion,
    base_motion,
    inertia_forces,
    motion,
)
from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass, links_before
from emdeg.dynamics.spatial import Scalar, Spatial, Vec3, acceleration_matrix, add, cross, dot, mul, tmul, zeros
from emdeg.robot import BASE

Matrix = list[list[Scalar]]


def inverse_dynamics_derivatives(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> tuple[Matrix, Matrix]:
    """(dtau/dq, dtau/dqd), each n x n."""
    return by_positions(mech, frame, qd, qdd), by_speeds(mech, frame, qd)


def by_speeds(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> Matrix:
    """dtau/dqd, n x n: twice the Coriolis matrix, whatever the accelerations are."""
    return coriolis_of_motion(mech, frame, _twice_velocities(mech, frame, qd))


def _twice_velocities(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> tuple[Spatial, ...]:
    """Twice every link's angular velocity and that of its origin, in its frame."""
    still, X = mech.still, frame.X

    def turning(i: int, w: Vec3) -> Vec3:
        return add(tmul(frame.R[i], w), mech.joint_motion(i, qd).w)

    def step(i: int, before: Spatial) -> Spatial:
        v, slide = (X[i] @ before).v, mech.joint_motion(i, qd).v
        return Spatial(add(w[i], w[i]), add(v, add(slide, slide)))

    w = forward_pass(mech, still.w, turning)
    return forward_pass(mech, still, step)


def by_positions(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Matrix:
    """dtau/dq, n x n."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    moves, twice = motion(mech, frame, qd, qdd), _twice_velocities(mech, frame, qd)
    B = composite_factors(mech, frame, twice)
    f = backward_pass(mech, inertia_forces(mech, moves), lambda i, f: X[i].T @ f)
    none = mech.still.v
    first = [Spatial(cross(move.omega, S[j].w), none) for j, move in enumerate(moves)]
    second = [_second_change(mech, frame, j, moves, twice) for j in range(mech.n)]
    D = zeros(mech.zero, mech.n, mech.n)
    for j in range(mech.n):
        F = B[j] @ first[j] + I[j] @ second[j]
        D[j][j] = S[j].dot(F)
        F = F + S[j].cross_force(f[j])
        G = I[j] @ S[j]
        H = B[j].turn_weight(S[j])
        for k, i in links_before(mech, j):
            F, G, H = X[k].T @ F, X[k].T @ G, mul(X[k].R, H)
            D[i][j] = S[i].dot(F)
            D[j][i] = dot(H, first[i].w) + G.dot(second[i])
    return D


def _second_change(
    mech: Mechanism, frame: Frames, j: int, moves: Sequence[LinkMotion], twice: Sequence[Spatial]
) -> Spatial:
    """S'' of joint j in its link's frame: (U w, U v + a x w + 2 v_p x (w_p x w)) of its axis (w, v).

    U, a and v_p are those of the inner link, at the joint's origin.
    """
    R, p, parent, S = frame.R[j], frame.p[j], mech.parent[j], mech.S[j]
    inner = base_motion(mech, True) if parent == BASE else moves[parent]
    w, wd, a = inner.omega, inner.omegad, inner.vd
    if parent != BASE:
        a = add(a, mul(acceleration_matrix(w, wd), p))
    w, wd, a = tmul(R, w), tmul(R, wd), tmul(R, a)
    turned = S.accelerated(w, wd)
    twice_v = (frame.X[j] @ (mech.still if parent == BASE else twice[parent])).v
    return Spatial(turned.w, add(turned.v, add(cross(a, S.w), cross(twice_v, cross(w, S.w)))))
