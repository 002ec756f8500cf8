"""The mass matrix by composite bodies (Walker and Orin's third method), over any scalar.

Accelerate joint j by one unit, all at rest: what lies beyond it moves as one rigid body.
"""

from __future__ import annotations

from emdeg.dynamics.mechanism import Frames, Mechanism, carried_outward, links_before, summed_inward
from emdeg.dynamics.spatial import BodyInertia, Scalar, Spatial, neg, tmul, zeros


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


def gravity(mech: Mechanism, frame: Frames) -> list[Scalar]:
    """g [N m, N], n: what holds still all that lies beyond each joint, as one rigid body."""
    S, I, none = mech.S, composite_inertias(mech, frame), mech.still.w
    up = carried_outward(mech, neg(mech.gravity), lambda i, a: tmul(frame.R[i], a))
    return [S[i].dot(I[i] @ Spatial(none, up[i])) for i in range(mech.n)]


def composite_inertias(mech: Mechanism, frame: Frames) -> list[BodyInertia]:
    """Each link with everything beyond it, as one rigid body in the link's frame: I_i + sum of X_k^T I_k X_k."""
    X = frame.X
    return summed_inward(mech, mech.inertia, lambda i, body: body.to_parent(X[i]))
