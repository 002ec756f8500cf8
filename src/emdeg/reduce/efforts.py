"""The efforts of a short model as traces: in the joints' own rates, or in those of links turning about parallel axes.

Joints with parallel axes turn their links at sums of rates: with w3 = qd2 + qd3 and the efforts tau2 - tau3, tau3 on the
links, most coefficients of a run of parallel joints become one. Either way tau is a table of coefficients: of
accelerations, of products of speeds, and alone; how the table is summed up is a choice of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra import TrigPoly
from emdeg.equations import entry_name
from emdeg.equations.angles import AngleSystem, Group, angle_systems
from emdeg.equations.expression import Atom, Sum
from emdeg.equations.nesting import nested
from emdeg.program import Program, Traced, Tracer
from emdeg.program.ir import Dependence
from emdeg.reduce.short_model import ShortModel

Rates = tuple[int, ...]
"""(j,) stands for qdd_j, (j, k) with j <= k for qd_j qd_k, () for 1."""
Table = Mapping[tuple[int, Rates], TrigPoly]
"""(row, rates) -> coefficient; no zeros."""

ORDERS = ("expanded", "inner", "outer")
"""Every product written out; each speed times the sum of what it multiplies, inner or outer joints first."""


def table(short: ShortModel) -> Table:
    """The coefficients of every row."""
    entries, joints = short.entries, range(1, short.full.robot.n + 1)
    zero = short.full.lumped.algebra.zero
    found: dict[tuple[int, Rates], TrigPoly] = {}
    for i in joints:
        found[i, ()] = entries.get(entry_name("g", i), zero)
        for j in joints:
            found[i, (j,)] = entries.get(entry_name("M", min(i, j), max(i, j)), zero)
            found[i, (j, j)] = entries.get(entry_name("c", i, j), zero)
            for k in range(j + 1, len(joints) + 1):
                found[i, (j, k)] = entries.get(entry_name("b", i, j, k), zero)
    return {key: f for key, f in found.items() if f}


def inner_neighbours(groups: Sequence[Group]) -> dict[int, int]:
    """{joint: the joint before it with the same axis direction}."""
    return {b: a for group in groups for (a, s), (b, t) in zip(group, group[1:]) if s == t}


def on_links(rows: Table, before: Mapping[int, int]) -> Table:
    """The table in the links' rates: qd_j = w_j - w_before, and effort rows on the links."""
    found: dict[tuple[int, Rates], TrigPoly] = {}
    for (i, rates), f in rows.items():
        for other, sign in _differences(rates, before).items():
            for at, s in ((i, 1), *(((before[i], -1),) if i in before else ())):
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


@dataclass
class _Writing:
    """A tracer with the state's letters in it."""

    tracer: Tracer
    q: Sequence[Traced]
    qd: list[Any]
    qdd: list[Any]
    system: AngleSystem
    angles: dict[int, tuple[Traced, Traced]]

    def letter(self, atom: Atom) -> Traced:
        joint = atom.angle[0][0]
        return self.q[joint - 1] if atom.kind == "q" else self.angles[joint][atom.kind == "C"]

    def polynomial(self, formula: TrigPoly) -> dict[tuple[Atom, ...], Fraction]:
        kinds = {"sine": "S", "cosine": "C", "displacement": "q"}
        found = {}
        for c, monomial in self.system.write(formula).terms():
            atoms = [Atom(kinds[g.kind], ((int(str(g.of)), 1),)) for g, e in monomial.items() for _ in range(e)]
            found[tuple(sorted(atoms))] = c
        return found

    def nested(self, formula: TrigPoly) -> Any:
        return self._sum(nested(self.polynomial(formula)))

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

    def expanded(self, formula: TrigPoly, rates: Any) -> Any:
        total: Any = Fraction(0)
        for atoms, c in self.polynomial(formula).items():
            value = rates
            for atom in atoms:
                value = self.letter(atom) if value is None else value * self.letter(atom)
            total = total + (c if value is None else value * c)
        return total


def traces(short: ShortModel) -> Iterator[Program]:
    """Inverse dynamics written in every way known here."""
    before = inner_neighbours(short.full.lumped.groups)
    own = table(short)
    forms = [(own, {})] + ([(on_links(own, before), before)] if before else [])
    for rows, neighbours in forms:
        for order in ORDERS:
            yield _trace(short, rows, neighbours, order)


def _trace(short: ShortModel, rows: Table, before: Mapping[int, int], order: str) -> Program:
    robot, algebra, groups = short.full.robot, short.full.lumped.algebra, short.full.lumped.groups
    n = robot.n
    tracer = Tracer()
    q = tracer.inputs("q", n, Dependence.CONFIGURATION, tuple(joint.name for joint in robot.joints))
    qd = list(tracer.inputs("qd", n, Dependence.RATES))
    qdd = list(tracer.inputs("qdd", n, Dependence.RATES))
    for j, inner in sorted(before.items()):
        qd[j - 1], qdd[j - 1] = qd[j - 1] + qd[inner - 1], qdd[j - 1] + qdd[inner - 1]
    system = _summed(angle_systems(algebra, groups), groups)
    used = {g.of for f in rows.values() for g in system.write(f).generators if g.is_joint_angle}
    angles = {}
    for j in algebra.revolute:
        if j in used:
            parts = [q[k - 1] * times for k, times in system.meaning[j]]
            angles[j] = tracer.sincos_of(sum(parts[1:], parts[0]))
    writing = _Writing(tracer, q, qd, qdd, system, angles)
    tau = [_row({rates: f for (at, rates), f in rows.items() if at == i}, writing, n, order) for i in range(1, n + 1)]
    for j, inner in sorted(before.items(), reverse=True):
        tau[inner - 1] = tau[inner - 1] + tau[j - 1]
    return tracer.program("inverse_dynamics", {"tau": tau})


def _summed(systems: Sequence[AngleSystem], groups: Sequence[Group]) -> AngleSystem:
    """The system in which every parallel joint's letters stand for the angle of its link."""
    for system in systems:
        if all(len(system.meaning[b]) == k + 1 for group in groups for k, (b, _) in enumerate(group)):
            return system
    return systems[0]


def _row(row: Mapping[Rates, TrigPoly], writing: _Writing, n: int, order: str) -> Any:
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
                inside = inside + (writing.nested(f) * qd[k - 1] if j == k else writing.nested(f / 2) * (qd[k - 1] * 2))
        total = total + inside * qd[j - 1]
        if (j,) in row:
            total = total + writing.nested(row[j,]) * qdd[j - 1]
    return total + (writing.nested(row[()]) if () in row else Fraction(0))
