"""The efforts of a short model as traces: in the joints' own rates, or in those of links turning about parallel axes.

Joints with parallel axes turn their links at sums of rates: with w3 = qd2 + qd3 and the efforts tau2 - tau3, tau3 on
the links, most coefficients of a run of parallel joints become one. Either way tau is a table of coefficients: of
accelerations, of products of speeds, and alone; how the table is summed up is a choice of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
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
    terms_of,
)
from emdeg.algebra.factoring import nested
from emdeg.approximation.short_model import Expansion, ShortModel
from emdeg.equations import indices
from emdeg.programs import Dependence, Program, Traced, Tracer

Rates = tuple[int, ...]
"""(j,) stands for qdd_j, (j, k) with j <= k for qd_j qd_k, () for 1."""
Table = Mapping[tuple[int, Rates], TrigPoly]
"""(row, rates) -> coefficient; no zeros."""
Product = tuple[Atom, ...]
"""Sines, cosines and displacements, sorted; a square is two."""
Polynomial = dict[Product, Fraction]

ORDERS = ("expanded", "inner", "outer")
"""Every product written out; each speed times the sum of what it multiplies, inner or outer joints first."""


def places(entry: str) -> list[tuple[int, Rates]]:
    """Where an entry stands in the table of coefficients."""
    letter, of = indices(entry)
    if letter == "M":
        return list(dict.fromkeys([(of[0], (of[1],)), (of[1], (of[0],))]))
    if letter == "g":
        return [(of[0], ())]
    return [(of[0], (of[1], of[1]) if letter == "c" else (of[1], of[2]))]


def tables(expansions: Mapping[str, Expansion], one_sided: Collection[str] = ()) -> dict[str, Table]:
    """{constant: the table of what multiplies it}."""
    found: dict[str, dict[tuple[int, Rates], TrigPoly]] = {}
    for entry, terms in expansions.items():
        for constant, function in terms:
            mine = found.setdefault(constant, {})
            for key in places(entry)[1:] if entry in one_sided else places(entry):
                mine[key] = mine[key] + function if key in mine else function
    return {constant: {key: f for key, f in mine.items() if f} for constant, mine in found.items()}


class Forms:
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


OF_LINKS = ("speeds", "accelerations", "efforts")
"""What may be that of links rather than of joints."""


def on_links(rows: Table, before: Mapping[int, int], which: Collection[str] = OF_LINKS) -> Table:
    """The table in the links' rates, qd_j = w_j - w_before, and with the links' efforts; or some of these alone."""
    found: dict[tuple[int, Rates], TrigPoly] = {}
    for (i, rates), f in rows.items():
        moved = before if ("", "accelerations", "speeds")[len(rates)] in which else {}
        for other, sign in _differences(rates, moved).items():
            for at, s in ((i, 1), *(((before[i], -1),) if i in before and "efforts" in which else ())):
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


class Writing:
    """A tracer with the state's letters in it."""

    def __init__(self, short: ShortModel, before: Mapping[int, int], which: Collection[str] = OF_LINKS) -> None:
        robot = short.full.robot
        n = robot.n
        self.tracer = Tracer()
        self.q = self.tracer.inputs("q", n, Dependence.CONFIGURATION, tuple(joint.name for joint in robot.joints))
        self.qd: list[Any] = list(self.tracer.inputs("qd", n, Dependence.RATES))
        self.qdd: list[Any] = list(self.tracer.inputs("qdd", n, Dependence.RATES))
        for rates, name in ((self.qd, "speeds"), (self.qdd, "accelerations")):
            for j, inner in sorted(before.items()) if name in which else ():
                rates[j - 1] = rates[j - 1] + rates[inner - 1]

    def letter(self, atom: Atom) -> Traced:
        if atom.kind == "q":
            return self.q[atom.angle[0][0] - 1]
        angle = angle_of(atom.angle, self.q)
        return self.tracer.sine(angle) if atom.kind == "S" else self.tracer.cosine(angle)

    def nested(self, polynomial: Polynomial) -> Any:
        return self._sum(nested(polynomial))

    def _sum(self, expression: Sum) -> Any:
        total: Any = Fraction(0)
        still = Fraction(0)
        for term in expression.terms:
            value: Any = None
            for factor in term.factors:
                one = self._sum(factor) if isinstance(factor, Sum) else self.letter(factor)
                value = one if value is None else value * one
            if value is None:
                still += term.coefficient
            else:
                total = total + value * term.coefficient
        return total + still

    def expanded(self, polynomial: Polynomial, rates: Any) -> Any:
        total: Any = Fraction(0)
        for atoms, c in polynomial.items():
            value = rates
            for atom in atoms:
                value = self.letter(atom) if value is None else value * self.letter(atom)
            total = total + (c if value is None else value * c)
        return total


