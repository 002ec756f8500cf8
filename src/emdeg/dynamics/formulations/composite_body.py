"""The mass matrix by composite bodies (Walker and Orin's third method), over any scalar.

Accelerate joint j by one unit, all at rest: what lies beyond it moves as one rigid body.
"""

from __future__ import annotations

from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass, joint_speeds, links_before
from emdeg.dynamics.spatial import BodyInertia, Scalar, Spatial, neg, tmul, zeros


def mass_matrix(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """M [kg m^2, kg m, kg], n x n, both triangles."""
    X, S, I = frame.X, mech.S, composite_inertias(mech, frame)
    M = zeros(mech.zero, mech.nv, mech.nv)
    for j, b in joint_speeds(mech):
        f = I[j] @ S[b]
        for a in mech.speeds[j]:
            M[a][b] = M[b][a] = S[a].dot(f)
        M[b][b] = M[b][b] + mech.drive[b]
        for i, parent in links_before(mech, j):
            f = X[i].T @ f
            for a in mech.speeds[parent]:
                M[a][b] = M[b][a] = S[a].dot(f)
    return M


def gravity(mech: Mechanism, frame: Frames) -> list[Scalar]:
    """g [N m, N], n: what holds still all that lies beyond each joint, as one rigid body."""
    I, none = composite_inertias(mech, frame), mech.still.w
    up = forward_pass(mech, neg(mech.gravity), lambda i, a: tmul(frame.R[i], a))
    held = [I[i] @ Spatial(none, up[i]) for i in range(mech.n)]
    return [mech.S[k].dot(held[i]) for i, k in joint_speeds(mech)]


def composite_inertias(mech: Mechanism, frame: Frames) -> list[BodyInertia]:
    """Each link with everything beyond it, as one rigid body in the link's frame: I_i + sum of X_k^T I_k X_k."""
    X = frame.X
    return backward_pass(mech, mech.inertia, lambda i, body: body.to_parent(X[i]))
