"""Where the values of a long program are while it runs: in a processor's registers, or in memory between two uses.

A compiler gives a value of a long function without branches a register for as long as it lives, or none; where hundreds
live, most get none. Here the value whose next use is furthest off leaves (L. A. Belady, 1966), and it comes back when
it is read again. Operations stay as they are; what is made for one value stands together.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from emdeg.programs.instructions import Act, Instructions, Step
from emdeg.programs.ir import Kind, Program, Slot, uses
from emdeg.programs.pipeline import Pipeline
from emdeg.programs.simplification import angles_first, few_alive, taken_ahead
from emdeg.programs.values import ARITHMETIC

REGISTERS = 18
"""Processors have sixteen or 32 for such numbers. Compilers find room for the few that are too many for sixteen."""
NEAR = 12
"""Operations within which a value that lies in memory must be read again to be worth a register."""
SOON = 1
"""Operations after which a value is read so soon that it may stand there."""
_NEVER = 1 << 60
_NONE = -1
"""Of the values none: a number is stored."""
_SOMEWHERE = 0
"""The place of a value in memory as long as none is chosen."""
_WAVES = (Kind.SIN, Kind.COS)


@dataclass(frozen=True, slots=True)
class Allocation:
    """A program in an order in which its values need few moves, and what happens to them."""

    program: Program
    steps: tuple[Step, ...]
    inside: frozenset[int]
    """Values that stand inside the expression that reads them and have no step of their own."""
    places: int
    """How many values memory holds at once."""


def allocated(instructions: Instructions, waves_lie: bool, near: int) -> Allocation:
    """What is where. `waves_lie`: sines and cosines are in memory, as inputs are, since a loop computes them.

    So many places are `near`: instructions that reach them are shorter.
    """
    leaving = frozenset(step.value for step in _Registers(instructions, waves_lie).run() if step.act is Act.KEEP)
    steps = _placed(instructions, list(_Registers(instructions, waves_lie, leaving).run()), near)
    neighbours = _neighbours(instructions, steps)
    own = tuple(step for step in steps if step.act is not Act.COMPUTE or step.value not in neighbours)
    places = 1 + max((step.place for step in steps), default=-1)
    return Allocation(instructions.program, own, neighbours.union(instructions.inside.values()), places)


def _placed(instructions: Instructions, steps: Sequence[Step], near: int) -> list[Step]:
    """The steps with the near places for the values that memory is asked for most, by the time that they lie there."""
    lying = _lying(instructions, steps)
    taken = np.zeros(len(steps), dtype=int)
    close: set[int] = set()
    for value in sorted(lying, key=lambda value: -lying[value].share):
        here = slice(lying[value].start, lying[value].end + 1)
        if taken[here].max() < near:
            taken[here] += 1
            close.add(value)
    places: dict[int, int] = {}
    free: dict[bool, list[int]] = {True: [], False: []}
    fresh = {True: 0, False: near}
    ending: list[tuple[int, int]] = []
    for value, when in lying.items():  # in the order in which they come
        while ending and ending[0][0] < when.start:
            _, gone = heappop(ending)
            heappush(free[gone in close], places[gone])
        is_close = value in close
        if free[is_close]:
            places[value] = heappop(free[is_close])
        else:
            places[value], fresh[is_close] = fresh[is_close], fresh[is_close] + 1
        heappush(ending, (when.end, value))
    return [replace(step, place=places[step.value]) if step.place >= 0 else step for step in steps]


@dataclass
class _Lying:
    """When a value lies in memory: from the step that writes it to the last that asks for it, and how many do."""

    start: int
    end: int
    asked: int = 1

    @property
    def share(self) -> float:
        return self.asked / (self.end - self.start + 1)


def _lying(instructions: Instructions, steps: Sequence[Step]) -> dict[int, _Lying]:
    reading = dict(zip(instructions.order, instructions.reading))
    found: dict[int, _Lying] = {}
    left: set[int] = set()
    for k, step in enumerate(steps):
        asked: Sequence[int] = reading[step.value] if step.act is Act.COMPUTE else (step.value,)
        for value in left.intersection(asked):
            found[value].end, found[value].asked = k, found[value].asked + 1
        if step.act is Act.KEEP:
            found[step.value] = _Lying(k, k)
        elif step.act is Act.LEAVE and step.place >= 0:
            left.add(step.value)
        elif step.act is Act.LOAD:
            left.discard(step.value)
    return found


def in_given_order(program: Program) -> Instructions:
    """The program as it is, sines and cosines first as far as can be: to call a library's empties all registers."""
    return Instructions(angles_first(program))


def quickest(program: Program, waves_lie: bool) -> Instructions:
    """The program in the order given, or in one in which few values live at once, or none waits long for another."""
    orders = [angles_first(program), angles_first(few_alive(program))]
    instructions = [Instructions(one) for order in orders for one in (taken_ahead(order), order)]
    return min(instructions, key=lambda one: estimated_cycles(one, waves_lie))


def estimated_cycles(instructions: Instructions, waves_lie: bool) -> float:
    """About how many cycles the instructions take in their order; sines and cosines of all angles are there before."""
    return Pipeline(instructions).cycles(moves(instructions, waves_lie))


def moves(instructions: Instructions, waves_lie: bool) -> Iterator[Step]:
    """The instructions in their order, with what is moved between them."""
    return _Registers(instructions, waves_lie).run()


