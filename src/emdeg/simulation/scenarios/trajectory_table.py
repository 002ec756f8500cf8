"""Trajectories from a scenario's file: the table [trajectory]."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from emdeg.algebra import Array
from emdeg.errors import RobotError
from emdeg.robot import Fields, Robot, TomlTable, as_joints, flag, numbers, optional, per_joint, real
from emdeg.simulation.trajectories import joint_space, tool_paths
from emdeg.simulation.trajectories.joint_space import Profile, Trajectory
from emdeg.simulation.trajectories.limits import need_closed_along, need_within_limits
from emdeg.simulation.trajectories.tables import read_trajectory

KEYS = ("cycloidal", "quintic", "trapezoidal", "spline", "fourier", "csv", "line", "circle")
"""The kinds."""


def trajectory_from(table: TomlTable, robot: Robot, folder: Path | None) -> Trajectory:
    """The trajectory that a table describes, within the robot's limits; `folder` is where a CSV file is looked for."""
    make, fields = _kinds(robot, folder)[table.choice("kind", KEYS)]
    common: Fields = {
        "kind": TomlTable.text,
        "limits": partial(TomlTable.choice, choices=("error", "ignore"), default="error"),
    }
    try:
        given = table.read({**common, **fields})
        found = make(**{key: value for key, value in given.items() if key not in common and value is not None})
        need_closed_along(robot, found)
        if given["limits"] == "error":
            need_within_limits(robot, found)
    except RobotError as problem:
        if problem.file not in (None, table.document.file):  # it is about the CSV file
            raise
        raise problem.at(file=table.document.file, line=table.line) from None
    return found


def _kinds(robot: Robot, folder: Path | None) -> dict[str, tuple[Callable[..., Trajectory], Fields]]:
    """Kind -> what makes it of its values, and its keys."""
    joints, duration, point = partial(per_joint, robot=robot), partial(real, least=0), partial(numbers, count=3)
    limit = optional(partial(per_joint, robot=robot, spread=True))
    degree = partial(TomlTable.integer, low=3, high=5, default=5)
    harmonics = partial(_rows, robot=robot, default=0.0, what="harmonics, each with one amplitude a joint")
    ends: Fields = {"start": joints, "goal": joints, "duration": duration}
    path: Fields = {
        "start": optional(point),
        "near": optional(joints),
        "duration": duration,
        "profile": _profile,
        "position_only": partial(flag, default=robot.freedoms < 6),
        "tolerance": partial(real, default=1e-6, least=1e-12),
    }
    return {
        "cycloidal": (joint_space.cycloidal, ends),
        "quintic": (joint_space.quintic, ends),
        "trapezoidal": (
            joint_space.trapezoidal,
            {
                **ends,
                "duration": optional(duration),
                "ramp": partial(real, default=0.25),
                "max_speed": limit,
                "max_acceleration": limit,
            },
        ),
        "spline": (
            joint_space.through,
            {
                "points": partial(_rows, robot=robot, what="joint positions, one entry a time"),
                "times": lambda table, key: numbers(table, key, len(table.data["points"])),
                "degree": degree,
                "rest": partial(flag, default=True),
            },
        ),
        "fourier": (
            joint_space.fourier,
            {
                "offset": partial(per_joint, robot=robot, default=0.0),
                "a": harmonics,
                "b": harmonics,
                "period": duration,
                "duration": optional(duration),
            },
        ),
        "csv": (
            lambda file, **given: read_trajectory(file, robot, **given),
            {"file": partial(_file, folder), "deg": no, "degree": degree, "rest": no},
        ),
        "line": (partial(_line, robot), {**path, "goal": point, "goal_rpy": optional(point)}),
        "circle": (
            partial(tool_paths.circle, robot),
            {**path, "centre": point, "normal": point, "turns": partial(real, default=1.0), "turning": no},
        ),
    }


def no(table: TomlTable, key: str) -> bool:
    """A flag that is off unless it is set."""
    return flag(table, key, False)


def _rows(table: TomlTable, key: str, robot: Robot, what: str, default: float | None = None) -> list[Array]:
    value = table.data.get(key)
    if not isinstance(value, list) or not value:
        raise table.error(f"{key} must be a list of {what}")
    return [as_joints(table, row, key, robot, default) for row in value]


def _file(folder: Path | None, table: TomlTable, key: str) -> Path:
    path = Path(table.text(key))
    return path if folder is None or path.is_absolute() else folder / path


def _line(robot: Robot, goal: Array, goal_rpy: Array | None = None, **path: Any) -> Trajectory:
    if goal_rpy is not None:
        pose = np.eye(4)
        pose[:3, :3] = Rotation.from_euler("xyz", goal_rpy).as_matrix()
        pose[:3, 3] = goal
        goal = pose
    return tool_paths.line(robot, goal, **path)


def _profile(table: TomlTable, key: str) -> Profile:
    kind = table.choice(key, ("quintic", "cycloidal"), "quintic")
    return joint_space.quintic_profile if kind == "quintic" else joint_space.cycloidal_profile
