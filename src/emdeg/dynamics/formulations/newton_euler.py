"""Inverse dynamics by the recursive Newton-Euler equations in Featherstone's form, over any scalar.

This is the plain text: what the docs show and what programs are proved against. What is run fast and searched over is
the same recursion in three-dimensional vectors, `emdeg.dynamics.formulations.rnea_link_frame`.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.energy import velocities, velocity_product
from emdeg.dynamics.mechanism import Frames, Mechanism, backward_pass, forward_pass, joint_speeds
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
    def accelerated(i: int, a: Spatial) -> Spatial:
        return X[i] @ a + mech.joint_motion(i, qdd) + velocity_product(mech, i, v[i], qd)

    a = forward_pass(mech, a_base, accelerated)
    # f_i = I_i a_i + v_i x* I_i v_i, and X_k^T f_k of every link k that hangs on i
    own = [I[i] @ a[i] + v[i].cross_force(I[i] @ v[i]) for i in range(mech.n)]
    f = backward_pass(mech, own, lambda i, f: X[i].T @ f)
    # tau_i = S_i . f_i, and the armature's torque
    return tuple(S[k].dot(f[i]) + mech.drive[k] * qdd[k] for i, k in joint_speeds(mech))
