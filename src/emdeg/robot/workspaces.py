"""The workspace: the box of positions, speeds and accelerations that a robot is looked at over. One rule for all.

Positions: the joint's limits, within which a user's range narrows it; a whole turn for a revolute joint that states
no limits or wider ones; a sliding joint must be bounded by somebody. Speeds: what the user gives, else the limit in the
robot's file, else `SPEED`. Accelerations: what the user gives, else `ACCELERATION`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array, Generator
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.robot.model import Joint, Robot

Range = tuple[float, float]

SPEED, ACCELERATION = 2.0, 5.0
"""Where neither the user nor the file says more: rad/s or m/s, rad/s^2 or m/s^2."""


@dataclass(frozen=True)
class Workspace(Shown):
    """A range of positions [rad or m] and the largest |qd| and |qdd|, by coordinate in the robot's order."""

    joints: tuple[str, ...]
    ranges: tuple[Range, ...]
    free: tuple[bool, ...]
    """Whether the joint turns without end."""
    speed: tuple[float, ...]
    acceleration: tuple[float, ...]

    @property
    def lower(self) -> tuple[float, ...]:
        return tuple(low for low, _ in self.ranges)

    @property
    def upper(self) -> tuple[float, ...]:
        return tuple(high for _, high in self.ranges)

    @property
    def box(self) -> dict[Generator | int, Range]:
        """{joint number: range}, as `emdeg.bounds` takes it."""
        return dict(enumerate(self.ranges, 1))

    @property
    def middle(self) -> Array:
        low, high = np.array(self.ranges).T
        return 0.5 * (low + high)

    def sample(self, count: int, seed: int | np.random.Generator = 0) -> Array:
        """`count` configurations (count, n), uniform over the box."""
        low, high = np.array(self.ranges).T
        return low + (high - low) * np.random.default_rng(seed).uniform(size=(count, len(self.ranges)))

    def sample_states(self, count: int, seed: int | np.random.Generator = 0) -> tuple[Array, Array, Array]:
        """Random q, qd, qdd, each (count, n), uniform over the box."""
        random = np.random.default_rng(seed)
        size = (count, len(self.ranges))
        qd, qdd = (random.uniform(-1, 1, size) * limit for limit in (self.speed, self.acceleration))
        return self.sample(count, random), qd, qdd

    def data(self) -> dict[str, list[float]]:
        """The box as plain data, for JSON."""
        return {name: list(getattr(self, name)) for name in ("lower", "upper", "speed", "acceleration")}


def joint_number(robot: Robot, name: str) -> int:
    """The place, from 1, of the joint called `name`, q3 or 3; RobotError if there is none."""
    names = [joint.name for joint in robot.coordinates]
    if name in names:
        return names.index(name) + 1
    if name in {joint.name for joint in robot.joints}:  # of a closed loop: q1 may be a motor, not the first coordinate
        raise RobotError(f"{name!r} is no independent coordinate; these are {', '.join(names)}", body=robot.name)
    digits = name.removeprefix("q")
    if digits.isdigit() and 1 <= int(digits) <= robot.freedoms:
        return int(digits)
    raise RobotError(f"there is no joint {name!r}; its joints are {', '.join(names)}", body=robot.name)


def workspace(
    robot: Robot,
    ranges: Mapping[str, Sequence[float]] | None = None,
    *,
    speed: float | Sequence[float] | None = None,
    acceleration: float | Sequence[float] | None = None,
) -> Workspace:
    """The robot's joint limits, narrowed or replaced by `ranges` {joint's name or q3: (low, high)} [rad, m].

    `speed` [rad/s, m/s] and `acceleration` [rad/s^2, m/s^2]: one number, or one a joint. RobotError for an empty
    range, a range outside the joint's limits, or a sliding joint that nothing bounds.

    >>> import emdeg
    >>> workspace(emdeg.load("planar2r"), {"q2": (-1.5, 1.5)}).ranges[1]
    (-1.5, 1.5)
    """
    joints = robot.coordinates
    given = {joint_number(robot, name): (float(low), float(high)) for name, (low, high) in (ranges or {}).items()}
    found = [_range(joint, given.get(k)) for k, joint in enumerate(joints, 1)]
    own = [SPEED if joint.limits.velocity is None else float(joint.limits.velocity) for joint in joints]
    return Workspace(
        tuple(joint.name for joint in joints),
        tuple(ends for ends, _ in found),
        tuple(free for _, free in found),
        _each(own if speed is None else speed, len(joints), "speed"),
        _each(ACCELERATION if acceleration is None else acceleration, len(joints), "acceleration"),
    )


def _range(joint: Joint, given: Range | None) -> tuple[Range, bool]:
    """(a joint's range, whether it turns without end)."""
    low, high = (None if end is None else float(end) for end in (joint.limits.lower, joint.limits.upper))
    if given is not None:
        first, last = given
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
    if low is None or high is None:
        if joint.kind != "revolute":
            raise RobotError(
                f"it slides without limits; give its range (--range {joint.name}=LOW:HIGH)", body=joint.name
            )
        return (-math.pi, math.pi), True
    if joint.kind == "revolute" and high - low >= 2 * math.pi:
        middle = 0.5 * (low + high)
        whole = math.isclose(high - low, 2 * math.pi)
        return ((low, high) if whole else (middle - math.pi, middle + math.pi)), True
    return (low, high), False


def _each(value: float | Sequence[float], n: int, what: str) -> tuple[float, ...]:
    each = (float(value),) * n if isinstance(value, int | float) else tuple(map(float, value))
    if len(each) == 1:
        each *= n
    if len(each) != n or any(not x >= 0 or math.isinf(x) for x in each):
        raise ValueError(f"the {what} needs one number, or {n}, none negative")
    return each
