"""The joint torques of an explicit model as sums of products, in the joints' rates or in those of links.

Joints with parallel axes turn their links at sums of rates: with w3 = qd2 + qd3 and the torques tau2 - tau3, tau3 on
the links, most coefficients of a run of parallel joints become one. Entries occur in several rows with the same
coefficients (b214 is -b412); extraction finds what rows have in common from the sums alone, constants being symbols
until the program is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from emdeg.algebra import (
    AngleSum,
    Atom,
    ExponentLayout,
    ParallelJoints,
    ShortForms,
    Sum,
    TrigAlgebra,
    TrigPoly,
    add_angles,
    terms_of,
)
from emdeg.algebra.factoring import Extraction, Key, nested
from emdeg.equations import LumpedModel, indices
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.phases import Phase
from emdeg.programs.trace import Traced, Tracer

Rates = tuple[int, ...]
"""(j,) stands for qdd_j, (j, k) with j <= k for qd_j qd_k, () for 1."""
Coefficients = Mapping[tuple[int, Rates], TrigPoly]
"""(row, rates) -> coefficient; no zeros."""
Polynomial = dict[tuple[Atom, ...], Fraction]
"""Products of sines, cosines and displacements, sorted, a square as two -> their numbers."""
Symbol = Atom | tuple[str, int] | Fraction
"""A sine, cosine or displacement; ("qd", joint) or ("qdd", joint); a constant's value."""
LINK_RATES = ("speeds", "accelerations", "torques")
"""What may be that of links rather than of joints."""


def coefficients(model: LumpedModel) -> dict[str, Coefficients]:
    """{constant: the coefficients that it multiplies}."""
    found: dict[str, dict[tuple[int, Rates], TrigPoly]] = {}
    for entry, terms in model.lumped.expansions.items():
        letter, of = indices(entry)
        places: list[tuple[int, Rates]] = [(of[0], ())]
        if letter == "M":
            places = list(dict.fromkeys([(of[0], (of[1],)), (of[1], (of[0],))]))
        elif letter != "g":
            places = [(of[0], (of[1], of[-1]))]
        for constant, function in terms:
            mine = found.setdefault(constant, {})
            for key in places:
                mine[key] = mine[key] + function if key in mine else function
    return {constant: {key: f for key, f in mine.items() if f} for constant, mine in found.items()}


class ShortestForms:
    """Functions of the configuration as polynomials in sines and cosines of angles, each in its shortest form."""

    def __init__(self, algebra: TrigAlgebra, groups: Sequence[ParallelJoints]) -> None:
        self._writer = ShortForms(ExponentLayout(algebra), groups)
        self._prismatic = algebra.prismatic
        self._known: dict[TrigPoly, Polynomial] = {}

    def __call__(self, function: TrigPoly) -> Polynomial:
        lead = function.leading_coefficient
        unit = function / lead
        if unit not in self._known:
            form = min(self._writer.forms(self._writer.views(unit)), key=lambda form: form.size)
            found: Polynomial = {}
            for key, c in terms_of(form, self._prismatic).items():
                atoms = [Atom(letter, atom.angle) for atom in key for letter in atom.kind]
                found[tuple(sorted(atoms))] = Fraction(c)
            self._known[unit] = found
        return {key: c * lead for key, c in self._known[unit].items()}


def inner_neighbours(groups: Sequence[ParallelJoints]) -> dict[int, int]:
    """{joint: the joint before it with the same axis direction}."""
    return {b: a for group in groups for (a, s), (b, t) in pairwise(group) if s == t}


def on_links(rows: Coefficients, before: Mapping[int, int], which: Collection[str] = LINK_RATES) -> Coefficients:
    """The coefficients in the links' rates, qd_j = w_j - w_before, and the links' torques; or some of these alone."""
    found: dict[tuple[int, Rates], TrigPoly] = {}
    for (i, rates), f in rows.items():
        moved = before if ("", "accelerations", "speeds")[len(rates)] in which else {}
        for other, sign in _differences(rates, moved).items():
            for at, s in ((i, 1), *(((before[i], -1),) if i in before and "torques" in which else ())):
                key = at, other
                found[key] = found[key] + f * (sign * s) if key in found else f * (sign * s)
    return {key: f for key, f in found.items() if f}


def _differences(rates: Rates, before: Mapping[int, int]) -> dict[Rates, int]:
    found: dict[Rates, int] = {(): 1}
    for j in rates:
        grown: dict[Rates, int] = {}
        for key, sign in found.items():
            for k, s in ((j, 1), *(((before[j], -1),) if j in before else ())):
                at = tuple(sorted((*key, k)))
                grown[at] = grown.get(at, 0) + sign * s
        found = grown
    return found


