"""What a study of mechanisms with closed loops cannot have."""

from __future__ import annotations

from emdeg.errors import SweepError
from emdeg.robot import Robot
from emdeg.sweeps.measures import WHOLE


def check_study(robot: Robot, loads: bool, varies: bool) -> None:
    """SweepError for the analysis of loads, and for parameters that vary."""
    if varies:
        rule = "it has closed loops, whose parameters cannot vary in a study; its payload, workspace and file can"
        raise SweepError(rule, body=robot.name)
    if loads:
        raise SweepError(f"{WHOLE} is not known for closed loops", body=robot.name)
