"""Inverse dynamics by the recursive Newton-Euler equations in Featherstone's form, over any scalar.

This is the plain text: what the docs show and what programs are proved against. What is run fast and searched over is
the same recursion in three-dimensional vectors, `emdeg.dynamics.variants.link_frame_recursion`.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.energy import velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, carried_outward, summed_inward
from emdeg.dynamics.spatial import Scalar, Spatial, neg


def efforts_by_newton_euler(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd."""
    X, S, I = frame.X, mech.S, mech.inertia
    # A base that accelerates upwards feels like gravity.
    a_base = Spatial(mech.still.w, neg(mech.gravity)) if gravity else mech.still

    # v_i = X_i v_parent + S_i qd_i
    v = velocities(mech, frame, qd)
    # a_i = X_i a_parent + S_i qdd_i + v_i x S_i qd_i
    a = carried_outward(mech, a_base, lambda i, a: X[i] @ a + S[i] * qdd[i] + v[i].cross(S[i]) * qd[i])
    # f_i = I_i a_i + v_i x* I_i v_i, and X_k^T f_k of every link k that hangs on i
    own = [I[i] @ a[i] + v[i].cross_force(I[i] @ v[i]) for i in range(mech.n)]
    f = summed_inward(mech, own, lambda i, f: X[i].T @ f)
    # tau_i = S_i . f_i, and what the drive's own inertia takes
    return tuple(S[i].dot(f[i]) + mech.drive[i] * qdd[i] for i in range(mech.n))