class SumWriter:
    """Sums of the reading form as traced values, their constants being `numbers`.

    With `using` pairs of terms become one by a phase; with `apart` they are two terms with constants r cos p and
    r sin p, a reference for verification.
    """

    def __init__(
        self,
        tracer: Tracer,
        q: Sequence[Traced],
        numbers: Mapping[str, Fraction],
        using: Sequence[Phase] = (),
        apart: bool = False,
    ) -> None:
        self._using = {phase.joint: phase for phase in using}
        self._numbers = dict(numbers) | {phase.name: phase.norm for phase in using}
        self._tracer, self._q, self._apart = tracer, q, apart
        self._atoms: dict[Atom, Traced] = {}

    def __call__(self, expression: Sum) -> Traced:
        """Constants folded: a product's number once, whatever it is made of."""
        total, fixed = self._tracer.number(0), Fraction(0)
        for term in expression.terms:
            number, value = term.coefficient, None
            for factor in term.factors:
                if isinstance(factor, Atom) and not factor.angle:
                    number = number * self._numbers[factor.kind]
                else:
                    one = self(factor) if isinstance(factor, Sum) else self.atom(factor)
                    value = one if value is None else value * one
            if value is None:
                fixed += number
            else:
                total = total + value * number
        return total + fixed

    def atom(self, atom: Atom) -> Traced:
        """A sine, a cosine, a product of two of the same angle, or a displacement."""
        if atom not in self._atoms:
            if atom.kind == "q":
                ((joint, _),) = atom.angle
                self._atoms[atom] = self._q[joint - 1]
            else:
                s, c = self._sincos(atom.angle)
                self._atoms[atom] = {"S": s, "C": c, "SS": s * s, "CC": c * c, "SC": s * c}[atom.kind]
        return self._atoms[atom]

    def _sincos(self, combination: AngleSum) -> tuple[Traced, Traced]:
        angle = angle_of([(joint, times) for joint, times in combination if joint not in self._using], self._q)
        (turned,) = [self._using[joint].angle for joint, _ in combination if joint in self._using] or (None,)
        if turned is None:
            return self._tracer.sincos_of(angle)
        if self._apart:
            return add_angles(self._tracer.sincos_of(angle), self._tracer.sincos(turned))
        return self._tracer.sincos_of(angle + self._tracer.angle(turned))


def angle_of(combination: Sequence[tuple[int, int]], q: Sequence[Traced]) -> Any:
    """A sum of joint angles, inner sums first, so that what angles have in common is added once."""
    rest = dict(combination)
    total: Any = None
    while rest:
        run = [k for k in sorted(rest) if rest[k] > 0] or sorted(rest)
        sign = 1 if rest[run[0]] > 0 else -1
        for k in run:
            total = q[k - 1] * sign if total is None else total + q[k - 1] * sign
            rest[k] -= sign
        rest = {k: times for k, times in rest.items() if times}
    return total


class _LinkState:
    """A tracer with the state's symbols, the rates of links or of joints, and the writer of sums."""

    def __init__(self, model: LumpedModel, before: Mapping[int, int], which: Collection[str] = LINK_RATES) -> None:
        n, self.before, self.which = model.robot.n, before, which
        self.tracer = Tracer()
        labels = tuple(joint.name for joint in model.robot.joints)
        self.sums = SumWriter(self.tracer, self.tracer.inputs("q", n, Dependence.CONFIGURATION, labels), {})
        self.qd: list[Any] = list(self.tracer.inputs("qd", n, Dependence.RATES))
        self.qdd: list[Any] = list(self.tracer.inputs("qdd", n, Dependence.RATES))
        for rates, name in ((self.qd, "speeds"), (self.qdd, "accelerations")):
            for j, inner in sorted(before.items()) if name in which else ():
                rates[j - 1] = rates[j - 1] + rates[inner - 1]

    def program(self, tau: list[Any], alone: Mapping[int, int] | None = None) -> Program:
        """The joints' torques from the links'; `alone`: joint -> the place of what its torque alone has."""
        for j, inner in sorted(self.before.items(), reverse=True) if "torques" in self.which else ():
            tau[inner - 1] = tau[inner - 1] + tau[j - 1]
        for j, place in (alone or {}).items():
            tau[j - 1] = tau[j - 1] + tau[place]
        return self.tracer.program("inverse_dynamics", {"tau": tau[: len(self.qd)]})


def torques_by_speeds(model: LumpedModel) -> Program:
    """Inverse dynamics on links, each speed times the sum of what it multiplies, outer joints first."""
    forms, n = ShortestForms(model.lumped.algebra, model.lumped.groups), model.robot.n
    before = inner_neighbours(model.lumped.groups)
    rows: dict[tuple[int, Rates], Polynomial] = {}
    for constant, mine in coefficients(model).items():
        for key, function in on_links(mine, before).items():
            into = rows.setdefault(key, {})
            for product, c in forms(function).items():
                into[product] = into.get(product, Fraction(0)) + c * model.values[constant]
    state = _LinkState(model, before)

    def value(key: tuple[int, Rates], times: Fraction = Fraction(1)) -> Any:
        terms = {product: c * times for product, c in rows.get(key, {}).items() if c}
        return state.sums(nested(terms) if terms else Sum(()))

    def row(i: int) -> Any:
        total: Any = Fraction(0)
        for j in range(1, n + 1):
            inside: Any = Fraction(0)
            for k in range(1, j + 1):
                # Twice the speed rather than twice the coefficient, which other rows have without the 2.
                speed = state.qd[k - 1] if j == k else state.qd[k - 1] * 2
                inside = inside + value((i, (k, j)), Fraction(1 if j == k else Fraction(1, 2))) * speed
            total = total + inside * state.qd[j - 1] + value((i, (j,))) * state.qdd[j - 1]
        return total + value((i, ()))

    return state.program([row(i) for i in range(1, n + 1)])


