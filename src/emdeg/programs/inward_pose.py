"""The tool's pose multiplied up from the tool to the base, and its derivatives: another way than kinematics takes."""

from __future__ import annotations

from emdeg.algebra.dual import derivative
from emdeg.mechanics.mechanism import Frames, Mechanism, path
from emdeg.mechanics.vectors import Mat3, Scalar, Vec3, add, matmul, mul, total
from emdeg.robot.model import BASE


def pose_from_tool(mech: Mechanism, frame: Frames) -> tuple[Mat3, Vec3]:
    """The tool's orientation and place in the base."""
    R, p = mech.tool
    if mech.tool_link == BASE:
        return R, p
    for k in reversed(path(mech, mech.tool_link)):
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
