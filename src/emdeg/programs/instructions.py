"""A program's operations as a processor carries them out, one after the other, and what is done with their values."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from enum import StrEnum

from emdeg.programs.ir import Kind, Program, Slot, live, uses
from emdeg.programs.values import constants


class Act(StrEnum):
    """What is done with a value."""

    COMPUTE = "compute"
    """It is computed; what stands inside its expression too."""
    KEEP = "keep"
    """It is written into its place in memory."""
    LEAVE = "leave"
    """From now on it is read where it lies: its place, or the input that it is."""
    LOAD = "load"
    """It comes from there into a register."""
    STORE = "store"
    """It is written into the entry of an output."""


@dataclass(frozen=True, slots=True)
class Step:
    """An act on a value. `place`: in memory, of KEEP and LEAVE (-1: an input's); `entry`: of an output, of STORE."""

    act: Act
    value: int
    place: int = -1
    entry: Slot = ("", -1)


class Instructions:
    """A program's operations one after the other, those with a product inside them together with it."""

    def __init__(self, program: Program) -> None:
        self.program, self.numbers = program, constants(program)
        needed, times, roots = live(program), uses(program), set(program.roots())
        kinds = [op.kind for op in program.ops]
        self.inside: dict[int, int] = {}
        for index, op in enumerate(program.ops):
            products = [
                arg
                for arg in op.args
                if kinds[arg] is Kind.MUL and times[arg] == 1 and arg not in roots and arg not in self.numbers
            ]
            if needed[index] and kinds[index] in (Kind.ADD, Kind.SUB) and index not in self.numbers and products:
                self.inside[index] = max(products)
        taken = set(self.inside.values())
        self.order = [
            index
            for index, kind in enumerate(kinds)
            if needed[index]
            and index not in self.numbers
            and index not in taken
            and kind not in (Kind.INPUT, Kind.ANGLE)
        ]
        self.inputs = {index for index, kind in enumerate(kinds) if kind is Kind.INPUT and needed[index]}
        self.reading = [self._read(index) for index in self.order]

    def _read(self, index: int) -> list[int]:
        """The values that an operation reads, each once, numbers not among them."""
        args = self.program.ops[index].args
        own = self.inside.get(index)
        found = (inner for arg in args for inner in (self.program.ops[arg].args if arg == own else (arg,)))
        return [arg for arg in dict.fromkeys(found) if self._moves(arg)]

    def _moves(self, value: int) -> bool:
        return value not in self.numbers and self.program.ops[value].kind is not Kind.ANGLE

    def permuted(self, places: Sequence[int]) -> Instructions:
        """The same instructions in another order: their places now."""
        found = copy(self)
        found.order = [self.order[place] for place in places]
        found.reading = [self.reading[place] for place in places]
        return found
