"""What is raised before a run that could not mean anything."""

from __future__ import annotations

from emdeg.robot.errors import RobotError


class ScenarioError(RobotError):
    """A trajectory, a controller or a scenario does not fit the robot or itself; nothing has run yet."""


class SimulationError(RobotError):
    """A run broke down on the way: it says when, and what was the matter."""
