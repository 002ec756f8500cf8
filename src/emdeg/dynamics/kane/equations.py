"""Kane's equations over any scalar: partial velocities dotted into inertia and active forces, body by body.

Kane and Levinson take forces at mass centres. Here they are taken at the link frames' origins, which is as good a
point of the body as any and keeps every line linear in a link's ten parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from emdeg.dynamics.formulations.coefficients import Coefficients
from emdeg.dynamics.formulations.energy import partial_velocities, velocity_product
from emdeg.dynamics.formulations.energy import velocities as body_velocities
from emdeg.dynamics.kane.systems import System, known_angular_velocities, velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, forward_pass
from emdeg.dynamics.spatial import Scalar, Spatial, frozen, neg, tmul, zeros


def kane_coefficients(mech: Mechanism, frame: Frames) -> Coefficients:
    """M, beta and g for u = qd, from the bodies' generalized inertia and active forces. Chains and trees."""
    n, zero = mech.nv, mech.zero
    half = mech.algebra.number(Fraction(1, 2))
    M = zeros(zero, n, n)
    beta = zeros(zero, n, n, n)
    g = [zero] * n
    weight = forward_pass(mech, mech.gravity, lambda i, down: tmul(frame.R[i], down))
    for I, partials, down in zip(mech.inertia, partial_velocities(mech, frame), weight):
        pull = I @ Spatial(mech.still.w, down)
        for r, V_r in partials.items():
            g[r] = g[r] - V_r.dot(pull)
        for s, t in combinations_with_replacement(sorted(partials), 2):
            V_s, V_t = partials[s], partials[t]
            # A joint turns everything beyond it and nothing before it: dV_t/dq_s = V_s x V_t.
            force = V_s.cross_force(I @ V_s)
            if s != t:
                force = I @ V_s.cross(V_t) + V_s.cross_force(I @ V_t) + V_t.cross_force(I @ V_s)
            M[s][t] = M[s][t] + V_s.dot(I @ V_t)
            for r, V_r in partials.items():  # Kane and Levinson (78), (79), (90)
                beta[r][s][t] = beta[r][s][t] + V_r.dot(force)
    for i in range(n):
        M[i][i] = M[i][i] + mech.drive[i]
        for j in range(i + 1, n):
            M[j][i] = M[i][j]
            for r in range(n):
                beta[r][i][j] = beta[r][j][i] = half * beta[r][i][j]
    return Coefficients(frozen(M), frozen(beta), tuple(g))


def kane_efforts(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar]) -> list[Scalar]:
    """tau for u = qd: each link's inertia and weight dotted into the partial velocities of the joints before it."""
    v = body_velocities(mech, frame, qd)
    X, S = frame.X, mech.S
    start = Spatial(mech.still.w, neg(mech.gravity))  # a base that accelerates upwards feels like gravity

    def accelerated(i: int, a: Spatial) -> Spatial:
        return X[i] @ a + mech.joint_motion(i, qdd) + velocity_product(mech, i, v[i], qd)

    a = forward_pass(mech, start, accelerated)
    tau = [drive * x for drive, x in zip(mech.drive, qdd)]
    for i, partials in enumerate(partial_velocities(mech, frame)):
        force = mech.inertia[i] @ a[i] + v[i].cross_force(mech.inertia[i] @ v[i])
        for r, V_r in partials.items():
            tau[r] = tau[r] + (S[r] if r in mech.speeds[i] else V_r).dot(force)
    return tau


def speed_partials(sys: System, W: Sequence[Sequence[Scalar]]) -> list[tuple[Spatial, ...]]:
    """Per speed, how it moves every link (Kane and Levinson (23), (44)).

    W = A^-1 (free joints x speeds) says how the rates follow the speeds.
    """
    zero, one, n = sys.mech.zero, sys.mech.one, len(sys.free)
    found = []
    for r in range(n):
        u = [one if i == r else zero for i in range(n)]
        qd = sys.all_joints([row[r] for row in W], [zero] * len(sys.given))
        found.append(velocities(sys, qd, known_angular_velocities(sys, u)))
    return found


def inertia_coefficients(sys: System, W: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """X, symmetric: the generalized inertia forces are K*_r = - sum X_rs ud_s - (terms without ud)."""
    mech, n = sys.mech, len(sys.free)
    V = speed_partials(sys, W)
    X = zeros(mech.zero, n, n)
    for s in range(n):
        for i in range(sys.offset, mech.n):
            force = mech.inertia[i] @ V[s][i]
            for r in range(s + 1):
                X[r][s] = X[r][s] + V[r][i].dot(force)
        for k, joint in enumerate(sys.free):
            for r in range(s + 1):
                X[r][s] = X[r][s] + mech.drive[joint] * W[k][r] * W[k][s]
        for r in range(s):
            X[s][r] = X[r][s]
    return X
