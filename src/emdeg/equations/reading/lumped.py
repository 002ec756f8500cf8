"""Lumped constants: the named constants of a mechanism, and its entries as sums of constant times function.

Every entry of an explicit model is a sum of (function of the configuration) * (polynomial in the robot's parameters).
`lump` finds the fewest constants of which every such polynomial is a combination, picks them so that the entries are
short (`short_basis`), names them I1, I2, ... (inertia), G1, ... (gravity) and Im1, ... (drives), and states for each
its formula, unit, value and tolerance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm, sqrt

from emdeg.algebra import (
    Angle,
    Atom,
    ExponentLayout,
    Exponents,
    Generator,
    ParallelJoints,
    ParameterKey,
    PlainPoly,
    ShortForms,
    Sum,
    TrigAlgebra,
    TrigPoly,
    Views,
    added,
    look,
)
from emdeg.algebra.factoring import Number, nested
from emdeg.algebra.linear import rational_echelon
from emdeg.documents import Brief, Shown, line, table
from emdeg.equations.reading.short_basis import Basis, Column, short_bases

_NAME = re.compile(r"([A-Za-z]+)_?(.*)\Z")
KEPT = 8
"""Units of models whose constants are kept, the latest."""


@dataclass(frozen=True)
class Constant(Shown):
    """A constant of the mechanism: `formula` in the robot's parameters; `uses` lists the entries it occurs in.

    `value` and `tolerance` are None where a parameter has no number. The tolerance combines those of the parameters
    by root mean square, to first order: sqrt(sum (d formula / d p * tolerance of p)^2). Numbers that have no symbol,
    because they are zero or constant angles, are among the parameters p: `zero_slopes` has d constant / d p by path.
    """

    name: str
    formula: TrigPoly
    unit: str
    uses: tuple[str, ...]
    value: float | None = None
    tolerance: float | None = None
    zero_slopes: Mapping[str, TrigPoly] = field(default_factory=dict)

    @property
    def is_drive(self) -> bool:
        """Whether it is a drive's inertia, which stands in a diagonal entry of M alone."""
        return self.name.startswith("Im")

    @property
    def expression(self) -> Sum:
        """The formula with common factors taken out."""
        terms = {
            tuple(sorted(Atom(str(g)) for g, e in monomial.items() for _ in range(e))): c
            for c, monomial in self.formula.terms()
        }
        return nested(terms)


@dataclass(frozen=True, repr=False)
class Lumped(Brief):
    """A model in lumped constants: entry = sum over `expansions[entry]` of constant * function."""

    constants: tuple[Constant, ...]
    expansions: Mapping[str, tuple[tuple[str, TrigPoly], ...]]
    groups: tuple[ParallelJoints, ...] = ()
    """The parallel joints, whose angles are summed in print."""
    empty: TrigAlgebra | None = None
    """The entries' algebra where every entry is zero, so that there is no constant to ask for it."""

    def _repr_html_(self) -> str:
        rows = [(c.name, c.value, c.tolerance, c.unit, line(c.expression)) for c in self.constants]
        shown = [["" if cell is None else cell for cell in row] for row in rows]
        return table("Constants of the mechanism", shown, ("", "value", "+-", "unit", "formula"))

    def __getitem__(self, name: str) -> Constant:
        return next(constant for constant in self.constants if constant.name == name)

    def entry(self, name: str) -> TrigPoly:
        """The entry as a formula in the parameters again, exactly as it came in."""
        terms = [self[constant].formula * function for constant, function in self.expansions[name]]
        return sum(terms[1:], terms[0]) if terms else self.algebra.zero

    @property
    def algebra(self) -> TrigAlgebra:
        return self.constants[0].formula.algebra if self.empty is None else self.empty

    def renamed(self, names: Mapping[str, str]) -> Lumped:
        """The same with other names for some constants, in the order of the constants here."""
        new = {c.name: names.get(c.name, c.name) for c in self.constants}
        if len(set(new.values())) < len(new):
            raise ValueError("two constants would have the same name")
        constants = tuple(replace(c, name=new[c.name]) for c in self.constants)
        expansions = {
            entry: tuple((new[name], function) for name, function in terms) for entry, terms in self.expansions.items()
        }
        return Lumped(constants, expansions, self.groups, self.empty)


