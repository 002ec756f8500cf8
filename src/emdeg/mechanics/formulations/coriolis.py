"""The Coriolis matrix whose entries are the Christoffel symbols times the rates, over any scalar.

Many matrices C satisfy C qd = the Coriolis and centrifugal torques; only this one makes M-dot - 2C skew. It is
summed body by body: C = sum J^T (I J-dot + B J) with B = (v x* I + (I v) xbar* - I v x) / 2, the body-level
factorisation of Echeandia and Wensing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.mechanics.mechanism import BodyInertia, Frames, Mechanism, outward
from emdeg.mechanics.spatial import (
    Spatial,
    axis,
    cross_force,
    cross_motion,
    inertia_times,
    motion_to_child,
)
from emdeg.mechanics.vectors import Scalar
from emdeg.robot.model import BASE


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k (Armstrong et al., eq. 6)."""
    zero, n = mech.zero, mech.n
    half = mech.algebra.number(Fraction(1, 2))
    C = [[zero] * n for _ in range(n)]
    J: list[dict[int, Spatial]] = []
    v: list[Spatial] = []
    still = Spatial((zero,) * 3, (zero,) * 3)
    Jd: list[dict[int, Spatial]] = []
    for i, parent in outward(mech):
        R, p = frame.R[i], frame.p[i]
        S = axis(mech.revolute[i], zero, mech.one)
        own = S.scaled(qd[i])
        columns: dict[int, Spatial] = {}
        rates: dict[int, Spatial] = {}
        carried = still
        if parent != BASE:
            carried = motion_to_child(R, p, v[parent])
            # d/dt of (X J) = X J-dot - (S qd) x (X J), the child moving with S qd against the parent.
            for k, column in J[parent].items():
                columns[k] = motion_to_child(R, p, column)
                rates[k] = motion_to_child(R, p, Jd[parent][k]) - cross_motion(own, columns[k])
        columns[i] = S
        rates[i] = still
        J.append(columns)
        Jd.append(rates)
        v.append(carried + own)
        for b, column in columns.items():
            # J-dot in a moving frame lacks v x J; together they are the column's true rate.
            rate = rates[b] + cross_motion(v[i], column)
            force = inertia_times(mech.inertia[i], rate) + _factor(mech.inertia[i], v[i], column).scaled(half)
            for a, row in columns.items():
                C[a][b] = C[a][b] + row.dot(force)
    return C


def _factor(body: BodyInertia, v: Spatial, m: Spatial) -> Spatial:
    """2 B m."""
    return (
        cross_force(v, inertia_times(body, m))
        + cross_force(m, inertia_times(body, v))
        - inertia_times(body, cross_motion(v, m))
    )
