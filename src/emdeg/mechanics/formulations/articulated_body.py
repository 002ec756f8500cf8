"""Forward dynamics by articulated bodies (Featherstone), over any scalar that divides."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.mechanics.mechanism import Frames, Mechanism, inward, outward
from emdeg.mechanics.spatial import (
    Articulated,
    Spatial,
    axis,
    cross_force,
    cross_motion,
    force_to_parent,
    inertia_times,
    motion_to_child,
)
from emdeg.mechanics.vectors import Scalar, neg
from emdeg.robot.model import BASE


def forward_dynamics(mech: Mechanism, frame: Frames, qd: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """qdd, the joint accelerations [rad/s^2, m/s^2] that the efforts tau cause."""
    zero, one, n = mech.zero, mech.one, mech.n
    S = [axis(revolute, zero, one) for revolute in mech.revolute]
    still = Spatial((zero,) * 3, (zero,) * 3)

    v: list[Spatial] = []
    c: list[Spatial] = []
    for i, parent in outward(mech):
        carried = still if parent == BASE else motion_to_child(frame.R[i], frame.p[i], v[parent])
        own = S[i].scaled(qd[i])
        v.append(carried + own)
        c.append(cross_motion(v[i], own))

    I = [Articulated.of(body, zero) for body in mech.inertia]
    p = [cross_force(v[i], inertia_times(mech.inertia[i], v[i])) for i in range(n)]
    U: list[Spatial] = [still] * n
    u: list[Scalar] = [zero] * n
    per_D: list[Scalar] = [zero] * n
    for i, parent in inward(mech):
        U[i] = I[i].times(S[i])
        per_D[i] = one / (S[i].dot(U[i]) + mech.drive[i])
        u[i] = tau[i] - S[i].dot(p[i])
        if parent != BASE:
            Ia = I[i].less_square(U[i], per_D[i])
            pa = p[i] + Ia.times(c[i]) + U[i].scaled(per_D[i] * u[i])
            I[parent] = I[parent] + Ia.to_parent(frame.R[i], frame.p[i])
            p[parent] = p[parent] + force_to_parent(frame.R[i], frame.p[i], pa)

    lifted = Spatial((zero,) * 3, neg(mech.gravity))  # a base that accelerates upwards feels like gravity
    a: list[Spatial] = []
    qdd: list[Scalar] = []
    for i, parent in outward(mech):
        arriving = motion_to_child(frame.R[i], frame.p[i], lifted if parent == BASE else a[parent]) + c[i]
        qdd.append((u[i] - U[i].dot(arriving)) * per_D[i])
        a.append(arriving + S[i].scaled(qdd[i]))
    return qdd
