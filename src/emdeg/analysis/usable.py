"""The box of configurations over which a model of a robot is to hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emdeg.robot import Robot, Workspace, by_kind, workspace


@by_kind
def usable_workspace(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]] | None = None,
    *,
    speed: Sequence[float] | float | None = None,
    acceleration: Sequence[float] | float | None = None,
) -> Workspace:
    """The workspace with these ranges, at every configuration of which the robot's functions are defined."""
    return workspace(robot, ranges, speed=speed, acceleration=acceleration)
