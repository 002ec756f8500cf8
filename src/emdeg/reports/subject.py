"""What a report knows of a robot: its workspace, a sample motion along it, and why something is not known.

Everything here is the same in every run: searches are bounded by boxes and samples, never by a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis import SampledMotion, across, point_to_point
from emdeg.dynamics import kind_of
from emdeg.equations import Model, derive
from emdeg.errors import RobotError, StateError
from emdeg.loops import joint_positions, ready
from emdeg.robot import Robot, Workspace, joint_number, substitute, workspace

SLIDE = (0.0, 1.0)
"""The range [m] assumed of a sliding joint whose file states none."""
LENGTH = Fraction(3, 10)
"""What a symbolic length [m] is drawn as."""
SECONDS, FRAMES = 2.0, 81
"""Of the sample motion."""


def quiet(_: str) -> None:
    """No progress is told."""


@dataclass
class Subject:
    """A robot, the ranges that replace its joint limits, and where progress is told."""

    robot: Robot
    ranges: Mapping[str, Sequence[float]] = field(default_factory=dict)
    progress: Callable[[str], None] = quiet
    effort: float | None = None
    """Nominal seconds of search for a smaller program; None: what is on file, else none."""
    curve: float = 0.0
    """Processor seconds for short programs within rising errors; 0: they are left out."""

    @property
    def symbolic(self) -> bool:
        return bool(self.robot.symbols)

    @property
    def closed(self) -> bool:
        return kind_of(self.robot).explicit == "blocks"

    @cached_property
    def assumed(self) -> dict[str, tuple[float, float]]:
        """The sliding joints without limits, and the range assumed for them."""
        given = {joint_number(self.robot, name) for name in self.ranges}
        return {
            joint.name: SLIDE
            for k, joint in enumerate(self.robot.joints, 1)
            if joint.kind == "prismatic"
            and k not in given
            and (joint.limits.lower is None or joint.limits.upper is None)
        }

    @cached_property
    def model(self) -> Model:
        """The explicit equations, derived once for all parts of the page; OverBudget where they are too long."""
        return derive(self.robot)

    @cached_property
    def where(self) -> Workspace:
        """The box of positions, speeds and accelerations."""
        return workspace(self.robot, {**self.assumed, **self.ranges})

    @cached_property
    def motion(self) -> SampledMotion:
        """All coordinates at once, from rest to rest: across the workspace, or near the start of a closed loop."""
        if not self.closed:
            return across(self.where, SECONDS, FRAMES)
        start = ready(self.robot).start[list(ready(self.robot).link.coordinates)]
        kinds = np.array([joint.kind == "revolute" for joint in self.robot.coordinates])
        reach = np.where(kinds, 0.4, 0.08)
        signs = np.where(np.arange(len(start)) % 2, -1.0, 1.0)
        for _ in range(12):
            tried = point_to_point(start - reach * signs / 2, start + reach * signs / 2, SECONDS, FRAMES)
            try:
                joint_positions(self.robot, tried.q)
            except (StateError, RobotError):
                reach = reach / 2
                continue
            return tried
        raise RobotError("no motion near its start keeps the loops closed", body=self.robot.name)

    @cached_property
    def tree_motion(self) -> Array:
        """(frames, joints of the tree): every joint's position along the sample motion."""
        return joint_positions(self.robot, self.motion.q) if self.closed else self.motion.q

    @cached_property
    def drawable(self) -> Robot:
        """The robot with numbers for whatever is a symbol, to be drawn."""
        symbols = self.robot.symbols
        return substitute(self.robot, dict.fromkeys(symbols, LENGTH)) if symbols else self.robot
