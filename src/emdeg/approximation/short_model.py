"""A short model: some terms of a model's entries, as a model again, in its constants, as programs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from emdeg.algebra import Angle, Generator, TrigPoly
from emdeg.documents import Shown
from emdeg.equations import (
    Compact,
    Constant,
    Formulas,
    Lumped,
    Model,
    compact,
    derive,
    entry_name,
    indices,
    lumped_constants,
)
from emdeg.robot import Robot, substitute

Term = tuple[str, str]
"""An entry's name and a constant's: one summand, constant * function."""

Expansion = tuple[tuple[str, TrigPoly], ...]
"""An entry's summands: (constant, function), ..."""


@dataclass(frozen=True, repr=False)
class FullModel(Shown):
    """A model with its lumped constants' exact values: what is abbreviated."""

    robot: Robot
    """With its numbers."""
    model: Model
    """Its equations in symbols, where it was derived in them."""
    lumped: Lumped
    values: Mapping[str, Fraction]

    @cached_property
    def functions(self) -> dict[Term, TrigPoly]:
        """Every summand's function of the configuration."""
        return {(e, c): f for e, terms in self.lumped.expansions.items() for c, f in terms}

    @cached_property
    def entries(self) -> dict[str, TrigPoly]:
        """{entry: formula with numbers}."""
        return ShortModel(self, self.lumped.expansions, self.values).entries

    def keeping(self, kept: Collection[Term]) -> ShortModel:
        """The model of some summands."""
        expansions = {
            entry: tuple((c, f) for c, f in terms if (entry, c) in kept)
            for entry, terms in self.lumped.expansions.items()
        }
        return ShortModel(self, expansions, self.values)


def full_model(of: Robot | Model, only: str | None = None) -> FullModel:
    """A robot's model with its lumped constants; of a robot it is derived, `only` these parts of it (say "M,g")."""
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
    values = {c.name: exact(c.formula, known) for c in lumped.constants}
    # A symmetric load makes constants that are zero in number though not in symbols.
    expansions = {e: tuple((c, f) for c, f in terms if values[c]) for e, terms in lumped.expansions.items()}
    return FullModel(robot, model, replace(lumped, expansions=expansions), values)


def exact(formula: TrigPoly, known: Mapping[str, Fraction]) -> Fraction:
    """The value of a formula free of joint variables; sines of constant angles to 60 digits."""

    def letter(g: Generator) -> Fraction:
        if isinstance(g.of, Angle):
            s, c = g.of.sincos()
            return s if g.kind == "sine" else c
        if str(g.of) not in known:
            raise ValueError(f"{g.of} has no number: a term's size is not known")
        return known[str(g.of)]

    return formula.map(letter, Fraction)


