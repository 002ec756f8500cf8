"""Which formulation of each function, varied how: the choices that a search ranges over, and the program of each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from emdeg.dynamics import mechanism_of, tree_state
from emdeg.dynamics.formulations import MOMENTS
from emdeg.dynamics.functions import CATALOGUE, ways_of
from emdeg.dynamics.variants import (
    SPLITS,
    Joints,
    Variation,
    drives_in_links,
    no_variation,
    slide_choices,
    turn_back_choices,
    varied,
)
from emdeg.errors import CannotVary
from emdeg.programs.build import derivative_of, joined, open_trace
from emdeg.programs.ir import Program
from emdeg.programs.simplification import retrace, simplify
from emdeg.programs.trace import Tracer
from emdeg.programs.weights import Weights, cost, formulation_seconds
from emdeg.robot import Robot


@dataclass(frozen=True, slots=True)
class Formulation:
    """A formulation for each function, by its name in the catalogue, and how the mechanics is written in all."""

    method: tuple[str, ...]
    variation: Variation


def plain_formulation(robot: Robot, functions: Sequence[str]) -> Formulation:
    """What the plain program uses: body-fixed frames as given, YY, MZ and M handed over."""
    first = tuple(ways_of(function, robot).searched[0] for function in functions)
    return Formulation(first, no_variation(robot.n))


def has_formulations(robot: Robot, functions: Sequence[str]) -> bool:
    """Whether there is anything to choose: every function has formulations that bear variation, and every joint."""
    elementary = all(joint.type.elementary for joint in robot.joints)
    return elementary and all(ways_of(function, robot).searched for function in functions)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing a formulation may choose: field `name` (at link `place`, or for function `place`) = `value`."""

    name: str
    place: int | None
    value: Any = field(hash=False)

    def applied(self, to: Formulation) -> Formulation:
        if self.name == "method":
            return replace(to, method=_with(to.method, self.place, self.value))
        chosen = _with(getattr(to.variation, self.name), self.place, self.value)
        return replace(to, variation=replace(to.variation, **{self.name: chosen}))

    def is_in(self, formulation: Formulation) -> bool:
        chosen = getattr(formulation if self.name == "method" else formulation.variation, self.name)
        return bool((chosen if self.place is None else chosen[self.place]) == self.value)


def _with(values: Any, place: int | None, value: Any) -> Any:
    return value if place is None else (*values[:place], value, *values[place + 1 :])


def options(robot: Robot, functions: Sequence[str]) -> list[Option]:
    """Every single choice open for this robot and these functions."""
    found: list[Option] = []
    joints = range(robot.n)
    sources = {one.derivation.of.name if one.derivation else one.name for one in map(CATALOGUE.__getitem__, functions)}
    turns = turn_back_choices(mechanism_of(robot, Tracer(sorted(robot.symbols))))
    found += [Option("back", i, joints_) for i in joints for joints_ in turns[i]]
    found += [Option("slide", i, length) for i, lengths in enumerate(slide_choices(robot)) for length in lengths]
    for i in joints:
        if robot.joints[i].kind == "revolute":
            found += [Option("axial", i, value) for value in ("yy", "xx", "mean")]
            found += [Option("keep_mass", i, value) for value in (False, True)]
    if any(function in RECURSIVE for function in sources):
        found += [Option("moment", i, value) for i in joints for value in MOMENTS]
    if any(function in WITH_SPLIT_INERTIA for function in sources):
        found += [Option("apart", i, share) for i in joints for share in SPLITS]
        found += [Option("apart_back", i, joints_) for i in joints for joints_ in turns[i] if len(turns[i]) > 1]
    if "inverse_dynamics" in sources:
        found += [Option("closed", None, k) for k in range(min(robot.n, 4))]
    for place, function in enumerate(functions):
        found += [Option("method", place, name) for name in ways_of(function, robot).searched]
    return found


RECURSIVE = ("inverse_dynamics", "bias", "gravity", "forward_dynamics")
"""Functions that take efforts from the recursion."""
WITH_SPLIT_INERTIA = (*RECURSIVE, "mass_matrix")
"""Functions that may count a body as two that move alike."""


def write(robot: Robot, functions: Sequence[str], formulation: Formulation) -> Program:
    """The functions traced as the formulation says, not simplified; CannotVary if its choices do not go together."""
    trace = open_trace(robot, functions)

    def pair_of(joints: Joints):
        angle = trace.q[joints[0]]
        for joint in joints[1:]:
            angle = angle + trace.q[joint]
        return trace.tracer.sincos_of(angle)

    state = tree_state(drives_in_links(robot, mechanism_of(robot, trace.tracer)), trace.inputs)
    written = varied(state, formulation.variation, pair_of)
    results: dict[str, Any] = {}
    for function, method in zip(functions, formulation.method):
        entry = CATALOGUE[function]
        found = ways_of(function, robot).formulations[method](written)
        if found is None:
            raise CannotVary(f"{method} does not serve this robot")
        if entry.derivation is not None:
            found = derivative_of(entry.derivation, found, written, trace)
        results = joined(results, found, functions, trace.names)
    return trace.tracer.program("_".join(functions), results)


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
