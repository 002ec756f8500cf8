"""M and g from composite links and Paul's differential vectors, after Izaguirre and Paul (1985), over any scalar.

delta_i and d_i are how joint i at unit rate turns and moves frame j, in frame j: D_ij is their product with the
momentum that joint j gives to everything beyond it. Nothing is carried inwards. (Written from what Paul's book and
the papers that cite the method say of it.)
"""

from __future__ import annotations

from emdeg.dynamics.formulations.composite_body import composite_inertias
from emdeg.dynamics.formulations.energy import partial_velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, forward_pass
from emdeg.dynamics.spatial import Scalar, Spatial, tmul, zeros


def inertial_coefficients(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """D_ij = delta_i . H_j + d_i . B_j, n x n, drives included."""
    D = zeros(mech.zero, mech.n, mech.n)
    vectors = partial_velocities(mech, frame)
    for j, momentum in enumerate(_momenta(mech, frame)):
        for i, differential in vectors[j].items():
            # The joint's own vectors are its axis, whose products multiply nothing.
            D[i][j] = D[j][i] = (mech.S[j] if i == j else differential).dot(momentum)
        D[j][j] = D[j][j] + mech.drive[j]
    return D


def gravitational_coefficients(mech: Mechanism, frame: Frames) -> list[Scalar]:
    """D_i: the weight of everything beyond joint i against the momentum that the joint gives it."""
    down = forward_pass(mech, mech.gravity, lambda i, g: tmul(frame.R[i], g))
    still = mech.still.w
    return [-Spatial(still, down[i]).dot(momentum) for i, momentum in enumerate(_momenta(mech, frame))]


def _momenta(mech: Mechanism, frame: Frames) -> list[Spatial]:
    """(H_j, B_j): angular momentum about origin j and momentum of all beyond joint j at its unit rate."""
    return [body @ mech.S[j] for j, body in enumerate(composite_inertias(mech, frame))]
