"""Where the tool is and how it moves: forward kinematics, geometric Jacobian and its rate, over any scalar."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.dynamics.formulations.energy import velocities
from emdeg.dynamics.mechanism import Frames, Mechanism, in_base, path
from emdeg.dynamics.spatial import Mat3, Scalar, Spatial, Transform, Vec3, add, column, cross, matmul, mul, sub, zeros
from emdeg.robot import BASE


def tool_pose(mech: Mechanism, frame: Frames) -> tuple[Mat3, Vec3]:
    """(R, p) of the tool in the base frame."""
    R, p = mech.tool
    if mech.tool_link == BASE:
        return R, p
    world = in_base(mech, frame)
    R_link, p_link = world.R[mech.tool_link], world.p[mech.tool_link]
    return matmul(R_link, R), add(p_link, mul(R_link, p))


def homogeneous(R: Mat3, p: Vec3, zero: Scalar, one: Scalar) -> list[list[Scalar]]:
    """The 4 x 4 matrix of (R, p)."""
    return [[*R[0], p[0]], [*R[1], p[1]], [*R[2], p[2]], [zero, zero, zero, one]]


def jacobian(mech: Mechanism, frame: Frames) -> list[list[Scalar]]:
    """6 x n: the tool's velocity (rows 1-3) and angular velocity (4-6) in base axes per speed."""
    J = zeros(mech.zero, 6, mech.nv)
    world = in_base(mech, frame)
    _, p_tool = tool_pose(mech, frame)
    for i in path(mech, mech.tool_link):
        arm = sub(p_tool, world.p[i])
        for k in mech.speeds[i]:
            S = mech.S[k].rotated(world.R[i])
            _set_column(J, k, add(S.v, cross(S.w, arm)), S.w)
    return J


def gradient_of_pose(
    mech: Mechanism, frame: Frames, pose: tuple[Mat3, Vec3], weights: tuple[Mat3, Vec3]
) -> list[Scalar]:
    """The derivative of the sum of weight times entry, over R and p of the tool's pose, along each speed's axis.

    The weights act as a force at the tool and a couple. Force first, they are transformed outwards as motions are.
    """
    gradient = zeros(mech.zero, mech.nv)
    (R, p), (turning, force) = pose, weights
    moment = cross(p, force)
    for j in range(3):
        moment = add(moment, cross(column(R, j), column(turning, j)))
    wrench = Transform(*mech.base) @ Spatial(force, moment)
    for i in path(mech, mech.tool_link):
        wrench = frame.X[i] @ wrench
        for k in mech.speeds[i]:
            gradient[k] = mech.S[k].dot(Spatial(wrench.v, wrench.w))
    return gradient


def jacobian_rate(mech: Mechanism, frame: Frames, qd: Sequence[Scalar]) -> list[list[Scalar]]:
    """6 x n: the time derivative of `jacobian` along qd."""
    Jd = zeros(mech.zero, 6, mech.nv)
    links = path(mech, mech.tool_link)
    if not links:
        return Jd
    world = in_base(mech, frame)
    _, p_tool = tool_pose(mech, frame)
    v = velocities(mech, frame, qd)
    omega = {k: mul(world.R[k], v[k].w) for k in links}
    origin = {k: mul(world.R[k], v[k].v) for k in links}
    last = links[-1]
    v_tool = add(origin[last], cross(omega[last], sub(p_tool, world.p[last])))
    for i in links:
        for k in mech.speeds[i]:
            S = mech.S[k].rotated(world.R[i])
            wd, vd = cross(omega[i], S.w), cross(omega[i], S.v)
            if mech.S[k].turns:
                vd = add(vd, add(cross(wd, sub(p_tool, world.p[i])), cross(S.w, sub(v_tool, origin[i]))))
            _set_column(Jd, k, vd, wd)
    return Jd


def _set_column(J: list[list[Scalar]], k: int, linear: Vec3, angular: Vec3) -> None:
    for row, value in enumerate((*linear, *angular)):
        J[row][k] = value
