"""Lines and circles of the tool, as joint trajectories."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from emdeg.algebra import Array
from emdeg.dynamics.functions import forward_kinematics
from emdeg.errors import ScenarioError
from emdeg.robot import Robot
from emdeg.simulation.trajectories.joint_space import JointMotion, Profile, Spline, positive, quintic_profile, through
from emdeg.simulation.trajectories.reaching import approach, inverse_kinematics, joint_range, need_pose, rotation_vector

Path = Callable[[float], Array]
"""s in [0, 1] -> the tool's pose, 4 x 4 in the base frame."""

FIRST_KNOTS, MOST_KNOTS = 33, 1025
LARGEST_JUMP = 0.6
"""A joint that moves further [rad, m] between two points of the first grid has changed its branch."""


def line(
    robot: Robot,
    goal: ArrayLike,
    duration: float,
    *,
    start: ArrayLike | None = None,
    near: ArrayLike | None = None,
    profile: Profile = quintic_profile,
    position_only: bool = False,
    tolerance: float = 1e-6,
) -> Spline:
    """The tool on a straight line to `goal`, turning about one axis; a pose (4 x 4) or a position (3).

    It begins at the pose or position `start`, or where the tool is at the joint positions `near`. A position
    keeps the orientation of the beginning. The joints' spline deviates from the line by at most `tolerance` [m, rad].
    """
    first = _first(robot, start, near)
    last = _pose(goal, first[:3, :3], "goal")
    turn = rotation_vector(last[:3, :3] @ first[:3, :3].T)

    def path(s: float) -> Array:
        T = np.eye(4)
        T[:3, :3] = Rotation.from_rotvec(s * turn).as_matrix() @ first[:3, :3]
        T[:3, 3] = first[:3, 3] + s * (last[:3, 3] - first[:3, 3])
        return T

    return follow(robot, path, duration, near=near, profile=profile, position_only=position_only, tolerance=tolerance)


def circle(
    robot: Robot,
    centre: ArrayLike,
    normal: ArrayLike,
    duration: float,
    *,
    turns: float = 1.0,
    start: ArrayLike | None = None,
    near: ArrayLike | None = None,
    turning: bool = False,
    profile: Profile = quintic_profile,
    position_only: bool = False,
    tolerance: float = 1e-6,
) -> Spline:
    """The tool on a circle about `centre` [m] and `normal`, `turns` times round, from `start` (or the tool at `near`).

    With `turning` the tool turns with the circle; otherwise it keeps its orientation.
    """
    first = _first(robot, start, near)
    middle, axis = _point(centre, "centre"), _point(normal, "normal")
    if not np.linalg.norm(axis) > 0:
        raise ScenarioError("the circle's normal is zero")
    axis = axis / np.linalg.norm(axis)
    arm = first[:3, 3] - middle
    if abs(arm @ axis) > 1e-6 + 1e-6 * np.linalg.norm(arm):
        raise ScenarioError(f"the start lies {arm @ axis:.3g} m off the circle's plane: move the centre or the start")
    if np.linalg.norm(arm) < 1e-9:
        raise ScenarioError("the circle's centre is its start: the radius is zero")

    def path(s: float) -> Array:
        R = Rotation.from_rotvec(axis * (2 * np.pi * turns * s)).as_matrix()
        T = np.eye(4)
        T[:3, :3] = R @ first[:3, :3] if turning else first[:3, :3]
        T[:3, 3] = middle + R @ arm
        return T

    return follow(robot, path, duration, near=near, profile=profile, position_only=position_only, tolerance=tolerance)


def follow(
    robot: Robot,
    path: Path,
    duration: float,
    *,
    near: ArrayLike | None = None,
    profile: Profile = quintic_profile,
    position_only: bool = False,
    tolerance: float = 1e-6,
) -> Spline:
    """A joint spline whose tool follows `path`: knots are added until it deviates by `tolerance` at most."""
    positive(duration)
    q = inverse_kinematics(robot, path(0.0), near, position_only=position_only)
    count = FIRST_KNOTS
    while True:
        times = np.linspace(0, duration, count)
        knots = _joints(robot, path, profile, times / duration, q, position_only)
        spline = through(times, knots, degree=5, rest=True)
        off = deviation(robot, spline, path, profile, position_only)
        if off <= tolerance:
            return spline
        if count >= MOST_KNOTS:
            raise ScenarioError(
                f"the joints cannot follow the tool's path closer than {off:.3g} (m, rad); it may pass a singularity",
                body=robot.name,
            )
        count = 2 * count - 1


def deviation(
    robot: Robot,
    trajectory: Callable[[ArrayLike], JointMotion],
    path: Path,
    profile: Profile,
    position_only: bool = False,
    samples: int = 257,
) -> float:
    """The largest distance [m] or angle [rad] between the tool and the path."""
    duration: float = trajectory.duration  # type: ignore[attr-defined]
    x = np.linspace(0, 1, samples)
    T = forward_kinematics(robot, trajectory(x * duration)[0])
    wanted = np.stack([path(float(s)) for s in profile(x)[0]])
    most = float(np.max(np.linalg.norm(T[:, :3, 3] - wanted[:, :3, 3], axis=1)))
    if not position_only:
        turned = np.einsum("kij,klj->kil", wanted[:, :3, :3], T[:, :3, :3])
        most = max(most, float(np.max(np.linalg.norm(Rotation.from_matrix(turned).as_rotvec(), axis=1))))
    return most


def _joints(robot: Robot, path: Path, profile: Profile, x: Array, q: Array, position_only: bool) -> Array:
    low, high = joint_range(robot)
    knots = [q]
    for place, s in zip(x[1:], profile(x)[0][1:]):
        guess = knots[-1] if len(knots) < 2 else 2 * knots[-1] - knots[-2]
        target = path(float(s))
        found = approach(robot, target, guess, low, high, position_only=position_only)
        if not found.within(1e-8):
            found = approach(robot, target, knots[-1], low, high, position_only=position_only)
        jump = float(np.max(np.abs(found.q - knots[-1])))
        if not found.within(1e-8) or jump > LARGEST_JUMP:
            why = "out of reach or beyond a joint's limit" if not found.within(1e-8) else "a joint would have to jump"
            raise ScenarioError(
                f"the tool's path cannot be followed at {place:.1%} of its time: {why} "
                f"({found.distance:.3g} m, {found.angle:.3g} rad left)",
                body=robot.name,
            )
        knots.append(found.q)
    return np.array(knots)


def _first(robot: Robot, start: ArrayLike | None, near: ArrayLike | None) -> Array:
    if start is None and near is None:
        raise ScenarioError("a path of the tool needs its start, or the joint positions `near` where it begins")
    here = np.eye(4) if near is None else forward_kinematics(robot, np.asarray(near, dtype=np.float64))
    return here if start is None else _pose(start, here[:3, :3], "start")


def _pose(value: ArrayLike, R: Array, what: str) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape == (4, 4):
        return need_pose(array)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, _point(array, what)
    return T


def _point(value: ArrayLike, what: str) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ScenarioError(f"{what} must be three finite numbers or a 4 x 4 pose; got shape {array.shape}")
    return array
