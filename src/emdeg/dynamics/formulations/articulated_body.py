"""Forward dynamics by articulated bodies (Featherstone), over any scalar that divides."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.energy import velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, inward, outward
from emdeg.dynamics.spatial import Articulated, Scalar, Spatial, neg
from emdeg.robot import BASE


def forward_dynamics(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """qdd, the joint accelerations [rad/s^2, m/s^2] that the efforts tau cause."""
    X, S, n, one = frame.X, mech.S, mech.n, mech.one
    v = velocities(mech, frame, qd)
    c = [v[i].cross(S[i]) * qd[i] for i in range(n)]
    p = [v[i].cross_force(mech.inertia[i] @ v[i]) for i in range(n)]
    I = [Articulated.of(body, mech.zero) for body in mech.inertia]

    U: dict[int, Spatial] = {}
    u: dict[int, Scalar] = {}
    per_D: dict[int, Scalar] = {}
    for i, parent in inward(mech):
        U[i] = I[i] @ S[i]
        per_D[i] = one / (S[i].dot(U[i]) + mech.drive[i])
        u[i] = tau[i] - S[i].dot(p[i])
        if parent != BASE:
            Ia = I[i].less_square(U[i], per_D[i])
            pa = p[i] + Ia @ c[i] + U[i] * (per_D[i] * u[i])
            I[parent] = I[parent] + Ia.to_parent(X[i])
            p[parent] = p[parent] + X[i].T @ pa

    # A base that accelerates upwards feels like gravity.
    a = {BASE: Spatial(mech.still.w, neg(mech.gravity))}
    qdd: list[Scalar] = []
    for i, parent in outward(mech):
        arriving = X[i] @ a[parent] + c[i]
        qdd.append((u[i] - U[i].dot(arriving)) * per_D[i])
        a[i] = arriving + S[i] * qdd[i]
    return qdd
