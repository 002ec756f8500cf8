"""The Coriolis matrix whose entries are the Christoffel symbols times the rates, over any scalar.

Many matrices C satisfy C qd = the Coriolis and centrifugal torques; only this one makes M-dot - 2C skew. It is
summed body by body: C = sum J^T (I J-dot + B J) with B = (v x* I + (I v) xbar* - I v x) / 2, the body-level
factorisation of Echeandia and Wensing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.mechanics.formulations.energy import partial_velocities, partial_velocity_rates, velocities
from emdeg.mechanics.mechanism import Frames, Mechanism
from emdeg.mechanics.spatial import BodyInertia, Scalar, Spatial, zeros


def coriolis_matrix(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """C, n x n, with C_ij = sum_k beta_ijk qd_k (Armstrong et al., eq. 6)."""
    half = mech.algebra.number(Fraction(1, 2))
    v = velocities(mech, frame, qd)
    J, Jd = partial_velocities(mech, frame), partial_velocity_rates(mech, frame, v)
    C = zeros(mech.zero, mech.n, mech.n)
    for i, I in enumerate(mech.inertia):
        for b in J[i]:
            force = I @ Jd[i][b] + _twice_B(I, v[i], J[i][b]) * half
            for a in J[i]:
                C[a][b] = C[a][b] + J[i][a].dot(force)
    return C


def _twice_B(I: BodyInertia, v: Spatial, m: Spatial) -> Spatial:
    return v.cross_force(I @ m) + m.cross_force(I @ v) - I @ v.cross(m)
