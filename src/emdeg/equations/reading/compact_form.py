"""The reading form: an explicit model as a person would write it down.

Sines and cosines are abbreviated (S2, C23, CC4, SC5, S223), terms are grouped by constant, common factors taken out,
sums of parallel joints' angles used, and for each group the shortest of the forms tried is taken. Entries that are a
multiple of an earlier one refer to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from emdeg.algebra import (
    Atom,
    ExponentLayout,
    ParallelJoints,
    PrintedCount,
    Product,
    ShortForms,
    Sum,
    TrigAlgebra,
    TrigPoly,
    Views,
    atoms_of,
    count,
    evaluate,
    scaled,
    terms_of,
    written_out,
)
from emdeg.algebra.factoring import LONG, Nester, content
from emdeg.documents import AbbreviatedFormula, Brief, Shown, label, latex, listing, text
from emdeg.equations.reading.lumped import Lumped

ABBREVIATIONS = (
    "S and C are sine and cosine of the sum of the joint angles that follow: S2 = sin q2, C23 = cos(q2 + q3), "
    "C223 = cos(2 q2 + q3), S2m3 = sin(q2 - q3); SS, CC and SC their squares and their product."
)

MOST_KNOWN = 10_000
"""Functions whose printed form is kept."""


@dataclass(frozen=True, repr=False)
class CompactEntry(Shown):
    """An entry's expression in constants and abbreviations, or `alias` (factor, name) of an earlier entry."""

    name: str
    expression: Sum
    alias: tuple[Fraction, str] | None = None
    written_out: bool = False
    """Whether sines and cosines are printed in full, because a symbol of the robot looks like an abbreviation."""

    @property
    def shown(self) -> Sum:
        """The right-hand side as it is printed: a multiple of the earlier entry where it has an alias."""
        if self.alias is None:
            return written_out(self.expression) if self.written_out else self.expression
        factor, name = self.alias
        return Sum((Product(factor, (Atom(name),)),))

    @property
    def text(self) -> str:
        """The right-hand side in plain text."""
        return text.line(self.shown)

    @property
    def latex(self) -> str:
        """The equation in LaTeX."""
        return f"{label(self.name).latex} = {latex.line(self.shown)}"

    @property
    def count(self) -> PrintedCount:
        """Operations as printed; an alias is free."""
        return PrintedCount() if self.alias is not None else count(self.expression)

    def evaluate(self, q: Sequence[float] | np.ndarray, constants: Mapping[str, float]) -> np.ndarray:
        """Its value at the configuration q (..., n), joints numbered from 1 along the last axis."""
        value = evaluate(self.expression, atom_values(atoms_of(self.expression), q, constants))
        return np.broadcast_to(value, np.shape(q)[:-1])


@dataclass(frozen=True, repr=False)
class Compact(Brief):
    """All entries of a model in reading form, in the model's order."""

    entries: Mapping[str, CompactEntry]

    def __getitem__(self, name: str) -> CompactEntry:
        return self.entries[name]

    def _repr_html_(self) -> str:
        return listing("Entries in lumped constants", self.text)

    @property
    def text(self) -> str:
        """One line an entry."""
        return "\n".join(f"{name} = {entry.text}" for name, entry in self.entries.items())

    @property
    def latex(self) -> str:
        """An align* environment."""
        rows = [entry.latex.replace(" = ", " &= ", 1) for entry in self.entries.values()]
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"

    @property
    def products(self) -> tuple[Atom, ...]:
        """The abbreviations of two sines or cosines, which cost one multiplication each."""
        found = {a for e in self.entries.values() if e.alias is None for a in atoms_of(e.expression)}
        return tuple(sorted(a for a in found if a.is_trigonometric and len(a.kind) == 2))

    @property
    def count(self) -> PrintedCount:
        """Operations of all entries as printed, each abbreviated product once."""
        total = PrintedCount(len(self.products))
        for entry in self.entries.values():
            total += entry.count
        return total