def lump(
    entries: Mapping[str, TrigPoly],
    *,
    groups: Sequence[ParallelJoints] = (),
    drives: Mapping[int, TrigPoly] | None = None,
    values: Mapping[str, Fraction | int | float] | None = None,
    tolerances: Mapping[str, Fraction | int | float] | None = None,
    by_coefficient: bool = False,
) -> Lumped:
    """The constants of a model and its entries in them.

    `entries` are named by a symbol and joint numbers from 1: M12, b112, c12, g3 (past nine b_1_2_10); formulas of
    one algebra. `groups` are the parallel joints (`angles.parallel_joints`); `drives` the drive inertias contained
    in the diagonal of M, by joint, which get constants of their own; `values` and `tolerances` those of parameters.
    With `by_coefficient` no combinations are looked for: every distinct coefficient is a constant, as it always is
    where the formulas hold numbers only.

    The constants are numbered by falling magnitude, the configuration-independent one of the first diagonal entry
    first; without values, in the order in which the entries use them.
    """
    if not entries:
        raise ValueError("there are no entries to find constants in")
    algebra = next(iter(entries.values())).algebra
    drives = {joint: formula for joint, formula in (drives or {}).items() if formula}
    bare = {name: formula for name, formula in entries.items() if formula}
    for joint, formula in drives.items():
        name = _diagonal(joint, bare)
        bare[name] = bare[name] - formula
    numbers = {name: Fraction(value) for name, value in (values or {}).items()}
    layout = ExponentLayout(algebra)
    found: list[_Found] = []
    for letters, first in (("Mbc", "M"), ("g", "g")):
        chosen = {name: f for name, f in bare.items() if name[0] in letters and f}
        spanning = [name for name in chosen if name[0] == first] or list(chosen)
        for unit, part in _by_unit(chosen, algebra).items():
            if by_coefficient:
                found += _by_coefficient(part, layout, unit)
            else:
                wanted = tuple(n for n in spanning if n in part)
                found += _constants(tuple(part.items()), wanted, tuple(groups), unit)
    named = _named(found, numbers, [name for name in bare if name in entries], algebra.parameters)
    of_drives = own_letter("Im", drives, algebra.parameters)
    expansions: dict[str, list[tuple[str, TrigPoly]]] = {name: [] for name in entries}
    constants = []
    for joint, formula in drives.items():
        name = _diagonal(joint, bare)
        expansions[name].append((f"{of_drives}{joint}", algebra.one))
        kind = "kg m^2" if joint in algebra.revolute else "kg"
        constants.append(_constant(f"{of_drives}{joint}", formula, kind, (name,), numbers, tolerances))
    for name, item in named:
        uses = tuple(entry for entry in entries if entry in item.functions)
        constants.append(_constant(name, item.formula, item.unit, uses, numbers, tolerances))
        for entry in uses:
            expansions[entry].append((name, item.functions[entry]))
    lumped = Lumped(
        tuple(constants),
        {name: tuple(terms) for name, terms in expansions.items()},
        tuple(groups),
        None if constants else algebra,
    )
    _check(lumped, entries)
    return lumped


@dataclass(frozen=True)
class _Found:
    formula: TrigPoly
    functions: Mapping[str, TrigPoly]
    unit: str


def _check(lumped: Lumped, entries: Mapping[str, TrigPoly]) -> None:
    formulas = {c.name: c.formula for c in lumped.constants}
    for name, terms in lumped.expansions.items():
        total = lumped.algebra.sum_of_products((formulas[constant], f) for constant, f in terms)
        if total != entries[name]:
            raise ArithmeticError(f"the constants found do not give {name} back: the entries of M must span it")


def indices(name: str) -> tuple[str, tuple[int, ...]]:
    """The symbol and the joints of an entry's name.

    >>> indices("b112"), indices("M_10_11")
    (('b', (1, 1, 2)), ('M', (10, 11)))
    """
    match = _NAME.match(name)
    if match is None:
        raise ValueError(f"{name!r} is not an entry's name: write M12, b112, c12, g3 or M_10_11")
    parts = match[2].split("_") if "_" in match[2] or match[0][1:2] == "_" else list(match[2])
    return match[1], tuple(int(part) for part in parts)


def _diagonal(joint: int, entries: Mapping[str, TrigPoly]) -> str:
    for name in (f"M{joint}{joint}", f"M_{joint}_{joint}"):
        if name in entries:
            return name
    raise ValueError(f"joint {joint} has a drive inertia, but there is no entry M{joint}{joint}")


