"""What an operation costs: by default one, as operations are counted; or an estimate of a processor's cycles."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields

from emdeg.programs.ir import Kind, Program, count, live, uses


@dataclass(frozen=True, slots=True)
class Weights:
    """The cost of each operation. `fused`: of an addition that takes in a product read nowhere else; None: no such.

    `spill`: of each value beyond `ROOM` that must be kept at the program's fullest moment; None: there is room for all.
    """

    mul: float = 1
    add: float = 1
    div: float = 1
    sqrt: float = 1
    sincos: float = 0
    fused: float | None = None
    spill: float | None = None

    def of(self, kind: Kind | None) -> float:
        """The cost of one operation; sines and cosines are weighed by `cost` alone."""
        match kind:
            case Kind.MUL:
                return self.mul
            case Kind.ADD | Kind.SUB:
                return self.add
            case Kind.DIV:
                return self.div
            case Kind.SQRT:
                return self.sqrt
        return 0


OPERATIONS = Weights()
CYCLES = Weights(mul=1, add=1, div=6, sqrt=8, sincos=18, fused=1)
"""Rough reciprocal throughputs on a current 64-bit core, a sine-cosine pair inlined."""

GPU = Weights(mul=1, add=1, div=9, sqrt=9, sincos=32, fused=1, spill=4)
"""Issue slots of a GPU's thread in single precision, and its registers: a value that has none is stored and loaded."""
ROOM = 200
"""Values that a GPU's thread can hold: of its 255 registers, those that addresses and constants leave."""

WEIGHTS: Mapping[str, Weights] = {"operations": OPERATIONS, "cycles": CYCLES, "gpu": GPU}


def as_weights(weights: Weights | str) -> Weights:
    """The weights themselves, or those that a text says: operations, cycles, gpu, or "mul=1,add=1,div=6,..."."""
    return parsed(weights) if isinstance(weights, str) else weights


def as_text(weights: Weights | str) -> str:
    """The text itself, or the label of the weights."""
    return weights if isinstance(weights, str) else label(weights)


def label(weights: Weights) -> str:
    """A text that names the weights: of their own, or each by its number."""
    for name, known in WEIGHTS.items():
        if weights == known:
            return name
    given = {field.name: getattr(weights, field.name) for field in fields(Weights)}
    return ",".join(f"{name}={value:g}" for name, value in given.items() if value is not None)


def parsed(text: str) -> Weights:
    """The weights that `label` names; those left out have their usual value. ValueError for any other text."""
    if text in WEIGHTS:
        return WEIGHTS[text]
    known = {field.name for field in fields(Weights)}
    given: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name not in known or name in given:
            raise ValueError(
                f"{part!r} is no weight: there are {', '.join(sorted(known))}, each NAME=NUMBER and once; "
                f"or {', '.join(WEIGHTS)}"
            )
        given[name] = float(number) if _NUMBER.fullmatch(number) else -1.0
        if not 0 <= given[name] <= 1e6:
            raise ValueError(f"{part!r}: a weight is a number from 0 to 1e6")
    return Weights(**given)


_NUMBER = re.compile(r"[0-9]*\.?[0-9]+([eE][-+]?[0-9]{1,3})?")


def cost(program: Program, weights: Weights = OPERATIONS) -> float:
    """What one evaluation costs."""
    c = count(program)
    total = (
        c.mul * weights.mul
        + c.add * weights.add
        + c.div * weights.div
        + c.sqrt * weights.sqrt
        + c.sincos * weights.sincos
    )
    if weights.fused is not None:
        total -= _fusable(program) * (weights.mul + weights.add - weights.fused)
    if weights.spill is not None:
        total += max(0, fullest(program) - ROOM) * weights.spill
    return total


def fullest(program: Program, together: Iterable[Collection[int]] = ()) -> int:
    """The most values that must be kept at once, in the order of the operations; an output leaves when it is there.

    Of `together` each is values that leave at once: the first waits for the last.
    """
    needed = live(program)
    last: dict[int, int] = {}
    for index, op in enumerate(program.ops):
        if needed[index]:
            last |= dict.fromkeys(op.args, index)
    for values in together:
        leaves = max(values, default=0)
        last |= {value: max(last.get(value, 0), leaves) for value in values}
    held = {value: end for value, end in last.items() if program.ops[value].kind is not Kind.NUMBER}
    ending: dict[int, int] = {}
    for end in held.values():
        ending[end] = ending.get(end, 0) + 1
    kept = most = 0
    for index in range(len(program.ops)):
        kept += (index in held) - ending.get(index, 0)
        most = max(most, kept)
    return most


