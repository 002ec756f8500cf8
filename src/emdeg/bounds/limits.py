"""What a search for certified bounds may spend, and how all searches are cancelled."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_cancelled = threading.Event()


def clock() -> float:
    """Seconds, 0.75 of this thread's processor time and 0.25 of the wall clock's: a crowded machine gets longer.

    Infinite while searches are cancelled: all that look at it end at once, with the bounds they have.
    """
    return math.inf if _cancelled.is_set() else 0.75 * time.thread_time() + 0.25 * time.monotonic()


@contextmanager
def cancelled() -> Iterator[None]:
    """Searches that run in other threads end while this lasts."""
    _cancelled.set()
    try:
        yield
    finally:
        _cancelled.clear()


@dataclass(frozen=True)
class SearchLimits:
    """What a search may spend: boxes or nodes examined, and seconds of `clock`."""

    boxes: float = math.inf
    seconds: float = 60.0
