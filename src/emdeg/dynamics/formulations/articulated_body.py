"""Forward dynamics by articulated bodies (Featherstone), over any scalar that divides.

A joint of several speeds is eliminated axis by axis, as joints in series without bodies between them would be.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.energy import velocities, velocity_product
from emdeg.dynamics.mechanism import Frames, Mechanism, inward, outward
from emdeg.dynamics.spatial import Articulated, Scalar, Spatial, neg
from emdeg.robot import BASE


def forward_dynamics(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """qdd, the joint accelerations [rad/s^2, m/s^2] that the efforts tau cause."""
    X, S, speeds, n, one = frame.X, mech.S, mech.speeds, mech.n, mech.one
    v = velocities(mech, frame, qd)
    c = [velocity_product(mech, i, v[i], qd) for i in range(n)]
    p = [v[i].cross_force(mech.inertia[i] @ v[i]) for i in range(n)]
    I = [Articulated.of(body, mech.zero) for body in mech.inertia]

    U: dict[int, Spatial] = {}
    u: dict[int, Scalar] = {}
    per_D: dict[int, Scalar] = {}
    for i, parent in inward(mech):
        Ia, pushed = I[i], p[i]
        for k in speeds[i]:
            U[k] = Ia @ S[k]
            per_D[k] = one / (S[k].dot(U[k]) + mech.drive[k])
            u[k] = tau[k] - S[k].dot(pushed)
            if parent != BASE or k != speeds[i][-1]:
                Ia = Ia.rank_one_downdate(U[k], per_D[k])
            if k != speeds[i][-1]:
                pushed = pushed + U[k] * (per_D[k] * u[k])
        if parent != BASE:
            pa = p[i] + Ia @ c[i]
            for k in speeds[i]:
                pa = pa + U[k] * (per_D[k] * u[k])
            I[parent] = I[parent] + Ia.to_parent(X[i])
            p[parent] = p[parent] + X[i].T @ pa

    # A base that accelerates upwards feels like gravity.
    a = {BASE: Spatial(mech.still.w, neg(mech.gravity))}
    qdd = [mech.zero] * mech.nv
    for i, parent in outward(mech):
        a[i] = X[i] @ a[parent] + c[i]
        for k in reversed(speeds[i]):
            qdd[k] = (u[k] - U[k].dot(a[i])) * per_D[k]
            a[i] = a[i] + S[k] * qdd[k]
    return qdd
