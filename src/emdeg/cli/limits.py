"""Time and memory that a command may spend on what a stranger wrote."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from emdeg.errors import OverBudget

SECONDS = 300.0
"""For repeating the proof of one artefact; the largest of the library's robots takes seconds."""
BYTES = 8 * 2**30
"""Of memory beyond what the process has when it begins."""


@contextlib.contextmanager
def bounded(what: str, seconds: float = SECONDS, most: int = BYTES) -> Iterator[None]:
    """While this runs: OverBudget after so many seconds, MemoryError beyond so many bytes.

    On systems without these limits, and in threads, nothing is bounded.
    """
    with contextlib.ExitStack() as limits:
        if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():

            def too_long(number: int, frame: FrameType | None) -> NoReturn:
                raise OverBudget(f"{what} takes more than {seconds:g} s, which is the budget")

            limits.callback(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, too_long))
            limits.callback(signal.setitimer, signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        _bound_memory(limits, most)
        yield


def _bound_memory(limits: contextlib.ExitStack, most: int) -> None:
    try:
        import resource

        with open("/proc/self/statm") as told:
            now = int(told.read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        highest = before[1] if before[1] != resource.RLIM_INFINITY else now + most
        resource.setrlimit(resource.RLIMIT_AS, (min(now + most, highest), before[1]))
        limits.callback(resource.setrlimit, resource.RLIMIT_AS, before)
    except (ImportError, OSError, ValueError):
        return
