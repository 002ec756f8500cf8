"""Where the values of a long program are while it runs: in a processor's registers, or in memory between two uses.

A compiler gives a value of a long function without branches a register for as long as it lives, or none; where hundreds
live, most get none. Here the value whose next use is furthest off leaves (L. A. Belady, 1966), and it comes back when
it is read again. Operations stay as they are; what is made for one value stands together.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush

from emdeg.programs.ir import Kind, Program, Slot, live, uses
from emdeg.programs.simplification import angles_first, few_alive, taken_ahead
from emdeg.programs.values import ARITHMETIC, constants

REGISTERS = 18
"""Processors have sixteen or 32 for such numbers. Compilers find room for the few that are too many for sixteen."""
NEAR = 12
"""Operations within which a value that lies in memory must be read again to be worth a register."""
SOON = 1
"""Operations after which a value is read so soon that it may stand there."""
_NEVER = 1 << 60
_WAVES = (Kind.SIN, Kind.COS)


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


@dataclass(frozen=True, slots=True)
class Allocation:
    """A program in an order in which its values need few moves, and what happens to them."""

    program: Program
    steps: tuple[Step, ...]
    inside: frozenset[int]
    """Values that stand inside the expression that reads them and have no step of their own."""
    places: int
    """How many values memory holds at once."""


def allocated(program: Program, waves_lie: bool) -> Allocation:
    """What is where, with the operations in an order in which few values live at once and none waits long for another.

    Sines and cosines come first, as far as can be: to call a library's empties all registers. `waves_lie`: they are in
    memory then, as inputs are, since a loop computes them.
    """
    units = _Units(taken_ahead(angles_first(few_alive(program))))
    leaving = frozenset(step.value for step in _Registers(units, waves_lie).run() if step.act is Act.KEEP)
    steps = list(_Registers(units, waves_lie, leaving).run())
    neighbours = _neighbours(units, steps)
    own = tuple(step for step in steps if step.act is not Act.COMPUTE or step.value not in neighbours)
    places = 1 + max((step.place for step in steps), default=-1)
    return Allocation(units.program, own, neighbours.union(units.inside.values()), places)


def _neighbours(units: _Units, steps: Sequence[Step]) -> frozenset[int]:
    """Values that are read once, and that soon, with no value on its way out of the registers in between."""
    reading = dict(zip(units.order, units.reading))
    reader = {arg: index for index, args in reading.items() for arg in args}
    times, roots = uses(units.program), set(units.program.roots())
    found, since = set(), {}
    for step in steps:
        if step.act is Act.COMPUTE:
            arithmetic = units.program.ops[step.value].kind in ARITHMETIC  # angles are known before their sines
            for arg in reading[step.value]:
                if arithmetic and arg in since and reader[arg] == step.value and times[arg] == 1:
                    found.add(arg)
            since = {value: age + 1 for value, age in since.items() if age < SOON}
            if arithmetic and step.value not in roots:
                since[step.value] = 0
        elif step.act is not Act.LOAD:
            since = {}
    return frozenset(found)


class _Units:
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


class _Registers:
    """What is in registers and in memory while operations follow each other: the k-th at the time 2 k."""

    def __init__(self, units: _Units, waves_lie: bool, leaving: frozenset[int] = frozenset()) -> None:
        self.units, ops = units, units.program.ops
        self.leaving = leaving
        """Values of which it is known that they will leave: memory has them as soon as they are there."""
        self.reading = units.reading
        # An output may lie where an input does: nothing is stored before all inputs are read.
        reading_inputs = (2 * k for k, read in enumerate(self.reading) if not units.inputs.isdisjoint(read))
        self.storing = 1 + max(reading_inputs, default=-2)
        when = {index: 2 * k for k, index in enumerate(units.order)}
        self.entries: dict[int, list[Slot]] = {}
        self.literals: list[tuple[int, Slot]] = []
        for group in units.program.outputs:
            for place, ref in enumerate(group.entries):
                if ref.sign and ref.value not in units.numbers:
                    self.entries.setdefault(ref.value, []).append((group.name, place))
                else:
                    self.literals.append((ref.value, (group.name, place)))
        self.waiting = [value for value in self.entries if when.get(value, -2) < self.storing]
        times: dict[int, list[int]] = {}
        for k, read in enumerate(self.reading):
            for value in read:
                times.setdefault(value, []).append(2 * k)
        for value in self.waiting:
            insort(times.setdefault(value, []), self.storing)
        self.coming = {value: [_NEVER, *reversed(own)] for value, own in times.items()}
        """When each value is still to be read, the next time last."""
        waves = {index for index in units.order if ops[index].kind in _WAVES} if waves_lie else set()
        self.handed_through = [value for value in self.waiting if value in units.inputs]
        self.lying = (units.inputs | waves) - set(self.handed_through)
        """Values that are in memory without being kept there."""
        self.held: dict[int, None] = {}
        self.places: dict[int, int] = {}
        self.free: list[int] = []
        self.most = 0
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
        for k, index in enumerate(self.units.order):
            self._pass(2 * k, self.reading[k])
            if self.units.program.ops[index].kind not in _WAVES:  # all angles are read where they lie, with the first
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
            yield Step(Act.LEAVE, leaving, self.places.get(leaving, -1))
        self.held[value] = None

    def _keep(self, value: int) -> Iterator[Step]:
        """A place in memory for a value that has none."""
        if value not in self.lying and value not in self.places:
            self.places[value] = heappop(self.free) if self.free else self.most
            self.most = max(self.most, 1 + self.places[value])
            yield Step(Act.KEEP, value, self.places[value])

    def _end(self, read: Sequence[int]) -> None:
        """Values that nobody reads any more leave registers and memory."""
        for value in read:
            if self.next_use(value) == _NEVER:
                self.held.pop(value, None)
                if value in self.places:
                    heappush(self.free, self.places.pop(value))

    def _stores(self, value: int) -> Iterator[Step]:
        yield from (Step(Act.STORE, value, entry=entry) for entry in self.entries.get(value, ()))

    def _store_waiting(self) -> Iterator[Step]:
        """What was known before all inputs were read, and literals."""
        self._pass(self.storing, self.waiting)
        yield from (Step(Act.STORE, value, entry=entry) for value, entry in self.literals)
        for value in self.waiting:
            yield from self._stores(value)
        self._end(self.waiting)
