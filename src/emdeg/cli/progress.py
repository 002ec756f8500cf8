"""What a command is doing, on one line of the terminal while it does it; silent elsewhere. How it is stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from emdeg.cli.common import err

Tell = Callable[[str], None]
"""Told what is being worked out now."""


@contextmanager
def working(what: str) -> Iterator[Tell]:
    """A line with what is being worked out and the time since it began; print results after it, not within."""
    if not err.is_terminal:
        yield lambda text: None
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    # What is printed on stdout belongs there, whatever stderr is.
    with Progress(*columns, console=err, transient=True, redirect_stdout=False) as line:
        task = line.add_task(what, total=None)

        def tell(text: str) -> None:
            line.update(task, description=f"{what}: {text}")

        yield tell


class StopRequest:
    """Whether somebody has asked the command to stop."""

    def __init__(self) -> None:
        self.asked = False


@contextmanager
def stoppable() -> Iterator[StopRequest]:
    """An interrupt asks for a stop, for work that looks whether it is asked for; a second one interrupts as usual."""
    stop = StopRequest()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True

    if threading.current_thread() is not threading.main_thread():  # signals are not its business
        yield stop
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