def _neighbours(instructions: Instructions, steps: Sequence[Step]) -> frozenset[int]:
    """Values that are read once, and that soon, with no value on its way out of the registers in between."""
    reading = dict(zip(instructions.order, instructions.reading))
    reader = {arg: index for index, args in reading.items() for arg in args}
    times, roots = uses(instructions.program), set(instructions.program.roots())
    found, since = set(), {}
    for step in steps:
        if step.act is Act.COMPUTE:
            arithmetic = instructions.program.ops[step.value].kind in ARITHMETIC  # angles are known before their sines
            for arg in reading[step.value]:
                if arithmetic and arg in since and reader[arg] == step.value and times[arg] == 1:
                    found.add(arg)
            since = {value: age + 1 for value, age in since.items() if age < SOON}
            if arithmetic and step.value not in roots:
                since[step.value] = 0
        elif step.act is not Act.LOAD:
            since = {}
    return frozenset(found)


class _Registers:
    """What is in registers and in memory while operations follow each other: the k-th at the time 2 k."""

    def __init__(self, instructions: Instructions, waves_lie: bool, leaving: frozenset[int] = frozenset()) -> None:
        self.instructions, ops = instructions, instructions.program.ops
        self.leaving = leaving
        """Values of which it is known that they will leave: memory has them as soon as they are there."""
        self.reading = instructions.reading
        # An output may lie where an input does: nothing is stored before all inputs are read.
        reading_inputs = (2 * k for k, read in enumerate(self.reading) if not instructions.inputs.isdisjoint(read))
        self.storing = 1 + max(reading_inputs, default=-2)
        when = {index: 2 * k for k, index in enumerate(instructions.order)}
        self.entries: dict[int, list[Slot]] = {}
        self.literals: list[Slot] = []
        for group in instructions.program.outputs:
            for place, ref in enumerate(group.entries):
                if ref.sign and ref.value not in instructions.numbers:
                    self.entries.setdefault(ref.value, []).append((group.name, place))
                else:
                    self.literals.append((group.name, place))
        self.waiting = [value for value in self.entries if when.get(value, -2) < self.storing]
        times: dict[int, list[int]] = {}
        for k, read in enumerate(self.reading):
            for value in read:
                times.setdefault(value, []).append(2 * k)
        for value in self.waiting:
            insort(times.setdefault(value, []), self.storing)
        self.coming = {value: [_NEVER, *reversed(own)] for value, own in times.items()}
        """When each value is still to be read, the next time last."""
        waves = {index for index in instructions.order if ops[index].kind in _WAVES} if waves_lie else set()
        self.handed_through = [value for value in self.waiting if value in instructions.inputs]
        self.lying = (instructions.inputs | waves) - set(self.handed_through)
        """Values that are in memory without being kept there."""
        self.held: dict[int, None] = {}
        self.kept: set[int] = set()
        """Values that memory has; where they lie there is chosen afterwards."""
        self.now = -2

    def next_use(self, value: int) -> int:
        """When a value is read next."""
        return self.coming[value][-1] if value in self.coming else _NEVER

    def run(self) -> Iterator[Step]:
        """The steps in order."""
        for value in self.handed_through:  # before anything is stored
            yield Step(Act.LOAD, value)
            yield from self._hold(value)
        if self.storing < 0:
            yield from self._store_waiting()
        for k, index in enumerate(self.instructions.order):
            self._pass(2 * k, self.reading[k])
            # All angles are read where they lie, with the first.
            if self.instructions.program.ops[index].kind not in _WAVES:
                yield from self._bring(self.reading[k])
            self._end(self.reading[k])
            yield Step(Act.COMPUTE, index)
            if self.now > self.storing:
                yield from self._stores(index)
            if index not in self.lying and self.next_use(index) < _NEVER:
                yield from self._hold(index)
            if self.now + 1 == self.storing:
                yield from self._store_waiting()

    def _pass(self, now: int, read: Sequence[int]) -> None:
        """It is the time at which these values are read."""
        self.now = now
        for value in read:
            self.coming[value].pop()

    def _bring(self, read: Sequence[int]) -> Iterator[Step]:
        """Operands into registers as far as it is worth it; others are read where they lie."""
        for value in sorted((value for value in read if value not in self.held), key=self.next_use):
            again = self.next_use(value)
            if again - self.now > 2 * NEAR:
                continue
            if len(self.held) < REGISTERS or again < max(map(self.next_use, self.held)):
                yield Step(Act.LOAD, value)
                yield from self._hold(value, read)

    def _hold(self, value: int, pinned: Sequence[int] = ()) -> Iterator[Step]:
        """A register for a value; that whose next use is furthest off leaves for it, if one must."""
        if value in self.leaving:
            yield from self._keep(value)
        if len(self.held) >= REGISTERS:
            leaving = max((v for v in self.held if v not in pinned), key=self.next_use)
            del self.held[leaving]
            yield from self._keep(leaving)
            yield Step(Act.LEAVE, leaving, _SOMEWHERE if leaving in self.kept else -1)
        self.held[value] = None

    def _keep(self, value: int) -> Iterator[Step]:
        """A place in memory for a value that has none."""
        if value not in self.lying and value not in self.kept:
            self.kept.add(value)
            yield Step(Act.KEEP, value, _SOMEWHERE)

    def _end(self, read: Sequence[int]) -> None:
        """Values that nobody reads any more leave registers and memory."""
        for value in read:
            if self.next_use(value) == _NEVER:
                self.held.pop(value, None)
                self.kept.discard(value)

    def _stores(self, value: int) -> Iterator[Step]:
        yield from (Step(Act.STORE, value, entry=entry) for entry in self.entries.get(value, ()))

    def _store_waiting(self) -> Iterator[Step]:
        """What was known before all inputs were read, and literals."""
        self._pass(self.storing, self.waiting)
        yield from (Step(Act.STORE, _NONE, entry=entry) for entry in self.literals)
        for value in self.waiting:
            yield from self._stores(value)
        self._end(self.waiting)
