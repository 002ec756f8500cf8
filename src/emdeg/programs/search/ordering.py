"""The order of a long program's operations in which a processor is done sooner, as far as its estimate tells.

An operation is moved to another place between what it reads and what reads it; where that takes longer by the
estimate it goes back, if not by very little.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from emdeg.programs.instructions import Instructions
from emdeg.programs.ir import Kind, Program
from emdeg.programs.pipeline import Pipeline
from emdeg.programs.registers import moves, quickest
from emdeg.programs.weights import Progress

FAR = (10, 60, 400)
"""Places that an operation moves at the most, and the nearer the more often."""
WARMTH = 0.05
"""Cycles by which an order may take longer, by and large."""
ACCESS = 0.1
"""Cycles that a read or a write of memory is worth here: more than in an estimate, to make room for further moves."""


def in_quicker_order(
    program: Program, until: Callable[[], bool], seed: int = 0, tell: Progress = lambda phase, best: None
) -> Program:
    """The program with its operations in the quickest order found until then; the same for a seed and as many tries.

    `until` is asked before every try.
    """
    there = quickest(program, waves_lie=True)
    pipeline = Pipeline(there)
    chance = random.Random(seed)
    places = _Places(there)
    best = now = pipeline.cycles(moves(there, True), ACCESS)
    found = there
    while not until():
        move = places.drawn(chance)
        if move is None:
            continue
        places.make(*move)
        tried = there.permuted(places.order)
        cycles = pipeline.cycles(moves(tried, True), ACCESS)
        if cycles <= now or chance.random() < math.exp((now - cycles) / WARMTH):
            now = cycles
            if cycles < best:
                best, found = cycles, tried
                tell("order", best)
        else:
            places.make(*reversed(move))
    return found.in_order()


class _Places:
    """An order of instructions, by their places in the first, and what may stand where."""

    def __init__(self, instructions: Instructions) -> None:
        values = instructions.order
        place = {value: k for k, value in enumerate(values)}
        self.reads = [[place[arg] for arg in reading if arg in place] for reading in instructions.reading]
        self.readers: list[list[int]] = [[] for _ in values]
        for k, read in enumerate(self.reads):
            for other in read:
                self.readers[other].append(k)
        self.order = list(range(len(values)))
        self.at = list(range(len(values)))
        waves = [k for k, value in enumerate(values) if instructions.program.ops[value].kind in (Kind.SIN, Kind.COS)]
        self.first = 1 + max(waves, default=-1)
        """Angles, their sines and cosines stay at the beginning."""

    def drawn(self, chance: random.Random) -> tuple[int, int] | None:
        """(a place, another to which what is there may go); None if it may not go anywhere."""
        if self.first >= len(self.order):
            return None
        here = chance.randrange(self.first, len(self.order))
        one, far = self.order[here], chance.choice((FAR[0], FAR[0], FAR[1], FAR[2]))
        low = max([here - far, self.first, *(self.at[k] + 1 for k in self.reads[one])])
        high = min([here + far, len(self.order) - 1, *(self.at[k] - 1 for k in self.readers[one])])
        there = chance.randint(low, high)
        return None if there == here else (here, there)

    def make(self, here: int, there: int) -> None:
        """What is here goes there; what lies between moves by one."""
        self.order.insert(there, self.order.pop(here))
        for place in range(min(here, there), max(here, there) + 1):
            self.at[self.order[place]] = place
