"""What was worked out for a robot, remembered: for the same object at once, for an equal one after a comparison."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from emdeg.robot.model import Robot

T = TypeVar("T")


def remembered(size: int) -> Callable[[Callable[[Robot], T]], Callable[[Robot], T]]:
    """A function of a robot that keeps its last `size` results.

    A robot's hash walks through all its exact numbers, which takes as long as a function's value at one state; so the
    object itself is looked for first.
    """

    def decorate(function: Callable[[Robot], T]) -> Callable[[Robot], T]:
        of_equal = lru_cache(maxsize=size)(function)
        known: dict[int, tuple[Robot, T]] = {}

        @wraps(function)
        def look_up(robot: Robot) -> T:
            found = known.get(id(robot))
            if found is not None and found[0] is robot:
                return found[1]
            value = of_equal(robot)
            if len(known) >= size:
                known.clear()
            known[id(robot)] = (robot, value)  # the robot is held, so its number stays its own
            return value

        return look_up

    return decorate
