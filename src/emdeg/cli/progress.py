"""What a command is doing, on one line of the terminal while it does it; silent elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