def angle_of(combination: AngleSum, q: Sequence[Traced]) -> Any:
    """A sum of joint angles, inner sums first, so that what angles have in common is added once."""
    rest = dict(combination)
    total: Any = None
    while rest:
        run = [k for k in sorted(rest, reverse=True) if rest[k] > 0] or sorted(rest, reverse=True)
        sign = 1 if rest[run[0]] > 0 else -1
        for k in sorted(run):
            total = q[k - 1] * sign if total is None else total + q[k - 1] * sign
            rest[k] -= sign
        rest = {k: times for k, times in rest.items() if times}
    return total


def traces(short: ShortModel, orders: Sequence[str] = ORDERS) -> Iterator[Program]:
    """Inverse dynamics written in every way known here."""
    groups = short.full.lumped.groups
    forms = Forms(short.full.lumped.algebra, groups)
    by_constant = tables(short.lumped.expansions, short.one_sided)
    before = inner_neighbours(groups)
    for neighbours in ({}, before) if before else ({},):
        rows: dict[tuple[int, Rates], Polynomial] = {}
        for constant, mine in by_constant.items():
            for key, function in on_links(mine, neighbours).items():
                into = rows.setdefault(key, {})
                for product, c in forms(function).items():
                    into[product] = into.get(product, Fraction(0)) + c * short.numbers[constant]
        whole = {key: {product: c for product, c in mine.items() if c} for key, mine in rows.items()}
        for order in orders:
            yield _trace(short, {key: mine for key, mine in whole.items() if mine}, neighbours, order)


def _trace(
    short: ShortModel, rows: Mapping[tuple[int, Rates], Polynomial], before: Mapping[int, int], order: str
) -> Program:
    n = short.full.robot.n
    writing = Writing(short, before)
    tau = [_row({rates: f for (at, rates), f in rows.items() if at == i}, writing, n, order) for i in range(1, n + 1)]
    for j, inner in sorted(before.items(), reverse=True):
        tau[inner - 1] = tau[inner - 1] + tau[j - 1]
    return writing.tracer.program("inverse_dynamics", {"tau": tau})


def _row(row: Mapping[Rates, Polynomial], writing: Writing, n: int, order: str) -> Any:
    qd, qdd = writing.qd, writing.qdd
    total: Any = Fraction(0)
    if order == "expanded":
        for rates, f in row.items():
            product = None
            if len(rates) == 1:
                product = qdd[rates[0] - 1]
            elif rates:
                product = qd[rates[0] - 1] * qd[rates[1] - 1]
            total = total + writing.expanded(f, product)
        return total
    for j in range(1, n + 1):
        inside: Any = Fraction(0)
        for k in range(1, j + 1) if order == "outer" else range(j, n + 1):
            f = row.get((min(j, k), max(j, k)))
            if f is not None:
                # Twice the speed rather than twice the coefficient, which other rows have without the 2.
                half = f if j == k else {product: c / 2 for product, c in f.items()}
                inside = inside + writing.nested(half) * (qd[k - 1] if j == k else qd[k - 1] * 2)
        total = total + inside * qd[j - 1]
        if (j,) in row:
            total = total + writing.nested(row[j,]) * qdd[j - 1]
    return total + (writing.nested(row[()]) if () in row else Fraction(0))