def atom_values(
    atoms: Iterable[Atom], q: Sequence[float] | np.ndarray, symbols: Mapping[str, float]
) -> dict[Atom, float | np.ndarray]:
    """The value of every atom at a configuration q (..., n)."""
    position = np.asarray(q, dtype=float)
    found: dict[Atom, float | np.ndarray] = {}
    for atom in atoms:
        if not atom.angle:
            found[atom] = symbols[atom.kind]
            continue
        angle = sum(times * position[..., joint - 1] for joint, times in atom.angle)
        s, c = np.sin(angle), np.cos(angle)
        found[atom] = {"S": s, "C": c, "SS": s * s, "CC": c * c, "SC": s * c, "q": angle}[atom.kind]
    return found


def compact(lumped: Lumped) -> Compact:
    """The reading form of a model in lumped constants."""
    printer = _printer(lumped.algebra, tuple(lumped.groups))
    first: dict[tuple, tuple[str, Fraction]] = {}
    entries: dict[str, CompactEntry] = {}
    in_full = not lumped.algebra.short
    taken = {constant.name for constant in lumped.constants}  # renamed, g1 may be one: then no entry refers to g1
    for name, terms in lumped.expansions.items():
        key, factor = _direction(terms)
        if terms and key in first:
            other, theirs = first[key]
            entries[name] = CompactEntry(
                name,
                scaled(entries[other].expression, factor / theirs),
                (factor / theirs, other),
                in_full,
            )
            continue
        if terms and name not in taken:
            first[key] = name, factor
        entries[name] = CompactEntry(name, _grouped([(c, printer(f)) for c, f in terms]), None, in_full)
    return Compact(entries)


def _direction(terms: Sequence[tuple[str, TrigPoly]]) -> tuple[tuple, Fraction]:
    """The entry up to a factor, and the factor."""
    if not terms:
        return (), Fraction(0)
    factor = terms[0][1].leading_coefficient
    return tuple((name, function / factor) for name, function in terms), factor


@lru_cache(maxsize=2)
def _printer(algebra: TrigAlgebra, groups: tuple[ParallelJoints, ...]) -> _Printer:
    """The printer of the latest symbols: a robot with another number mostly has the same functions."""
    return _Printer(algebra, groups)


class _Printer:
    """The shortest nested form of functions of the configuration; remembers what it found."""

    def __init__(self, algebra: TrigAlgebra, groups: Sequence[ParallelJoints]) -> None:
        self.writer = ShortForms(ExponentLayout(algebra), groups)
        self.displacements = algebra.prismatic
        self.nested = Nester()
        self.known: dict[TrigPoly, tuple[Fraction, Sum]] = {}

    def __call__(self, function: TrigPoly) -> Sum:
        """The function as it is to be written."""
        lead = function.leading_coefficient
        direction = function / lead
        if direction not in self.known:
            if len(self.known) >= MOST_KNOWN:
                self.known.clear()
            self.known[direction] = self._shortest(direction)
        scale, expression = self.known[direction]
        return scaled(expression, lead * scale)

    def _shortest(self, function: TrigPoly) -> tuple[Fraction, Sum]:
        """A factor and the expression that it multiplies, whose coefficients are whole numbers."""
        views = self.writer.views(function)
        scale = Fraction(content(views[0].values()))
        whole: Views = tuple({e: (c / scale).numerator for e, c in poly.items()} for poly in views)
        forms = sorted(self.writer.forms(whole), key=lambda form: form.size)
        most = (2 if len(forms[0].poly) < LONG else 1) * forms[0].size[0]
        tried = [self.nested(terms_of(form, self.displacements)) for form in forms if form.size[0] <= most]
        counts = [count(expression).total for expression in tried]
        least = [expression for expression, total in zip(tried, counts) if total == min(counts)]
        return scale, min(least, key=lambda e: len(text.line(e))) if len(least) > 1 else least[0]


def abbreviated(
    rows: Sequence[Sequence[TrigPoly]], groups: Sequence[ParallelJoints]
) -> tuple[tuple[AbbreviatedFormula | TrigPoly, ...], ...]:
    """A matrix of formulas with sines and cosines of sums of parallel joints' angles; as it is where none occurs."""
    algebra = rows[0][0].algebra
    if not groups or any(g.kind in ("rate", "acceleration") for row in rows for f in row for g in f.generators):
        return tuple(map(tuple, rows))
    found = in_parameters(rows, groups)
    if found is None or not any(len(a.angle) > 1 for row in found for one in row for a in atoms_of(one)):
        return tuple(map(tuple, rows))
    in_full = not algebra.short
    return tuple(
        tuple(
            AbbreviatedFormula(written_out(short) if in_full else short, formula) for short, formula in zip(line, row)
        )
        for line, row in zip(found, rows)
    )