def _fusable(program: Program) -> int:
    """How many additions can take in a product that nobody else reads, each product once."""
    needed, times = live(program), uses(program)
    found = 0
    for op, alive in zip(program.ops, needed):
        if alive and op.kind in (Kind.ADD, Kind.SUB):
            found += any(program.ops[arg].kind is Kind.MUL and times[arg] == 1 for arg in op.args)
    return found


FORMULATION = 9e-5
"""Seconds an operation of a traced formulation takes."""
TARGET = 4e-6
"""Seconds per value of the program when one of its values is said anew."""
SHORT = 50
"""A shorter program takes no less time than one of so many values: the rest is overhead."""
PATIENCE = 0.95
"""The part of the promised seconds, on the processor's clock, after which a search ends: proving takes the rest."""

SLOWEST = 4.0
"""How many times its seconds a search may take on the processor's clock that nobody promised to end in time."""
LEEWAY = 0.2
"""The part of the time after a share of the budget that the clock leaves for it: work is counted by and large."""

Progress = Callable[[str, float], None]
"""Told the phase of a search and the best cost so far."""


def formulation_seconds(size: int) -> float:
    """What tracing a formulation of so many values takes."""
    return FORMULATION * max(size, SHORT)


def target_seconds(size: int) -> float:
    """What saying one value of a program of so many values anew takes."""
    return TARGET * max(size, SHORT)


class Effort:
    """A budget of nominal seconds, and what has been spent of it.

    Work is counted at what it takes on one machine, so what ends with the budget ends at the same place on any that is
    fast enough. `clock` tells the processor's time, and `start` when on it the budget began, if that is not now: where
    its time has passed (`end`, by default a little before the seconds are over) all ends, and the budget is `cut`.
    """

    def __init__(
        self,
        seconds: float,
        clock: Callable[[], float] = time.process_time,
        start: float | None = None,
        end: float | None = None,
        parent: Effort | None = None,
        pace: float = 1.0,
    ) -> None:
        self.seconds = seconds
        self.spent = 0.0
        self.cut = False
        self.clock = clock
        self.parent, self.pace = parent, pace
        self._start = time.monotonic()
        self._start_cpu = clock() if start is None else start
        self._end_cpu = self._start_cpu + PATIENCE * seconds if end is None else end

    @classmethod
    def unhurried(cls, seconds: float) -> Effort:
        """A budget that begins now, and that machines too use up whole that are slow: all find the same with it."""
        return cls(seconds, end=time.process_time() + SLOWEST * seconds)

    @property
    def elapsed(self) -> float:
        """Seconds on the wall clock."""
        return time.monotonic() - self._start

    def spend(self, seconds: float) -> None:
        self.spent += seconds
        if self.parent is not None:
            self.parent.spend(self.pace * seconds)

    def until(self, share: float) -> Callable[[], bool]:
        """Whether that share of the budget is spent, or that of the time and some more has passed on the processor."""
        last = self._start_cpu + (share + LEEWAY * (1 - share)) * (self._end_cpu - self._start_cpu)

        def over() -> bool:
            if self.spent >= share * self.seconds:
                return True
            if self.clock() > last:
                self._was_cut()
                return True
            return False

        return over

    def _was_cut(self) -> None:
        self.cut = True
        if self.parent is not None:
            self.parent._was_cut()

    def left(self) -> float:
        """Seconds until the time has passed on the processor; 0 from then on."""
        return max(0.0, self._end_cpu - self.clock())

    @property
    def rest(self) -> float:
        """Nominal seconds that are left."""
        return max(0.0, self.seconds - self.spent)

    def part(self, share: float) -> Effort:
        """A budget that begins now, of that share of what is left, nominal and on the processor."""
        now = self.clock()
        end = now + share * max(0.0, self._end_cpu - now)
        return Effort(share * self.rest, self.clock, now, end, self)

    def at_most(self, seconds: float, pace: float = 1.0) -> Effort:
        """A budget that begins now, of so many nominal seconds, each of which counts `pace` here, or what is left."""
        return Effort(min(seconds, self.rest / pace), self.clock, end=self._end_cpu, parent=self, pace=pace)