def _by_unit(entries: Mapping[str, TrigPoly], algebra: TrigAlgebra) -> dict[str, dict[str, TrigPoly]]:
    """The entries cut by the unit of their coefficients, which a displacement in a term lowers by a metre."""
    parts: dict[str, dict[str, list]] = {}
    prismatic = set(algebra.prismatic)
    for name, formula in entries.items():
        letter, joints = indices(name)
        metres = 1 if joints[0] in prismatic else 2
        if letter != "g":
            metres -= sum(joint in prismatic for joint in ((joints[1],) * 2 if letter == "c" else joints[1:]))
        if not prismatic:
            parts.setdefault(_unit(letter, metres), {})[name] = [formula]
            continue
        for coefficient, monomial in formula.terms():
            lower = sum(e for g, e in monomial.items() if g.kind == "displacement")
            unit = _unit(letter, metres - lower)
            parts.setdefault(unit, {}).setdefault(name, []).append((coefficient, monomial))
    if not prismatic:
        return {unit: {n: f[0] for n, f in part.items()} for unit, part in parts.items()}
    return {unit: {n: algebra.from_terms(t) for n, t in part.items()} for unit, part in parts.items()}


def _unit(letter: str, metres: int) -> str:
    if letter == "g":
        return {2: "N m", 1: "N", 0: "N/m"}.get(metres, f"N m^{metres - 1}")
    return {2: "kg m^2", 1: "kg m", 0: "kg"}.get(metres, f"kg m^{metres}")


@lru_cache(maxsize=KEPT)
def _constants(
    given: tuple[tuple[str, TrigPoly], ...], spanning: tuple[str, ...], groups: tuple[ParallelJoints, ...], unit: str
) -> tuple[_Found, ...]:
    """Constants for the given entries of one unit; those named in `spanning` hold all there are.

    Kept for the last few models: another number in a robot's file mostly leaves its formulas in symbols as they are.
    """
    entries = dict(given)
    writer = ShortForms(ExponentLayout(given[0][1].algebra), groups)
    columns: dict[ParameterKey, Column] = {}
    split = {name: writer.split(entries[name]) for name in spanning}
    for name, parts in split.items():
        for key, views in parts.items():
            columns.setdefault(key, {})[name] = views
    if set(columns) <= {()}:
        return tuple(_by_coefficient(entries, writer.layout, unit))
    basis = short_bases(columns, writer)[0]
    scales = [_scale(column, writer) for column in basis.column]
    formulas = [{k: c * s for k, c in formula.items()} for formula, s in zip(basis.formula, scales)]
    layout = writer.layout
    functions: list[dict[str, TrigPoly]] = [{} for _ in formulas]
    for column, s, into in zip(basis.column, scales, functions):
        into |= {name: layout.formula(views[0]) / s for name, views in column.items()}
    others = [name for name in entries if name not in split]
    for name, row in _expressed(others, entries, Basis(formulas, []), layout).items():
        for i, function in row.items():
            functions[i][name] = function
    return tuple(
        _Found(layout.algebra.from_terms((c, dict(key)) for key, c in formula.items()), by_entry, unit)
        for formula, by_entry in zip(formulas, functions)
    )


def _expressed(
    names: Sequence[str], entries: Mapping[str, TrigPoly], basis: Basis, layout: ExponentLayout
) -> dict[str, dict[int, TrigPoly]]:
    """{entry: {constant: function}} for more entries, from as many parameters as there are constants.

    With A the constants' coefficients of those parameters, the functions that multiply the parameters are
    phi = A^T psi, whence psi.
    """
    keys = sorted({key for f in basis.formula for key in f}, key=str)
    columns = {key: k for k, key in enumerate(keys)}
    beside = len(keys)  # the unit matrix beside A's columns becomes A^-1
    rows = [{columns[k]: c for k, c in f.items()} | {beside + i: 1} for i, f in enumerate(basis.formula)]
    inverse = {keys[min(row)]: row for row in rational_echelon(rows, beside + len(rows))}
    found: dict[str, dict[int, TrigPoly]] = {}
    for name in names:
        psi: dict[int, dict] = {}
        for key, poly in layout.split(entries[name]).items():
            for k, c in inverse.get(key, {}).items():
                if (i := k - beside) >= 0:
                    psi[i] = added(psi.get(i, {}), poly, c)
        found[name] = {i: layout.formula(poly) for i, poly in psi.items() if poly}
    return found


