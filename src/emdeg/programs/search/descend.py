"""Descent over formulations: change one choice, or two at once, and keep what is no dearer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from emdeg.errors import CannotVary
from emdeg.programs.ir import Program
from emdeg.programs.search.effort import formulation_seconds
from emdeg.programs.search.formulation import Formulation, Option, options, plain_formulation, write
from emdeg.programs.simplify import retrace, simplify
from emdeg.programs.weights import Weights, cost
from emdeg.robot.model import Robot

TOGETHER = 0.35
"""How often two choices are changed at once."""
Spend = Callable[[float], None]
"""Told the nominal seconds of each step."""
PATIENCE = 2
"""Rounds without a win after which a descent ends."""


@dataclass(frozen=True, slots=True)
class Found:
    """A formulation with what it costs before and after factoring."""

    formulation: Formulation
    raw: float
    program: Program
    cost: float


class Descent:
    """The search over formulations of some functions of one robot; deterministic for a seed."""

    def __init__(
        self,
        robot: Robot,
        functions: Sequence[str],
        seed: int,
        weights: Weights,
        spend: Spend,
        tell: Callable[[float], None] = lambda raw: None,
    ) -> None:
        self.robot, self.functions, self.weights = robot, functions, weights
        self.here: Formulation | None = None
        """The cheapest formulation of the descent under way."""
        self._tell = tell
        self.random = random.Random(seed)
        self.options = options(robot, functions)
        self._spend = spend
        self._known: dict[Formulation, float] = {}
        self.tried = 0

    def raw_cost(self, formulation: Formulation) -> float:
        """The cost of the trace as it is written, or infinity if the choices do not go together."""
        if formulation not in self._known:
            self.tried += 1
            try:
                program = retrace(write(self.robot, self.functions, formulation))
                self._known[formulation] = cost(program, self.weights)
                self._spend(formulation_seconds(program.size))
            except CannotVary:
                self._known[formulation] = float("inf")
        return self._known[formulation]

    def finished(self, formulation: Formulation) -> Found:
        """The formulation's program, factored."""
        program = simplify(write(self.robot, self.functions, formulation))
        self._spend(2 * formulation_seconds(program.size))
        return Found(formulation, self.raw_cost(formulation), program, cost(program, self.weights))

    def run(self, stop: Callable[[], bool]) -> Iterator[Found]:
        """Descents one after the other, each from a method's plain formulation; yields each one's end, factored."""
        methods = [option for option in self.options if option.name == "method"]
        first = plain_formulation(self.robot, self.functions)
        starts = [option.applied(first) for option in methods]
        turn = 0
        while not stop():
            start = starts[turn % len(starts)]
            if turn >= len(starts):
                start = self._shaken(start)
            yield self.finished(self._descend(start, stop, fixed_method=turn < len(starts)))
            self.here = None
            turn += 1

    def _shaken(self, formulation: Formulation) -> Formulation:
        for option in self.random.sample(self.options, k=min(6, len(self.options))):
            changed = option.applied(formulation)
            if self.raw_cost(changed) < float("inf"):
                formulation = changed
        return formulation

    def _descend(self, here: Formulation, stop: Callable[[], bool], fixed_method: bool) -> Formulation:
        best = self.raw_cost(here)
        moves = [option for option in self.options if not (fixed_method and option.name == "method")]
        idle = 0
        while idle < PATIENCE:
            self.random.shuffle(moves)
            before = best
            for move in moves:
                if stop():
                    return here
                there = self._changed(here, move, moves)
                value = self.raw_cost(there)
                if value < best:
                    self.here = there
                    self._tell(value)
                if value <= best:
                    here, best = there, value
            idle = idle + 1 if best == before else 0
        return here

    def _changed(self, here: Formulation, move: Option, moves: list[Option]) -> Formulation:
        there = move.applied(here)
        if move.is_in(here) or self.random.random() < TOGETHER:
            there = self.random.choice(moves).applied(there)
        return there
