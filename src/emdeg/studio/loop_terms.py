"""Terms of a mechanism's equations, apart from each other, and a program of their values at the coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from emdeg.algebra import Angle, Generator, Quotient, TrigPoly
from emdeg.equations.loops import Expanded, LoopModel, rate_letter
from emdeg.mechanics.loops import LoopState, reduction
from emdeg.programs import Program, Traced, Tracer, open_trace
from emdeg.reports import ShadedEntries, ShadedEntry, ShadedTerm
from emdeg.writing import Equation, Folded, Formula, Item, Label, MatrixEquation, Section


def with_terms(section: Section) -> Section:
    """The section with the terms of its matrices and equations apart, to be shaded: an entry a line."""
    return replace(section, items=tuple(map(_with_terms, section.items)))


def _with_terms(item: Item) -> Item:
    match item:
        case Folded():
            return replace(item, items=tuple(map(_with_terms, item.items)))
        case MatrixEquation(label=label, rows=rows) if not label.subscript:  # named blocks are read as matrices
            apart = "_" if max(len(rows), len(rows[0])) > 9 else ""
            places = {
                f"{apart}{i}" + ("" if label.letter == "G" else f"{apart}{j}"): value
                for i, row in enumerate(rows, 1)
                for j, value in enumerate(row, 1)
            }
            return _entries(str(label), {replace(label, subscript=at): value for at, value in places.items()}) or item
        case Equation(label=label, value=value):
            return _entries("", {label: value}) or item
        case _:
            return item


def _entries(title: str, values: Mapping[Label, Formula]) -> ShadedEntries | None:
    """Formulas with their terms apart; None where one is no polynomial or quotient of such."""
    entries, zeros = [], []
    for label, value in values.items():
        if not isinstance(value, TrigPoly | Quotient):
            return None
        above, below = (value, None) if isinstance(value, TrigPoly) else (value.numerator, value.denominator)
        if below is not None and below.is_number:
            above, below = above / below.number, None
        if not above:
            zeros.append(label)
            continue
        terms = tuple(ShadedTerm(one) for one in summands(above))
        entries.append(ShadedEntry(label, terms, name=str(label), below=below))
    return ShadedEntries(title, tuple(entries), tuple(zeros), True)


def summands(formula: TrigPoly) -> Iterator[TrigPoly]:
    """A formula's terms, each as a formula."""
    for coefficient, monomial in formula.terms():
        yield formula.algebra.from_terms([(coefficient, monomial)])


def loop_term_program(model: LoopModel | Expanded, terms: Sequence[tuple[ShadedEntry, ShadedTerm]]) -> Program:
    """q, qd -> T: every term's value, from the coordinates and their rates; RobotError where there is no program."""
    trace = open_trace(model.robot, ["bias"])
    letters = _Letters(model, trace.tracer, cast(LoopState, trace.state()), trace.arrays["qd"])
    below: dict[TrigPoly, Traced] = {}
    values = []
    for entry, term in terms:
        assert isinstance(term.product, TrigPoly)
        value = letters.of(term.product)
        if entry.below is not None:
            if entry.below not in below:
                below[entry.below] = letters.of(entry.below)
            value = value / below[entry.below]
        values.append(value)
    return trace.tracer.program("terms", {"T": values})


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
