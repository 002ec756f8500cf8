"""Recorded columns from a CSV or Parquet file: numbers by column name, NaN where one is missing."""

from __future__ import annotations

import csv
import io
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import arrow
from emdeg.errors import RobotError, TooLarge
from emdeg.robot import BUDGET

BEYOND = 1e100
"""No position, effort or time is as large, and squares of numbers that are have no bound: such a cell holds none."""
LARGEST = 1024 * BUDGET.bytes
"""A log may be so long [bytes]."""
FEWEST = 7
"""Samples that a log must hold."""
BLOCK = 100_000
"""Lines that are read at once: what is held as text is small beside what is held as numbers."""


@dataclass(frozen=True)
class LogTable:
    """The columns of a file: `values` (m, columns), NaN where a cell is empty or no finite number."""

    file: str
    header: tuple[str, ...]
    """Every column's name, those that were not read included."""
    names: tuple[str, ...]
    values: Array

    def column(self, name: str) -> Array:
        return self.values[:, self.names.index(name)]

    def columns(self, names: Sequence[str]) -> Array:
        """(m, k); those that stand side by side are not copied: an hour's log is held once."""
        places = [self.names.index(name) for name in names]
        first = places[0] if places else 0
        beside = places == list(range(first, first + len(places)))
        return self.values[:, first : first + len(places)] if beside else self.values[:, places]

    def line(self, row: int) -> int | None:
        """The line on which a sample stands; None in a file that has no lines."""
        if self.file.endswith(".parquet"):
            return None
        with open(self.file, newline="", encoding="utf-8-sig") as handle:
            rows = (number for number, cells in enumerate(csv.reader(handle), 1) if cells)
            return next((number for k, number in enumerate(rows, -1) if k == row), None)


def read_table(path: str | PathLike[str], wanted: Callable[[str], bool] = lambda name: True) -> LogTable:
    """The columns with wanted names. RobotError names the file and the line at fault."""
    file = Path(path)
    try:
        if not file.is_file() and file.exists():
            raise RobotError("it is not a regular file", file=str(path))
        if file.stat().st_size > LARGEST:
            raise TooLarge(f"it is larger than {LARGEST // 2**20} MiB", file=str(path))
        if file.suffix == ".parquet":
            found = _parquet(file, wanted)
        else:
            with file.open(newline="", encoding="utf-8-sig") as handle:
                found = _csv(handle, str(path), wanted)
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=str(path)) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise RobotError(f"is not a CSV file: {problem}", file=str(path)) from None
    if found.names and len(found.values) < FEWEST:
        rule = f"holds {len(found.values)} samples below its header; at least {FEWEST} are needed"
        raise RobotError(rule, file=str(path))
    for column in found.values.T:
        column[~(np.abs(column) < BEYOND)] = np.nan
    return found


def _header(cells: Sequence[str], file: str) -> tuple[str, ...]:
    header = tuple(cell.strip() for cell in cells)
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise RobotError(f"has two columns {doubled[0]!r}", file=file, line=1)
    return header


def _parquet(path: Path, wanted: Callable[[str], bool]) -> LogTable:
    arrow_ = arrow()
    try:
        source = arrow_.parquet.ParquetFile(path)
        header = _header(source.schema_arrow.names, str(path))
        names = tuple(name for name in header if wanted(name))
        if (
            source.metadata.num_rows * len(names) * 8 > LARGEST
        ):  # a few bytes may say that a number stands in all of them
            raise TooLarge(f"its numbers are more than {LARGEST // 2**20} MiB", file=str(path))
        values = np.empty((source.metadata.num_rows, len(names)), order="F")
        for k, name in enumerate(names):  # one column at a time: the log is not held twice
            column = source.read(columns=[name]).column(0).cast(arrow_.float64())
            values[:, k] = column.to_numpy()
            del column
        arrow_.default_memory_pool().release_unused()
    except (arrow_.ArrowException, ValueError, OSError, MemoryError) as problem:
        if isinstance(problem, RobotError):
            raise
        rule = f"is not a Parquet file of numbers: {(str(problem).splitlines() or [''])[0][:200]}"
        raise RobotError(rule, file=str(path)) from None
    return LogTable(str(path), header, names, values)


def _csv(handle: io.TextIOBase, file: str, wanted: Callable[[str], bool]) -> LogTable:
    rows = csv.reader(handle)
    header = _header(next((cells for cells in rows if cells), ()), file)
    names = tuple(name for name in header if wanted(name))
    places = [header.index(name) for name in names]
    blocks = deque(_blocks(handle, rows.line_num, file, names, places) if places else ())
    values = np.empty((sum(map(len, blocks)), len(names)), order="F")
    first = 0
    while blocks:  # each goes as it is taken over: the log is not held twice
        block = blocks.popleft()
        values[first : first + len(block)] = block
        first += len(block)
    return LogTable(file, header, names, values)


def _blocks(
    handle: io.TextIOBase, line: int, file: str, names: Sequence[str], places: Sequence[int]
) -> Iterator[Array]:
    """The numbers of so many lines at a time; what NumPy's own reader refuses is read cell by cell."""
    while True:
        lines = [text for _, text in zip(range(BLOCK), handle)]
        if not lines:
            return
        if any(map(str.strip, lines)):
            try:
                yield np.loadtxt(lines, delimiter=",", usecols=places, ndmin=2, comments=None)
            except ValueError:
                yield _by_cells(lines, line, file, names, places)
        line += len(lines)


def _by_cells(lines: list[str], before: int, file: str, names: Sequence[str], places: Sequence[int]) -> Array:
    values = []
    for number, row in enumerate(csv.reader(lines), before + 1):
        if row and any(map(str.strip, row)):
            cells = (row[place].strip() if place < len(row) else "" for place in places)
            values.append([_number(cell, name, file, number) for name, cell in zip(names, cells)])
    return np.array(values).reshape(-1, len(names))


def _number(cell: str, name: str, file: str, line: int) -> float:
    if not cell:
        return math.nan
    try:
        return float(cell)
    except ValueError:
        raise RobotError(f"{cell[:40]!r} in column {name} is not a number", file=file, line=line) from None
