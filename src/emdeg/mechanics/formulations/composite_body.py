"""The mass matrix by composite bodies (Walker and Orin's third method), over any scalar.

Accelerate joint j by one unit, all at rest: what lies beyond it moves as one rigid body.
"""

from __future__ import annotations

from emdeg.mechanics.mechanism import Frames, Mechanism, links_before, summed_inward
from emdeg.mechanics.spatial import BodyInertia, Scalar, zeros


def mass_matrix(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """M [kg m^2, kg m, kg], n x n, both triangles."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    M = zeros(mech.zero, mech.n, mech.n)
    for j in range(mech.n):
        f = I[j] @ S[j]
        M[j][j] = S[j].dot(f) + mech.drive[j]
        for i, parent in links_before(mech, j):
            f = X[i].T @ f
            M[parent][j] = M[j][parent] = S[parent].dot(f)
    return M


def composite_inertias(mech: Mechanism, frame: Frames) -> list[BodyInertia]:
    """Each link with everything beyond it, as one rigid body in the link's frame: I_i + sum of X_k^T I_k X_k."""
    X = frame.X
    return summed_inward(mech, mech.inertia, lambda i, body: body.to_parent(X[i]))
