"""How efforts change with positions and speeds, by composite bodies, over any scalar.

Singh, Russell and Wensing, 'Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra',
2022, for joints of one freedom. With v and a the motion of a joint's inner link, S' = v x S and S'' = a x S + v x S',
and I, B, f the inertia, the Coriolis factor and the force of all bodies beyond the outer of two joints i <= j,

    d tau_i / d q_j = S_i . (2 B S_j' + I S_j'' + S_j x* f)        d tau_j / d q_i = S_j . (2 B S_i' + I S_i'')

and d tau / d qd is twice the Coriolis matrix of Christoffel's symbols. B is kept as the bodies' flow
(`coriolis_composite`); linear accelerations are those of points, as in the recursion that programs are traced from.
Whatever is doubled here is linear in the velocities: so these are doubled, once for each link.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.composite_body import composite_inertias
from emdeg.dynamics.formulations.coriolis_composite import (
    Flow,
    axis_times_factor,
    composite_flows,
    coriolis_of_motion,
)
from emdeg.dynamics.mechanism import Frames, Mechanism, carried_outward, links_before, summed_inward
from emdeg.dynamics.spatial import Axis, Scalar, Spatial, Vec3, add, cross, dot, mul, plus_z, scale, sub, tmul, zeros
from emdeg.dynamics.variants.link_frame_recursion import (
    LinkMotion,
    acceleration_matrix,
    base_motion,
    inertia_forces,
    motion,
)
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
        w = tmul(frame.R[i], w)
        return plus_z(w, qd[i]) if mech.revolute[i] else w

    def step(i: int, before: Spatial) -> Spatial:
        v = (X[i] @ before).v
        return Spatial(add(w[i], w[i]), v if mech.revolute[i] else plus_z(v, qd[i] + qd[i]))

    w = carried_outward(mech, still.w, turning)
    return carried_outward(mech, still, step)


def by_positions(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> Matrix:
    """dtau/dq, n x n."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    moves, twice = motion(mech, frame, qd, qdd), _twice_velocities(mech, frame, qd)
    flow = composite_flows(mech, frame, twice)
    f = summed_inward(mech, inertia_forces(mech, moves), lambda i, f: X[i].T @ f)
    first = [Spatial(move.omega, mech.still.v).cross(S[j]).w for j, move in enumerate(moves)]
    second = [_second_change(mech, frame, j, moves, twice[j]) for j in range(mech.n)]
    D = zeros(mech.zero, mech.n, mech.n)
    for j in range(mech.n):
        F = _factor_times_turn(flow[j], first[j]) + I[j] @ second[j]
        D[j][j] = S[j].dot(F)
        F = F + _turned_force(S[j], f[j])
        G = I[j] @ S[j]
        H = axis_times_factor(flow[j], S[j])
        for k, i in links_before(mech, j):
            F, G, H = X[k].T @ F, X[k].T @ G, mul(X[k].R, H)
            D[i][j] = S[i].dot(F)
            D[j][i] = dot(H, first[i]) + G.dot(second[i])
    return D


def _second_change(mech: Mechanism, frame: Frames, j: int, moves: Sequence[LinkMotion], twice: Spatial) -> Spatial:
    """S'' of joint j in its link's frame: U z of the inner link, and of a turning joint a x z + 2 v x (w x z)."""
    R, p, parent = frame.R[j], frame.p[j], mech.parent[j]
    inner = base_motion(mech, True) if parent == BASE else moves[parent]
    w, wd, a = inner.omega, inner.omegad, inner.vd
    if parent != BASE:
        a = add(a, mul(acceleration_matrix(w, wd), p))
    w, wd, a = tmul(R, w), tmul(R, wd), tmul(R, a)
    zero = mech.zero
    x, y, z = w
    turned = (x * z + wd[1], y * z - wd[0], -(x * x + y * y))
    if not mech.revolute[j]:
        return Spatial((zero, zero, zero), turned)
    return Spatial(turned, add((a[1], -a[0], zero), cross(twice.v, (y, -x, zero))))


def _factor_times_turn(flow: Flow, w: Vec3) -> Spatial:
    """B of a turn w: the force w x P and the moment tr(D) w - D w."""
    D = flow.D
    return Spatial(sub(scale(D[0][0] + D[1][1] + D[2][2], w), mul(D, w)), cross(w, flow.P))


def _turned_force(S: Axis, f: Spatial) -> Spatial:
    """S x* f: z x of moment and force for a turn, the moment z x force for a slide."""
    zero = S.w[0]

    def turned(u: Vec3) -> Vec3:
        return (-u[1], u[0], zero)

    return Spatial(turned(f.w), turned(f.v)) if S.revolute else Spatial(turned(f.v), (zero, zero, zero))
