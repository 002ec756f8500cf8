"""What the drives and the tool can do, as plain data (for JSON)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from emdeg.analysis.capabilities import (
    capability,
    dynamic_manipulability,
    operational_inertia,
    steady_speed,
    torque_limits,
)
from emdeg.analysis.summary import Scope
from emdeg.errors import RobotError


def capability_part(scope: Scope, at: Sequence[float] | None = None, samples: int = 2000) -> dict[str, Any]:
    """What the drives can still give after gravity over the workspace, and the tool's ellipsoids at one configuration.

    Torque left and speed are certified, from the largest gravity loads; accelerations are the least and greatest of
    random configurations. The configuration is `at`, or a random one: the box's middle is often singular.
    """
    robot = scope.robot
    middle = scope.where.sample(1, seed=2)[0] if at is None else np.asarray(at, float)
    tool: dict[str, Any] = {"q": middle}
    try:
        tool["inertia"] = operational_inertia(robot, middle)
    except RobotError as problem:
        tool["why"] = str(problem)
    try:
        limits = torque_limits(robot)
    except RobotError as problem:
        return {"why": str(problem), "tool": tool}
    found = capability(robot, scope.where.sample(samples, seed=11), limits)
    ellipsoid = dynamic_manipulability(robot, middle, limits)
    tool |= {"acceleration_axes": ellipsoid.lengths, "gravity_pull": ellipsoid.centre}
    most = np.array([one.gravity_load.bound for one in scope.loads()])
    speed = steady_speed(robot, most, limits)
    return {
        "torque_left_min": limits - most,
        "speed_min": [float(v) if np.isfinite(v) else None for v in speed],
        "acceleration_min": np.minimum(-found.acceleration[..., 0], found.acceleration[..., 1]).min(axis=0),
        "acceleration_max": np.maximum(-found.acceleration[..., 0], found.acceleration[..., 1]).max(axis=0),
        "holds_everywhere": most <= limits,
        "tool": tool,
    }