def _scale(column: Column, writer: ShortForms) -> Fraction:
    """What to multiply a constant by so that its functions have whole coefficients without a common factor.

    The sign is such that in most entries most terms are positive; failing that, the first entry's highest term.
    """
    tables = [_shortest(views, writer) for views in column.values()]
    numbers = [c for table in tables for c in table.values()]
    common = Fraction(gcd(*(c.numerator for c in numbers)), lcm(*(c.denominator for c in numbers)))
    lead = max(tables[0], key=lambda e: (sum(e), e))
    votes = [sum(1 if c > 0 else -1 for c in table.values()) for table in tables]
    balance = sum((vote > 0) - (vote < 0) for vote in votes) or tables[0][lead]
    return common if balance > 0 else -common


def _shortest(views: Views, writer: ShortForms):
    return min(writer.forms(views), key=lambda form: form.size).poly


def _by_coefficient(entries: Mapping[str, TrigPoly], layout: ExponentLayout, unit: str) -> list[_Found]:
    """The distinct coefficients: numbers up to sign and powers of two, formulas in parameters up to a factor."""
    functions: dict[tuple, dict[str, PlainPoly]] = {}
    coefficients: dict[tuple, dict[ParameterKey, Fraction]] = {}
    for name, formula in entries.items():
        terms: dict[Exponents, dict[ParameterKey, Number]] = {}
        for key, poly in layout.split(formula).items():
            for exponents, c in poly.items():
                terms.setdefault(exponents, {})[key] = c
        for exponents, parts in terms.items():
            factor = Fraction(next(iter(parts.values())))
            if parts.keys() == {()}:
                factor /= Fraction(_odd(abs(factor.numerator)), _odd(factor.denominator))
            direction = {key: c / factor for key, c in parts.items()}
            same = tuple(direction.items())
            coefficients[same] = direction
            functions.setdefault(same, {}).setdefault(name, {})[exponents] = factor
    found = []
    for same, by_entry in functions.items():
        least = min(abs(c) for poly in by_entry.values() for c in poly.values())
        formula = layout.algebra.from_terms((c * least, dict(key)) for key, c in coefficients[same].items())
        scaled = {name: layout.formula(poly) / least for name, poly in by_entry.items()}
        found.append(_Found(formula, scaled, unit))
    return found


def _odd(value: int) -> int:
    """A whole number without its factors of two."""
    return value // (value & -value)


def own_letter(letter: str, numbers: Iterable[object], taken: Iterable[str]) -> str:
    """The symbol for names of our own, or one made longer where with a number it looks like a name that is taken.

    >>> own_letter("I", [1, 2], ["m1"]), own_letter("I", [1, 2], ["I_2", "Io1"])
    ('I', 'Ioo')
    """
    looks, numbers = set(map(look, taken)), list(numbers)
    while any(look(f"{letter}{number}") in looks for number in numbers):
        letter += "o"
    return letter


def _named(
    found: Sequence[_Found], values: Mapping[str, Fraction], order: Sequence[str], taken: Iterable[str]
) -> list[tuple[str, _Found]]:
    rank = {name: k for k, name in enumerate(order)}

    def key(item: _Found):
        first = min(rank[name] for name in item.functions)
        value = evaluated(item.formula, values)
        leading = first == 0 and item.functions[order[0]].is_number
        return not leading, -abs(value) if value is not None else 0, first

    named: list[tuple[str, _Found]] = []
    for letter in "IG":
        mine = sorted((item for item in found if item.unit.startswith("N") == (letter == "G")), key=key)
        own = own_letter(letter, range(1, len(mine) + 1), taken)
        named += [(f"{own}{k}", item) for k, item in enumerate(mine, 1)]
    return named


def _constant(
    name: str,
    formula: TrigPoly,
    unit: str,
    uses: tuple[str, ...],
    values: Mapping[str, Fraction],
    tolerances: Mapping[str, Fraction | int | float] | None,
) -> Constant:
    value = evaluated(formula, values)
    if value is None:
        return Constant(name, formula, unit, uses)
    tolerance = None
    if tolerances is not None:
        slopes = [
            float(evaluated(formula.derivative_by(g), values) or 0) * float(tolerances.get(str(g.of), 0))
            for g in formula.generators
            if g.kind == "parameter"
        ]
        tolerance = sqrt(sum(slope * slope for slope in slopes))
    return Constant(name, formula, unit, uses, float(value), tolerance)


def evaluated(formula: TrigPoly, values: Mapping[str, Fraction]) -> Fraction | None:
    """The value of a formula free of joint variables; None where a parameter has none."""

    def letter(g: Generator) -> Fraction:
        if isinstance(g.of, Angle):
            s, c = g.of.sincos()
            return s if g.kind == "sine" else c
        return values[str(g.of)]

    try:
        return formula.map(letter, Fraction)
    except (KeyError, ValueError):
        return None
