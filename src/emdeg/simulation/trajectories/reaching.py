"""Joint positions that bring the tool to a pose: in closed form where the wrist allows, else by damped search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics.functions import forward_kinematics, jacobian
from emdeg.errors import ScenarioError
from emdeg.robot import Robot, RobotLike, as_robot
from emdeg.simulation.trajectories.spherical_wrist import all_positions

ITERATIONS = 200
RESTARTS = 40
NO_ROTATION = 1e-6
"""A matrix whose rows miss orthonormality by more is refused as a rotation."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The nearest joint positions found: `distance` [m] and `angle` [rad] are what is left to the pose."""

    q: Array
    distance: float
    angle: float

    def within(self, tolerance: float) -> bool:
        return self.distance <= tolerance and self.angle <= tolerance


def rotation_vector(R: Array) -> Array:
    """Axis times angle [rad] of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_rotvec()


def need_pose(pose: ArrayLike) -> Array:
    """The pose as a 4 x 4 array: a rotation, a position, and the row (0, 0, 0, 1); ScenarioError otherwise."""
    T = np.asarray(pose, dtype=np.float64)
    if T.shape != (4, 4) or not np.isfinite(T).all():
        raise ScenarioError(f"a pose is a 4 x 4 matrix of finite numbers; got shape {T.shape}")
    R = T[:3, :3]
    if np.max(np.abs(R @ R.T - np.eye(3))) > NO_ROTATION or np.linalg.det(R) < 0 or (T[3] != (0, 0, 0, 1)).any():
        raise ScenarioError("a pose is a rotation matrix beside a position, above the row 0, 0, 0, 1")
    return T


def inverse_kinematics(
    robot: RobotLike,
    pose: ArrayLike,
    near: ArrayLike | None = None,
    *,
    position_only: bool = False,
    tolerance: float = 1e-10,
    seed: int = 0,
    limits: bool = True,
) -> Array:
    """q (n) with the tool at `pose` (4 x 4 in the base frame), close to `near` (n; the middle of the range).

    With `position_only` the tool's orientation is free. An arm with a spherical wrist is solved in closed form (see
    `all_positions`), the solution nearest to `near` being taken. Otherwise, where the search from `near` ends
    elsewhere, it begins again from random configurations (`seed`). An error says how far the nearest one stays away.

    >>> import emdeg
    >>> q = [0.1, -0.5, 0.4, 0.3, 0.8, -0.2]
    >>> found = emdeg.inverse_kinematics("puma560", emdeg.forward_kinematics("puma560", q), near=q)
    >>> bool(abs(found - q).max() < 1e-8)
    True
    """
    robot = as_robot(robot)
    target = need_pose(pose)
    low, high = joint_range(robot) if limits else (np.full(robot.freedoms, -np.inf), np.full(robot.freedoms, np.inf))
    start = _middle(low, high) if near is None else np.asarray(near, dtype=np.float64)
    if start.shape != (robot.freedoms,):
        raise ScenarioError(f"near has shape {start.shape}; the robot has {robot.freedoms} joints")
    closed = None if position_only else _nearest(robot, target, start, low, high)
    if closed is not None:
        start = closed
    rng = np.random.default_rng(seed)
    best = None
    for _ in range(RESTARTS):
        found = approach(robot, target, start, low, high, position_only=position_only, tolerance=tolerance)
        if found.within(tolerance):
            return found.q
        if best is None or found.distance + found.angle < best.distance + best.angle:
            best = found
        span = np.where(np.isfinite(high - low), high - low, 2 * math.pi)
        start = np.where(np.isfinite(low), low, -math.pi) + rng.random(robot.freedoms) * span
    assert best is not None
    raise ScenarioError(
        f"its tool does not reach the pose at {np.round(target[:3, 3], 6).tolist()} m: "
        f"{best.distance:.3g} m and {math.degrees(best.angle):.3g} degrees are left",
        body=robot.name,
    )


def _nearest(robot: Robot, target: Array, near: Array, low: Array, high: Array) -> Array | None:
    """The closed form's solution within the limits that is nearest to `near`, whole turns added where they help."""
    found = all_positions(robot, target)
    if found is None or not len(found):
        return None
    turning = np.array([joint.kind == "revolute" for joint in robot.coordinates])
    whole = np.where(turning, 2 * math.pi, 0.0)
    shifted = found + whole * np.rint((near - found) / (2 * math.pi))
    candidates = [shifted, shifted + whole, shifted - whole]
    # Joint by joint the nearest of the turns that the limits allow.
    gaps = [np.where((c >= low) & (c <= high), np.abs(c - near), np.inf) for c in candidates]
    best = np.min(gaps, axis=0)
    chosen = np.take_along_axis(np.array(candidates), np.argmin(gaps, axis=0)[None], axis=0)[0]
    inside = np.isfinite(best).all(axis=1)
    return chosen[inside][np.argmin(np.linalg.norm(best[inside], axis=1))] if inside.any() else None


def approach(
    robot: Robot,
    target: Array,
    near: Array,
    low: Array,
    high: Array,
    *,
    position_only: bool = False,
    tolerance: float = 1e-10,
) -> Reach:
    """Levenberg and Marquardt's descent from `near`, kept between `low` and `high`."""
    rows = 3 if position_only else 6
    q, damping = np.clip(near, low, high), 1e-4
    error = _error(robot, target, q)[:rows]
    for _ in range(ITERATIONS):
        if np.linalg.norm(error[:3]) <= tolerance and np.linalg.norm(error[3:]) <= tolerance:
            break
        J = jacobian(robot, q)[:rows]
        step = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(rows), error)
        trial = np.clip(q + step, low, high)
        left = _error(robot, target, trial)[:rows]
        if left @ left < error @ error:
            q, error, damping = trial, left, max(damping / 8, 1e-14)
        else:
            damping *= 6
            if damping > 1e8:
                break
    return Reach(q, float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:])))


def _error(robot: Robot, target: Array, q: Array) -> Array:
    """From the tool to the target: displacement [m] and rotation vector [rad], in base axes."""
    T = forward_kinematics(robot, q)
    return np.concatenate([target[:3, 3] - T[:3, 3], rotation_vector(target[:3, :3] @ T[:3, :3].T)])


def joint_range(robot: Robot) -> tuple[Array, Array]:
    low = [-np.inf if joint.limits.lower is None else float(joint.limits.lower) for joint in robot.coordinates]
    high = [np.inf if joint.limits.upper is None else float(joint.limits.upper) for joint in robot.coordinates]
    return np.array(low), np.array(high)


def _middle(low: Array, high: Array) -> Array:
    bounded = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        return np.where(bounded, (low + high) / 2, np.clip(0.3, low, high))
