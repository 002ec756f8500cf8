"""Trajectories read from CSV."""

from __future__ import annotations

import csv as csv_
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from emdeg.errors import ScenarioError
from emdeg.robot import Robot, read_text
from emdeg.simulation.trajectories.joint_space import Spline, through


def read_trajectory(
    path: Path | str, robot: Robot, *, deg: bool = False, degree: int = 5, rest: bool = False
) -> Spline:
    """A spline through the rows of a CSV file: a header with `t` [s] and every joint's name, in any order.

    `q.NAME`, as runs are written, serves too. Without a header the columns are t and the joints in the robot's order.
    `deg`: revolute joints in degrees.
    """
    file = Path(path)
    text = read_text(str(file))
    rows = [(line, row) for line, row in enumerate(csv_.reader(text.splitlines()), 1) if "".join(row).strip()]
    if not rows:
        raise ScenarioError("it is empty", file=str(file))
    names = [joint.name for joint in robot.coordinates]
    order = list(range(robot.freedoms + 1))
    if not _is_number(rows[0][1][0]):
        header = [cell.strip() for cell in rows.pop(0)[1]]
        written = [f"q.{name}" for name in names]
        wanted = ["t", *(written if set(written) <= set(header) else names)]
        missing = [name for name in wanted if name not in header]
        if missing:
            raise ScenarioError(f"it has no column {missing[0]!r}; it has {', '.join(header)}", file=str(file), line=1)
        order = [header.index(name) for name in wanted]
    values = np.array([_numbers(row, order, str(file), line) for line, row in rows])
    if deg:
        turning = np.array([joint.kind == "revolute" for joint in robot.coordinates])
        values[:, 1:] *= np.where(turning, math.pi / 180, 1.0)
    try:
        return through(values[:, 0], values[:, 1:], degree=degree, rest=rest)
    except ScenarioError as problem:
        raise problem.at(file=str(file)) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(row: list[str], order: Sequence[int], file: str, line: int) -> list[float]:
    try:
        values = [float(row[place]) for place in order]
    except (ValueError, IndexError):
        raise ScenarioError(
            f"a row needs {len(order)} numbers: t and one a joint; got {','.join(row)[:60]!r}", file=file, line=line
        ) from None
    if not all(map(math.isfinite, values)):
        raise ScenarioError("a number is not finite", file=file, line=line)
    return values