@dataclass(frozen=True, repr=False)
class ShortModel(Shown):
    """A model in fewer summands; `values` may differ from the full model's, `means` stand for what was averaged out.

    `means`: numbers added to entries, each a constant of its own in print.
    """

    full: FullModel
    expansions: Mapping[str, Expansion]
    values: Mapping[str, Fraction]
    means: Mapping[str, Fraction] = field(default_factory=dict)
    one_sided: frozenset[str] = frozenset()
    """Entries M_ij, i < j, that the inverse dynamics has in row j alone: to joint i they do not matter. M itself is
    symmetric all the same."""

    @cached_property
    def lumped(self) -> Lumped:
        """The kept summands, and the constants that still occur."""
        algebra = self.full.lumped.algebra
        expansions = dict(self.expansions)
        uses: dict[str, list[str]] = {}
        for entry, terms in expansions.items():
            for c, _ in terms:
                uses.setdefault(c, []).append(entry)
        constants = [
            replace(c, uses=tuple(uses[c.name]), value=float(self.values[c.name]))
            for c in self.full.lumped.constants
            if c.name in uses
        ]
        for entry, mean in self.means.items():
            name = mean_name(entry)
            expansions[entry] = (*expansions[entry], (name, algebra.one))
            constants.append(Constant(name, algebra.number(mean), "", (entry,), float(mean), None))
        whole = self.full.lumped
        return Lumped(tuple(constants) or whole.constants[:1], expansions, whole.groups, whole.empty)

    @cached_property
    def numbers(self) -> dict[str, Fraction]:
        """Every constant's value, means included."""
        return {**self.values, **{mean_name(entry): mean for entry, mean in self.means.items()}}

    @cached_property
    def compact(self) -> Compact:
        """The reading form, in constants."""
        return compact(self.lumped)

    @cached_property
    def entries(self) -> dict[str, TrigPoly]:
        """{entry: formula with numbers}, zeros included."""
        zero = self.full.lumped.algebra.zero
        found = {}
        for entry, terms in self.expansions.items():
            parts = [function * self.values[c] for c, function in terms]
            found[entry] = sum(parts, zero + self.means.get(entry, 0))
        return found

    @cached_property
    def difference(self) -> dict[str, TrigPoly]:
        """{entry: full less short}, exactly."""
        return {name: formula - self.entries[name] for name, formula in self.full.entries.items()}

    def row_difference(self, joint: int) -> dict[str, TrigPoly]:
        """Full less short as the inverse dynamics of one joint has it: `one_sided` entries are not in inner rows."""
        found = dict(self.difference)
        for name in self.one_sided:
            if indices(name)[1][0] == joint:
                found[name] = self.full.entries[name]
        return found

    @cached_property
    def model(self) -> Model:
        """The short model as a model: M, Christoffel symbols and gravity with numbers in them."""
        entries, full, n = self.entries, self.full.model, self.full.model.n
        joints = range(1, n + 1)
        algebra = self.full.lumped.algebra
        known = {name: number.value for name, number in full.known.items()}
        drives = tuple(algebra.number(exact(d, known)) if ("M" in full.parts) else algebra.zero for d in full.drives)
        M = ()
        if "M" in full.parts:
            M = tuple(
                tuple(
                    entries[entry_name("M", min(i, j), max(i, j))] - (drives[i - 1] if i == j else algebra.zero)
                    for j in joints
                )
                for i in joints
            )
        beta = {}
        for i, j, k in full.beta:
            if j == k and entry_name("c", i, j) in entries:
                beta[i, j, k] = entries[entry_name("c", i, j)]
            elif j != k and entry_name("b", i, j, k) in entries:
                beta[i, j, k] = entries[entry_name("b", i, j, k)] / 2
        g = tuple(entries[entry_name("g", i)] for i in joints) if "g" in full.parts else ()
        formulas = Formulas(M, drives, MappingProxyType(beta), g)
        return replace(full, stated=formulas, known=MappingProxyType({}), general=None)

    def written_out(self, entry: str) -> str:
        """An entry in its constants; one that is a multiple of another without that one's name."""
        here = self.compact.entries[entry]
        if not here.alias:
            return here.text
        others = self.compact.entries.keys() - {entry}
        return _NAME.sub(lambda m: f"({self.written_out(m[0])})" if m[0] in others else m[0], here.text)

    def numeric_text(self, digits: int = 3) -> dict[str, str]:
        """{entry: expression with numbers in place of constants}, rounded in print."""
        written = {c.name: f"({float(self.numbers[c.name]):.{digits}g})" for c in self.lumped.constants}
        return {
            name: entry.text if entry.alias else _NAME.sub(lambda found: written.get(found[0], found[0]), entry.text)
            for name, entry in self.compact.entries.items()
        }


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mean_name(entry: str) -> str:
    """The constant that an entry's averaged terms become."""
    return f"mean_{entry}"


def serving(lumped: Lumped) -> dict[str, tuple[int, ...]]:
    """Entry -> the joints whose rows use it or a multiple of it: its own first."""
    groups: dict[tuple, set[int]] = {}
    keys: dict[str, tuple] = {}
    for name, terms in lumped.expansions.items():
        if not terms:
            continue
        keys[name] = direction(terms)
        groups.setdefault(keys[name], set()).add(indices(name)[1][0])
    return {name: tuple(sorted(groups[key], key=lambda j: j != indices(name)[1][0])) for name, key in keys.items()}


def direction(terms: Sequence[tuple[str, TrigPoly]]) -> tuple:
    """An entry's summands up to a common factor."""
    lead = terms[0][1].leading_coefficient
    return tuple((c, f / lead) for c, f in terms)