class SharedSums:
    """Inverse dynamics by extraction; `links`: what is that of links that turn about parallel axes, not of joints."""

    def __init__(self, model: LumpedModel, links: Collection[str] = ()) -> None:
        self.model, self.links = model, links
        groups, n = model.lumped.groups, model.robot.n
        self.before: Mapping[int, int] = inner_neighbours(groups) if links else {}
        self._symbols: dict[Symbol, int] = {}
        forms = ShortestForms(model.lumped.algebra, groups)
        own = self.before if "torques" in links else ()
        self.alone = {j: n + i for i, j in enumerate(sorted(own))}
        """{joint: the number of a sum for what its torque has and the inner neighbour's has not}."""
        rows: list[dict[Key, dict[str, Fraction]]] = [{} for _ in range(n + len(self.alone))]
        for constant, mine in coefficients(model).items():
            for at, rates, function in self._placed(mine):
                for product, c in forms(function).items():
                    key = tuple(sorted([*map(self._number, product), *self._rates(rates)]))
                    into = rows[at].setdefault(key, {})
                    into[constant] = into.get(constant, Fraction(0)) + c
        self.sums = [dict(filter(None, (self._term(k, mix) for k, mix in row.items()))) for row in rows]
        self._take_alone()
        self.names = {number: symbol for symbol, number in self._symbols.items()}
        self.fixed = {number for number, symbol in self.names.items() if isinstance(symbol, Fraction)}

    def _placed(self, mine: Coefficients) -> Iterator[tuple[int, Rates, TrigPoly]]:
        """(the sum's number, rates, coefficient): on links; accelerations of joints stay with the joints' torques."""
        staying = {} if "accelerations" in self.links else {key: f for key, f in mine.items() if len(key[1]) == 1}
        for (row, rates), function in staying.items():
            yield self.alone.get(row, row - 1), rates, function
        moving = {key: f for key, f in mine.items() if key not in staying}
        for (row, rates), function in on_links(moving, self.before, self.links).items():
            yield row - 1, rates, function

    def _take_alone(self) -> None:
        """Terms that occur in two rows of links with opposite signs are of the outer joint's torque alone."""
        for j, alone in self.alone.items():
            row, other = self.sums[j - 1], self.sums[self.before[j] - 1]
            both = {key: c for key, c in row.items() if other.get(key) == -c}
            if len(both) > 1 or self.sums[alone]:
                for key, c in both.items():
                    del row[key], other[key]
                    self.sums[alone][key] = c

    def _number(self, symbol: Symbol) -> int:
        return self._symbols.setdefault(symbol, len(self._symbols) + 1)

    def _rates(self, rates: Rates) -> list[int]:
        return [self._number(("qdd" if len(rates) == 1 else "qd", j)) for j in rates]

    def _term(self, key: Key, mix: Mapping[str, Fraction]) -> tuple[Key, Fraction] | None:
        """A term with its number as a symbol: one constant, or several with the same function as one."""
        mix = {name: c for name, c in mix.items() if c}
        if not mix:
            return None
        lead = next(iter(mix.values()))
        value = sum((self.model.values[name] * c / lead for name, c in mix.items()), Fraction(0))
        if not value:
            return None
        if value < 0:
            value, lead = -value, -lead
        return tuple(sorted((*key, self._number(value)))), Fraction(lead)

    @property
    def longest(self) -> int:
        """The terms of the longest sum."""
        return max(map(len, self.sums), default=0)

    def extraction(self, seed: int = 0, noise: float = 0.6, stopped: Callable[[], bool] = lambda: False) -> Extraction:
        """One run of extraction, as far as it comes until it is told to stop."""
        return Extraction(self.sums, self.fixed, seed, noise).run(stopped)

    def program(self, found: Extraction) -> Program:
        """The program that an extraction of these sums gives."""
        state = _LinkState(self.model, self.before, self.links)

        def value(number: int) -> Traced:
            symbol = self.names[number]
            if isinstance(symbol, Atom):
                return state.sums.atom(symbol)
            assert isinstance(symbol, tuple)
            return (state.qd if symbol[0] == "qd" else state.qdd)[symbol[1] - 1]

        def number_of(number: int) -> Fraction:
            symbol = self.names[number]
            assert isinstance(symbol, Fraction)
            return symbol

        return state.program(found.values(len(self.sums), value, number_of), self.alone)
