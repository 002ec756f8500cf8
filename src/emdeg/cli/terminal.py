"""Between emdeg and whoever reads it: no control character of a file reaches a terminal, no closed pipe is an error."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table


def harmless(text: str) -> str:
    """The text with every control and direction character but the line's end and the tab replaced."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)


SHORT = 32
"""Characters of a cell that stay together: any number, any name of a joint."""
WIDEST = 10_000


class SafeConsole(Console):
    """A console that passes on its own control codes, and none that stand in the texts it is given.

    A table's short cells, and short words of its long ones, are never broken: a number that loses its exponent is
    another number. What is longer goes on in the next line; nothing is left out.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        if len(objects) == 1 and isinstance(objects[0], Table):
            table = objects[0]
            for column in table.columns:
                cells = [str(cell) for cell in (column.header, *column.cells)]
                longest = max(map(len, cells))
                if longest > SHORT:
                    column.overflow = "fold"
                    longest = min(max(len(word) for cell in cells for word in cell.split()), SHORT)
                column.min_width = max(longest, column.min_width or 0)
            needed = Measurement.get(self, self.options.update(width=WIDEST), table).minimum
            if needed > self.width:
                how |= {"width": needed, "crop": False}
        super().print(*objects, **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)


class TerminalOutput:
    """A stream that goes nowhere once its reader has closed the pipe: `emdeg verify FILE | head -1` is no failure.

    The command goes on, so that its exit code says what came of it. Other troubles, such as a full disk, are raised.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = open(os.devnull, "w") if stream is None else stream  # noqa: SIM115  # None: `emdeg ... >&-`

    def write(self, text: str) -> int:
        with self._patience():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._patience():
            self._stream.flush()

    @contextlib.contextmanager
    def _patience(self) -> Any:
        try:
            yield
        except BrokenPipeError:
            self.discard()

    def discard(self) -> None:
        """From here on nothing is written, what is still held back included."""
        with contextlib.suppress(io.UnsupportedOperation), open(os.devnull, "w") as nowhere:  # a stream in memory
            os.dup2(nowhere.fileno(), self._stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
