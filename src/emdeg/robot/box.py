"""The box of states over which a short model is judged: positions, speeds, accelerations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra.generator import Generator
from emdeg.errors import RobotError
from emdeg.robot import Robot
from emdeg.writing.notebook import Shown

SPEED, ACCELERATION = 2.0, 5.0
"""Defaults: rad/s or m/s, rad/s^2 or m/s^2; those of the checked errors that the tests compare with."""


@dataclass(frozen=True)
class Box(Shown):
    """Bounds of q [rad or m], and of |qd| and |qdd|, by joint."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    speed: tuple[float, ...]
    acceleration: tuple[float, ...]

    def sample(self, count: int, random: np.random.Generator) -> tuple[NDArray, NDArray, NDArray]:
        """Random q, qd, qdd, each count x n."""
        n = len(self.lower)
        qd, qdd = (random.uniform(-1, 1, (count, n)) * limit for limit in (self.speed, self.acceleration))
        return random.uniform(self.lower, self.upper, (count, n)), qd, qdd

    @property
    def positions(self) -> dict[Generator | int, tuple[float, float]]:
        """{joint number: its range}, as `emdeg.bounds` takes it."""
        return dict(enumerate(zip(self.lower, self.upper), start=1))

    def data(self) -> dict[str, list[float]]:
        return {name: list(getattr(self, name)) for name in ("lower", "upper", "speed", "acceleration")}


def box(
    robot: Robot,
    *,
    lower: Sequence[float] | None = None,
    upper: Sequence[float] | None = None,
    speed: float | Sequence[float] = SPEED,
    acceleration: float | Sequence[float] = ACCELERATION,
) -> Box:
    """The robot's box: its joint limits where it has them, a whole turn for a revolute joint that has none."""
    n = robot.n
    low, high = [], []
    for joint in robot.joints if lower is None or upper is None else ():
        limits = joint.limits
        if limits.lower is not None and limits.upper is not None:
            ends = float(limits.lower), float(limits.upper)
        elif joint.kind == "revolute":
            ends = -math.pi, math.pi
        else:
            raise RobotError(f"joint {joint.name} slides and has no limits: give its range")
        low.append(ends[0])
        high.append(ends[1])
    found = Box(
        tuple(map(float, lower)) if lower is not None else tuple(low),
        tuple(map(float, upper)) if upper is not None else tuple(high),
        _each(speed, n, "speed"),
        _each(acceleration, n, "acceleration"),
    )
    if len(found.lower) != n or len(found.upper) != n or any(a > b for a, b in zip(found.lower, found.upper)):
        raise ValueError(f"a box needs {n} lower and {n} upper positions, each lower one at most its upper one")
    return found


def _each(value: float | Sequence[float], n: int, what: str) -> tuple[float, ...]:
    each = (float(value),) * n if isinstance(value, int | float) else tuple(map(float, value))
    if len(each) == 1:
        each *= n
    if len(each) != n or any(not x >= 0 or math.isinf(x) for x in each):
        raise ValueError(f"the {what} needs one number, or {n}, none negative")
    return each
