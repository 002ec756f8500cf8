"""A program of the values of a mechanism's terms at its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, cast

from emdeg.algebra import Angle, Generator, TrigPoly
from emdeg.loops import LoopState, reduction
from emdeg.loops.equations import Expanded, LoopModel, rate_letter
from emdeg.programs import Program, Traced, Tracer, open_trace
from emdeg.reports import ShadedTerm
from emdeg.studio.shading import PlacedTerm


def loop_term_program(model: LoopModel | Expanded, terms: Sequence[PlacedTerm]) -> Program:
    """q, qd -> T: every term's value, from the coordinates and their rates; RobotError where there is no program."""
    trace = open_trace(model.robot, ["bias"])
    letters = _Letters(model, trace.tracer, cast(LoopState, trace.state()), trace.arrays["qd"])
    divisors: dict[tuple[ShadedTerm, ...], Traced] = {}
    values = []
    for entry, term, below in terms:
        value = letters.of(_formula(term))
        if entry.below and not below:
            if entry.below not in divisors:
                divisors[entry.below] = reduce(add, (letters.of(_formula(one)) for one in entry.below))
            value = value / divisors[entry.below]
        values.append(value)
    return trace.tracer.program("terms", {"T": values})


def _formula(term: ShadedTerm) -> TrigPoly:
    assert isinstance(term.product, TrigPoly)
    return term.product


@dataclass(frozen=True)
class _Letters:
    """What the letters of a mechanism's formulas are at a state."""

    model: LoopModel | Expanded
    tracer: Tracer
    state: LoopState
    qd: Sequence[Traced]

    def of(self, formula: TrigPoly) -> Traced:
        return formula.map(self._letter, self.tracer.number)

    def _letter(self, g: Generator) -> Traced:
        if isinstance(g.of, Angle):
            return self.tracer.sincos(g.of)[g.kind == "cosine"]
        if isinstance(g.of, str):
            return self._named(g.of)
        at: Any = self.state.position[g.of - 1]
        if g.kind == "rate":
            return cast(Traced, self._motion.qd[g.of - 1])
        return at if g.kind == "displacement" else at[g.kind == "cosine"]

    @cached_property
    def _motion(self) -> reduction.TreeRates:
        return self.state.motion(self.qd)

    def _named(self, letter: str) -> Traced:
        if letter not in self._known:  # a root, a reciprocal or a constant, as defined beside the formulas
            names, number = self.model.names, int(letter[1:]) - 1
            match letter[0]:
                case "h":
                    self._known[letter] = self.tracer.sqrt(self.of(names.roots[number]))
                case "r":
                    self._known[letter] = self.tracer.number(1) / self.of(names.reciprocals[number])
                case _:
                    self._known[letter] = self.of(names.constants[number])
        return self._known[letter]

    @cached_property
    def _known(self) -> dict[str, Any]:
        """Slides with their rates; the entries of W and of its rate."""
        found: dict[str, Any] = {}
        for k, name in self.model.names.slides.items():
            found |= {name: self.state.position[k], rate_letter(name): self._motion.qd[k]}
        for k, row in enumerate(self.model.letters if isinstance(self.model, LoopModel) else ()):
            for place, name in enumerate(row):
                if name:
                    found |= {name: self._motion.W[k][place], rate_letter(name): self._motion.W_rate[k][place]}
        return found