def in_parameters(
    rows: Sequence[Sequence[TrigPoly]], groups: Sequence[ParallelJoints]
) -> tuple[tuple[Sum, ...], ...] | None:
    """A matrix of formulas as sums of parameters times functions; None where constant angles are among the symbols."""
    printer = _printer(rows[0][0].algebra, tuple(groups))
    found = [[_in_parameters(formula, printer) for formula in row] for row in rows]
    if any(one is None for row in found for one in row):
        return None
    return tuple(tuple(one for one in row if one is not None) for row in found)


def _in_parameters(formula: TrigPoly, printer: _Printer) -> Sum | None:
    """Sums of parameters times functions; None where constant angles or names that look alike are among the symbols."""
    layout = printer.writer.layout
    by_function: dict[TrigPoly, list[Product]] = {}
    for key, poly in layout.split(formula).items():
        if any(g.kind != "parameter" or g.of in formula.algebra.alike for g, _ in key):
            return None
        function = layout.formula(poly)
        lead = function.leading_coefficient
        atoms = tuple(Atom(str(g)) for g, power in key for _ in range(power))
        by_function.setdefault(function / lead, []).append(Product(lead, atoms))
    terms: list[Product] = []
    for function, parameters in by_function.items():
        if len(parameters) > 1:
            terms.append(Product(Fraction(1), (Sum(tuple(parameters)), *_as_factors(printer(function)))))
            continue
        short = scaled(printer(function), parameters[0].coefficient)
        atoms = parameters[0].factors
        if not atoms:
            terms += map(_spread, short.terms)
        elif len(short.terms) == 1:
            terms.append(Product(short.terms[0].coefficient, (*atoms, *short.terms[0].factors)))
        else:
            terms.append(Product(Fraction(1), (*atoms, short)))
    return Sum(tuple(sorted(terms, key=lambda term: term.coefficient < 0)))


def _spread(term: Product) -> Product:
    """0.1*(2*a + b) as (0.2*a + 0.1*b)."""
    bracket = next((k for k, factor in enumerate(term.factors) if isinstance(factor, Sum)), None)
    size = abs(term.coefficient)
    if bracket is None or size == 1:
        return term
    inner = term.factors[bracket]
    assert isinstance(inner, Sum)
    spread = Sum(tuple(_spread(Product(size * t.coefficient, t.factors)) for t in inner.terms))
    return Product(term.coefficient / size, (*term.factors[:bracket], spread, *term.factors[bracket + 1 :]))


def _as_factors(function: Sum) -> tuple[Atom | Sum, ...]:
    """A function as factors of a product: those of its one term, or itself in brackets."""
    if len(function.terms) == 1 and function.terms[0].coefficient == 1:
        return function.terms[0].factors
    return (function,)


def _grouped(terms: Sequence[tuple[str, Sum]]) -> Sum:
    """Constants times functions; those with a factor in common, such as 2, in one bracket."""
    products: list[Product] = []
    for name, function in terms:
        if len(function.terms) == 1:
            only = function.terms[0]
            products.append(Product(only.coefficient, (Atom(name), *only.factors)))
        else:
            common = Fraction(content([term.coefficient for term in function.terms]))
            products.append(Product(common, (Atom(name), scaled(function, 1 / common))))
    by_factor: dict[Fraction, list[Product]] = {}
    for product in products:
        by_factor.setdefault(abs(product.coefficient), []).append(product)
    grouped: list[Product] = []
    for factor, members in sorted(by_factor.items(), key=lambda item: (item[0] != 1, item[0])):
        if factor == 1 or len(members) == 1:
            grouped += members
        else:
            inner = tuple(Product(p.coefficient / factor, p.factors) for p in members)
            grouped.append(Product(factor, (Sum(inner),)))
    return Sum(tuple(grouped))
