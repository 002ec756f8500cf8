"""State number k as LLVM text: at random, on a grid, or along a motion; bit for bit what this processor makes.

The text stands where the words %low and %span are the box that states are drawn from, %along a table of the rule's own,
%start_word the start of the random stream, and %number is the state's number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from emdeg.algebra import Array
from emdeg.programs import Slot
from emdeg.runtime.llvm_writer import Writer
from emdeg.runtime.random_streams import GOLDEN, signed_word, uniform_text

Load = Callable[[Slot], str]
"""Names the value of an entry of a state's arrays."""


@dataclass(frozen=True)
class RandomStates:
    """Every entry uniform over its range; `columns` are the arrays of a state and their sizes, as a row has them."""

    columns: tuple[tuple[str, int], ...]
    table: Array = field(default_factory=lambda: np.zeros(1))

    @property
    def before(self) -> dict[str, int]:
        """The place of each array's first entry in a row."""
        sizes = [size for _, size in self.columns]
        return dict(zip((name for name, _ in self.columns), np.cumsum([0, *sizes]).tolist()))

    def loads(self, out: Writer) -> Load:
        width, before = sum(size for _, size in self.columns), self.before
        counter = out.put(f"mul i64 %number, {width}")
        return lambda slot: _uniform(out, counter, before[slot[0]] + slot[1])


@dataclass(frozen=True)
class GridStates:
    """Every combination of `points` values of q from end to end, the last entry's fastest; all else is at rest."""

    columns: tuple[tuple[str, int], ...]
    points: int
    table: Array = field(default_factory=lambda: np.zeros(1))

    def loads(self, out: Writer) -> Load:
        size = dict(self.columns)["q"]

        def load(slot: Slot) -> str:
            name, place = slot
            if name != "q":
                return out.constant(0.0)
            share = out.constant(0.5)
            if self.points > 1:
                turned = out.put(f"udiv i64 %number, {self.points ** (size - 1 - place)}")
                digit = out.put(f"urem i64 {turned}, {self.points}")
                real = out.put(f"uitofp i64 {digit} to double")
                share = out.put(f"fdiv double {real}, {out.constant(float(self.points - 1))}")
            return _between(out, place, share)

        return load


@dataclass(frozen=True)
class MotionStates:
    """States along motions from one random q to another: `table` (3, points) is the share of the way, its rates."""

    columns: tuple[tuple[str, int], ...]
    table: Array

    def loads(self, out: Writer) -> Load:
        size, points = dict(self.columns)["q"], self.table.shape[1]
        motion = out.put(f"udiv i64 %number, {points}")
        counter = out.put(f"mul i64 {motion}, {2 * size}")
        point = out.put(f"urem i64 %number, {points}")
        ends: dict[int, tuple[str, str]] = {}

        def load(slot: Slot) -> str:
            name, place = slot
            if place not in ends:
                begin, end = (_uniform(out, counter, place + k * size) for k in range(2))
                ends[place] = begin, out.put(f"fsub double {end}, {begin}")
            begin, way = ends[place]
            order = ("q", "qd", "qdd").index(name)
            share = _number_at(out, "%along", out.put(f"add i64 {point}, {order * points}"))
            gone = out.put(f"fmul double {way}, {share}")
            return out.put(f"fadd double {begin}, {gone}") if name == "q" else gone

        return load


StateRule = RandomStates | GridStates | MotionStates


def _uniform(out: Writer, counter: str, column: int) -> str:
    """The random number of a column, in the row whose first has that counter."""
    steps = out.put(f"mul i64 {out.put(f'add i64 {counter}, {column}')}, {signed_word(GOLDEN)}")
    return _between(out, column, uniform_text(out, out.put(f"add i64 {steps}, %start_word")))


def _between(out: Writer, column: int, share: str) -> str:
    # Not fused: it is the very state that this processor draws.
    away = out.put(f"fmul double {_number_at(out, '%span', str(column))}, {share}")
    return out.put(f"fadd double {_number_at(out, '%low', str(column))}, {away}")


def _number_at(out: Writer, pointer: str, place: str) -> str:
    return out.put(f"load double, ptr {out.put(f'getelementptr double, ptr {pointer}, i64 {place}')}")
