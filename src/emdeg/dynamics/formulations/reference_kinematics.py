"""Poses multiplied up from a link to the base, and their derivatives: another way than kinematics takes."""

from __future__ import annotations

from emdeg.algebra import derivative
from emdeg.dynamics.mechanism import Frames, Mechanism, path
from emdeg.dynamics.spatial import Mat3, Scalar, Vec3, add, matmul, mul, total
from emdeg.robot import BASE


def reference_forward_kinematics(mech: Mechanism, frame: Frames, link: int, R: Mat3, p: Vec3) -> tuple[Mat3, Vec3]:
    """A pose on a link in the base frame, multiplied up from the link inwards: another way than kinematics takes."""
    if link == BASE:
        return R, p
    for k in reversed(path(mech, link)):
        R, p = matmul(frame.R[k], R), add(frame.p[k], mul(frame.R[k], p))
    return matmul(mech.base[0], R), add(mech.base[1], mul(mech.base[0], p))


def jacobian_of_pose(R: Mat3, varied: tuple[Mat3, Vec3], n: int, zero: Scalar) -> list[list[Scalar]]:
    """dp/dq over omega from dR/dq R^T; `varied` is the pose over dual numbers, one variation for each coordinate."""
    R_varied, p_varied = varied
    columns = []
    for k in range(n):
        turning = [[derivative(entry, k, zero) for entry in row] for row in R_varied]
        spin = [[total([turning[i][m] * R[j][m] for m in range(3)]) for j in range(3)] for i in range(3)]
        columns.append([*(derivative(x, k, zero) for x in p_varied), spin[2][1], spin[0][2], spin[1][0]])
    return [[column[row] for column in columns] for row in range(6)]
