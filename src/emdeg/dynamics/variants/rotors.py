"""Inverse dynamics with the motors' spinning armatures: a layer over the recursion, over any scalar.

An armature on link p, by default joint i's parent, that drives joint i turns with the gear ratio's multiple of qd_i.
Its spin along its axis a adds I_r a.omegad_p to the joint and I_r (qdd a + omega_p x qd a) to what the carrying link
needs; what it weighs is in the link already.
"""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.rnea_link_frame import inertia_forces, joint_torques, motion
from emdeg.dynamics.mechanism import Frames, Mechanism, outward
from emdeg.dynamics.spatial import Scalar, Spatial, add, cross, dot, scale
from emdeg.robot import BASE


def newton_euler_with_rotors(
    mech: Mechanism, frame: Frames, qd: Sequence[Scalar], qdd: Sequence[Scalar], *, gravity: bool = True
) -> tuple[Scalar, ...]:
    """tau, the joint torques [N m] and forces [N] of the motion qd, qdd, the rotors' gyroscopic terms included."""
    none = mech.still.v
    moves = motion(mech, frame, qd, qdd, gravity=gravity)
    forces = inertia_forces(mech, moves)
    own = [mech.zero] * mech.nv
    for i, parent in outward(mech):
        rotor = mech.rotor[i]
        carrier = parent if rotor is None or rotor.carrier is None else rotor.carrier
        if rotor is None or carrier == BASE:
            continue
        (k,) = mech.speeds[i]
        own[k] = rotor.momentum * dot(rotor.axis, moves[carrier].omegad)
        spin = add(scale(qdd[k], rotor.axis), cross(moves[carrier].omega, scale(qd[k], rotor.axis)))
        forces[carrier] = forces[carrier] + Spatial(scale(rotor.momentum, spin), none)
    return tuple(t + r for t, r in zip(joint_torques(mech, frame, forces, qdd), own))


def mass_matrix_with_rotors(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """M, n x n, column by column, the rotors' coupling included."""
    n, zero, one = mech.nv, mech.zero, mech.one
    rest = [zero] * n
    units = [[one if k == j else zero for k in range(n)] for j in range(n)]
    columns = [newton_euler_with_rotors(mech, frame, rest, unit, gravity=False) for unit in units]
    return [list(row) for row in zip(*columns)]
