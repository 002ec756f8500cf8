"""A model in its lumped constants, with their exact values: what is printed, approximated and written as a program."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from emdeg.algebra import Angle, Generator, TrigPoly
from emdeg.documents import Shown
from emdeg.equations.formulas import Formulas
from emdeg.equations.model import Model, derive, entry_name, lumped_constants
from emdeg.equations.reading import Compact, Constant, Lumped, compact
from emdeg.robot import Robot, substitute

Term = tuple[str, str]
"""An entry's name and a constant's: one summand, constant * function."""
Expansion = tuple[tuple[str, TrigPoly], ...]
"""An entry's summands: (constant, function), ..."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, repr=False)
class LumpedModel(Shown):
    """A model in its lumped constants, exact or an approximation in fewer terms."""

    robot: Robot
    """With its numbers."""
    source: Model
    """The exact equations, in symbols where they were derived in them."""
    lumped: Lumped
    values: Mapping[str, Fraction]
    """Constant -> its exact value."""

    @cached_property
    def functions(self) -> dict[Term, TrigPoly]:
        """Every summand's function of the configuration."""
        return {(e, c): f for e, terms in self.lumped.expansions.items() for c, f in terms}

    @cached_property
    def entries(self) -> dict[str, TrigPoly]:
        """{entry: formula with numbers}, zeros included."""
        zero = self.lumped.algebra.zero
        expansions = self.lumped.expansions.items()
        return {entry: sum((function * self.values[c] for c, function in terms), zero) for entry, terms in expansions}

    @cached_property
    def compact(self) -> Compact:
        """The reading form, in constants."""
        return compact(self.lumped)

    def keeping(self, kept: Collection[Term]) -> LumpedModel:
        """The model of some of the summands."""
        expansions = {
            entry: tuple((c, f) for c, f in terms if (entry, c) in kept)
            for entry, terms in self.lumped.expansions.items()
        }
        return self.with_terms(expansions)

    def with_terms(
        self, expansions: Mapping[str, Expansion], added: Mapping[str, Fraction] | None = None
    ) -> LumpedModel:
        """The model with other summands; `added`: entry -> a number added to it, a constant `mean_<entry>` in print."""
        terms, values = dict(expansions), dict(self.values)
        uses: dict[str, list[str]] = {}
        for entry, mine in terms.items():
            for c, _ in mine:
                uses.setdefault(c, []).append(entry)
        whole, algebra = self.lumped, self.lumped.algebra
        constants = [
            replace(c, uses=tuple(uses[c.name]), value=float(values[c.name])) for c in whole.constants if c.name in uses
        ]
        for entry, number in (added or {}).items():
            name = f"mean_{entry}"
            terms[entry] = (*terms[entry], (name, algebra.one))
            values[name] = number
            constants.append(Constant(name, algebra.number(number), "", (entry,), float(number), None))
        lumped = Lumped(tuple(constants) or whole.constants[:1], terms, whole.groups, whole.empty)
        return replace(self, lumped=lumped, values=values)

    @cached_property
    def model(self) -> Model:
        """These entries as a model: M, Christoffel symbols and gravity with numbers in them."""
        entries, source, n = self.entries, self.source, self.source.n
        joints = range(1, n + 1)
        algebra = self.lumped.algebra
        known = {name: number.value for name, number in source.known.items()}
        drives = tuple(
            algebra.number(exact_value(d, known)) if "M" in source.parts else algebra.zero for d in source.drives
        )
        M = ()
        if "M" in source.parts:
            M = tuple(
                tuple(
                    entries[entry_name("M", min(i, j), max(i, j))] - (drives[i - 1] if i == j else algebra.zero)
                    for j in joints
                )
                for i in joints
            )
        beta = {}
        for i, j, k in source.beta:
            if j == k and entry_name("c", i, j) in entries:
                beta[i, j, k] = entries[entry_name("c", i, j)]
            elif j != k and entry_name("b", i, j, k) in entries:
                beta[i, j, k] = entries[entry_name("b", i, j, k)] / 2
        g = tuple(entries[entry_name("g", i)] for i in joints) if "g" in source.parts else ()
        formulas = Formulas(M, drives, MappingProxyType(beta), g)
        return replace(source, stated=formulas, known=MappingProxyType({}), general=None)

    def written_out(self, entry: str) -> str:
        """An entry in its constants; one that is a multiple of another without that one's name."""
        here = self.compact.entries[entry]
        if not here.alias:
            return here.text
        others = self.compact.entries.keys() - {entry}
        return _NAME.sub(lambda m: f"({self.written_out(m[0])})" if m[0] in others else m[0], here.text)

    def numeric_text(self, digits: int = 3) -> dict[str, str]:
        """{entry: expression with numbers in place of constants}, rounded in print."""
        written = {c.name: f"({float(self.values[c.name]):.{digits}g})" for c in self.lumped.constants}
        return {
            name: entry.text if entry.alias else _NAME.sub(lambda found: written.get(found[0], found[0]), entry.text)
            for name, entry in self.compact.entries.items()
        }


def lumped_model(of: Robot | Model, only: str | None = None) -> LumpedModel:
    """The model of a robot, which is derived, or a model, in its lumped constants; `only`: these parts (say "M,g")."""
    if isinstance(of, Robot):
        robot, model = of, derive(of, only, symbolic=True)
    else:
        model = of.general or of
        # Numbers of a model in symbols: those that the robot had before it was derived.
        robot = (
            of.robot if of.general else substitute(of.robot, {name: known.value for name, known in of.known.items()})
        )
        if only is not None:
            model = replace(model, parts=model.parts.intersection(only.replace(" ", "").split(",")))
    lumped = lumped_constants(model)
    known = {name: number.value for name, number in model.known.items()}
    values = {c.name: exact_value(c.formula, known) for c in lumped.constants}
    # A symmetric payload makes constants that are zero in number though not in symbols.
    expansions = {e: tuple((c, f) for c, f in terms if values[c]) for e, terms in lumped.expansions.items()}
    return LumpedModel(robot, model, replace(lumped, expansions=expansions), values)


def exact_value(formula: TrigPoly, known: Mapping[str, Fraction]) -> Fraction:
    """The value of a formula free of joint variables; sines of constant angles to 60 digits."""

    def value(g: Generator) -> Fraction:
        if isinstance(g.of, Angle):
            s, c = g.of.sincos()
            return s if g.kind == "sine" else c
        if str(g.of) not in known:
            raise ValueError(f"{g.of} has no number: a term's size is not known")
        return known[str(g.of)]

    return formula.map(value, Fraction)
