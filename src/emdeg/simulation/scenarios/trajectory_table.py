"""Trajectories from a scenario's file: the table [trajectory]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from emdeg.errors import RobotError
from emdeg.robot import Robot, TomlTable, as_joints, flag, numbers, per_joint, real
from emdeg.simulation.trajectories import joint_space, tool_paths
from emdeg.simulation.trajectories.joint_space import Profile, Trajectory
from emdeg.simulation.trajectories.limits import need_closed_along, need_within_limits
from emdeg.simulation.trajectories.tables import read_trajectory

KEYS: dict[str, tuple[str, ...]] = {
    "cycloidal": ("start", "goal", "duration"),
    "quintic": ("start", "goal", "duration"),
    "trapezoidal": ("start", "goal", "duration", "ramp", "max_speed", "max_acceleration"),
    "spline": ("times", "points", "degree", "rest"),
    "fourier": ("offset", "a", "b", "period", "duration"),
    "csv": ("file", "deg", "degree", "rest"),
    "line": ("start", "goal", "goal_rpy", "near", "duration", "profile", "position_only", "tolerance"),
    "circle": (
        "start",
        "centre",
        "normal",
        "turns",
        "turning",
        "near",
        "duration",
        "profile",
        "position_only",
        "tolerance",
    ),
}
"""Kind -> its keys."""


def trajectory_from(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    """The trajectory that a table describes, within the robot's limits; `folder` is where a CSV file is looked for."""
    kind = table.choice("kind", tuple(KEYS))
    table.only(("kind", "limits", *KEYS[kind]))
    keep = table.choice("limits", ("error", "ignore"), "error") == "error"
    try:
        found = _MAKE[kind](table, robot, folder)
        need_closed_along(robot, found)
        if keep:
            need_within_limits(robot, found)
    except RobotError as problem:
        if problem.file not in (None, table.document.file):  # it is about the CSV file
            raise
        raise problem.at(file=table.document.file, line=table.line) from None
    return found


def _point_to_point(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    make = getattr(joint_space, table.text("kind"))
    return make(per_joint(table, "start", robot), per_joint(table, "goal", robot), real(table, "duration", least=0))


def _trapezoidal(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    known = [key for key in ("max_speed", "max_acceleration") if key in table]
    limits: dict[str, Any] = {key: per_joint(table, key, robot, spread=True) for key in known}
    return joint_space.trapezoidal(
        per_joint(table, "start", robot),
        per_joint(table, "goal", robot),
        real(table, "duration", least=0) if "duration" in table else None,
        ramp=real(table, "ramp", 0.25),
        **limits,
    )


def _spline(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    points = table.data.get("points")
    if not isinstance(points, list) or not points:
        raise table.error("points must be a list of joint positions, one entry a time")
    rows = [as_joints(table, point, "points", robot) for point in points]
    degree = table.integer("degree", 3, 5) or 5
    return joint_space.through(numbers(table, "times", len(rows)), rows, degree=degree, rest=flag(table, "rest", True))


def _fourier(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    rows = {}
    for key in ("a", "b"):
        value = table.data.get(key)
        if not isinstance(value, list) or not value:
            raise table.error(f"{key} must be a list of harmonics, each with one amplitude a joint")
        rows[key] = [as_joints(table, row, key, robot, 0.0) for row in value]
    period = real(table, "period", least=0)
    duration = real(table, "duration", period, least=0)
    return joint_space.fourier(per_joint(table, "offset", robot, 0.0), rows["a"], rows["b"], period, duration)


def _csv(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    path = Path(table.text("file"))
    if folder is not None and not path.is_absolute():
        path = folder / path
    degree = table.integer("degree", 3, 5) or 5
    return read_trajectory(path, robot, deg=flag(table, "deg", False), degree=degree, rest=flag(table, "rest", False))


def _line(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    goal = numbers(table, "goal", 3)
    if "goal_rpy" in table:
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_euler("xyz", numbers(table, "goal_rpy", 3)).as_matrix()
        pose[:3, 3] = goal
        goal = pose
    return tool_paths.line(robot, goal, real(table, "duration", least=0), **_tool_path(table, robot))


def _circle(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    return tool_paths.circle(
        robot,
        numbers(table, "centre", 3),
        numbers(table, "normal", 3),
        real(table, "duration", least=0),
        turns=real(table, "turns", 1.0),
        turning=flag(table, "turning", False),
        **_tool_path(table, robot),
    )


def _tool_path(table: TomlTable, robot: Robot) -> dict[str, Any]:
    return {
        "start": numbers(table, "start", 3) if "start" in table else None,
        "near": per_joint(table, "near", robot) if "near" in table else None,
        "profile": _profile(table),
        "position_only": flag(table, "position_only", robot.freedoms < 6),
        "tolerance": real(table, "tolerance", 1e-6, least=1e-12),
    }


def _profile(table: TomlTable) -> Profile:
    kind = table.choice("profile", ("quintic", "cycloidal"), "quintic")
    return joint_space.quintic_profile if kind == "quintic" else joint_space.cycloidal_profile


_MAKE = {
    "cycloidal": _point_to_point,
    "quintic": _point_to_point,
    "trapezoidal": _trapezoidal,
    "spline": _spline,
    "fourier": _fourier,
    "csv": _csv,
    "line": _line,
    "circle": _circle,
}
