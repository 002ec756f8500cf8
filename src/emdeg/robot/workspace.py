"""The box of joint positions that an analysis ranges over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.algebra.generator import Generator
from emdeg.errors import RobotError
from emdeg.robot.model import Robot
from emdeg.writing.notebook import Shown

Range = tuple[float, float]


@dataclass(frozen=True)
class Workspace(Shown):
    """One range a joint [rad or m], in the robot's order; a whole turn where a revolute joint has no limits."""

    joints: tuple[str, ...]
    ranges: tuple[Range, ...]
    free: tuple[bool, ...]
    """Whether the joint turns without end."""

    @property
    def box(self) -> dict[Generator | int, Range]:
        """{joint number: range}, as `emdeg.bounds` takes it."""
        return dict(enumerate(self.ranges, 1))

    def sample(self, count: int, seed: int = 0) -> Array:
        """`count` configurations (count, n), uniform over the box."""
        low, high = np.array(self.ranges).T
        return low + (high - low) * np.random.default_rng(seed).uniform(size=(count, len(self.ranges)))

    @property
    def middle(self) -> Array:
        low, high = np.array(self.ranges).T
        return 0.5 * (low + high)


def joint_number(robot: Robot, name: str) -> int:
    """The place, from 1, of the joint called `name`, q3 or 3; RobotError if there is none."""
    names = [joint.name for joint in robot.coordinates]
    if name in names:
        return names.index(name) + 1
    digits = name.removeprefix("q")
    if digits.isdigit() and 1 <= int(digits) <= robot.freedoms:
        return int(digits)
    raise RobotError(f"there is no joint {name!r}; its joints are {', '.join(names)}", body=robot.name)


def workspace(robot: Robot, ranges: Mapping[str, Sequence[float]] | None = None) -> Workspace:
    """The robot's joint limits, narrowed or replaced by `ranges` {joint's name or q3: (low, high)} [rad, m].

    RobotError for an empty range, a range outside the joint's limits, or a sliding joint that nothing bounds.
    """
    given = {joint_number(robot, name): tuple(map(float, ends)) for name, ends in (ranges or {}).items()}
    found: list[Range] = []
    free = []
    for k, joint in enumerate(robot.coordinates, 1):
        low, high = (None if end is None else float(end) for end in (joint.limits.lower, joint.limits.upper))
        if k in given:
            first, last = given[k]
            if not (math.isfinite(first) and math.isfinite(last)) or first > last:
                raise RobotError(f"its range is empty: from {first:g} to {last:g}", body=joint.name)
            if (high is not None and first > high) or (low is not None and last < low):
                limits = f"{-math.inf if low is None else low:g} to {math.inf if high is None else high:g}"
                raise RobotError(
                    f"the range from {first:g} to {last:g} lies outside its limits, {limits}: the workspace is empty",
                    body=joint.name,
                )
            low = first if low is None else max(first, low)
            high = last if high is None else min(last, high)
        if joint.kind == "revolute":
            turns = low is None or high is None or high - low >= 2 * math.pi
            low, high = (-math.pi, math.pi) if low is None or high is None or turns else (low, high)
            free.append(turns)
        else:
            free.append(False)
        if low is None or high is None:
            raise RobotError(
                f"it slides without limits; give its range (--range {joint.name}=LOW:HIGH)", body=joint.name
            )
        found.append((low, high))
    return Workspace(tuple(joint.name for joint in robot.coordinates), tuple(found), tuple(free))
