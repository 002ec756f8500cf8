"""Effort: seconds on a machine of one fixed, nominal speed, so that the same effort does the same work everywhere.

What a step costs is estimated from the size of the program it looks at. A machine much slower than nominal is spared:
past `PATIENCE` times the effort of the processor's time the search ends where it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FORMULATION = 9e-5
"""Seconds an operation of a traced formulation takes."""
TARGET = 4e-6
"""Seconds per value of the program when one of its values is said anew."""
SHORT = 50
"""A shorter program takes no less time than one of so many values: the rest is overhead."""
PATIENCE = 3.0

Progress = Callable[[str, float], None]
"""Told the phase of a search and the best cost so far."""


def formulation_seconds(size: int) -> float:
    """What tracing a formulation of so many values takes."""
    return FORMULATION * max(size, SHORT)


def target_seconds(size: int) -> float:
    """What saying one value of a program of so many values anew takes."""
    return TARGET * max(size, SHORT)


class Effort:
    """A budget of nominal seconds, and what has been spent of it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.spent = 0.0
        self._start = time.monotonic()
        self._start_cpu = time.process_time()

    @property
    def elapsed(self) -> float:
        """Seconds on the wall clock."""
        return time.monotonic() - self._start

    def spend(self, seconds: float) -> None:
        self.spent += seconds

    def until(self, share: float) -> Callable[[], bool]:
        """Whether that share of the budget is spent, or the processor's time has run out."""
        last = self._start_cpu + PATIENCE * self.seconds
        return lambda: self.spent >= share * self.seconds or time.process_time() > last
