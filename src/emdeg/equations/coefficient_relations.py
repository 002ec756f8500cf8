"""Which Christoffel symbols vanish, equal, oppose or are multiples of one another: found by exact comparison.

Two sources are kept apart. General rules hold for every arm (Armstrong et al., eqs. 7-8; Burdick, eqs. 26-29): the
kinetic energy does not depend on joints inside the moving part, hence for i < j < k

    c_ii = 0,   b_jij = 0,   c_ji = -1/2 b_iij,   b_kij = -b_jik

Everything else is due to the geometry and the inertias of the robot at hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from emdeg.algebra import TrigPoly
from emdeg.documents import Shown
from emdeg.equations.formulas import Triple, descendants
from emdeg.equations.model import Model, entry_name

Rule = Literal["general", "geometry"]


@dataclass(frozen=True, slots=True)
class EntryRelation(Shown):
    """`name` = factor * `of`, or zero if `of` is None; `rule` says why, `reference` where the rule is stated."""

    name: str
    of: str | None
    factor: Fraction
    rule: Rule
    reference: str = ""

    def __str__(self) -> str:
        if self.of is None:
            return f"{self.name} = 0"
        factor = "" if abs(self.factor) == 1 else f"{abs(self.factor)} "
        return f"{self.name} = {'-' if self.factor < 0 else ''}{factor}{self.of}"


@dataclass(frozen=True, slots=True)
class Tally(Shown):
    """How many formulas there are, and how many remain after each kind of reduction."""

    possible: int
    after_general_rules: int
    nonzero: int
    distinct: int
    """Different nonzero formulas."""
    up_to_sign: int
    """Of which the negative is not among them either."""
    up_to_multiple: int
    """No one a rational multiple of another."""


@dataclass(frozen=True, slots=True, repr=False)
class Relations(Shown):
    """What `relations` finds."""

    christoffel: Tally
    """Of the symbols beta_ijk, j <= k."""
    derivatives: Tally
    """Of dM_ij/dq_k, i <= j: here the general rules are M's symmetry and eq. 8."""
    coefficients: tuple[EntryRelation, ...]
    """Of the b_ijk and c_ij that need not be formed: zero, or a multiple of an earlier one."""
    independent: tuple[str, ...]
    """The b_ijk and c_ij that remain: nonzero, no one a rational multiple of another."""
    mass_matrix: tuple[EntryRelation, ...]
    constant: tuple[str, ...]
    """Entries of M that are not zero and do not depend on the configuration."""
    gravity: tuple[EntryRelation, ...]
    equal_derivatives: tuple[EntryRelation, ...]
    """Of the derivatives of M that the general rules leave: zero, or a multiple of an earlier one."""


def relations(model: Model) -> Relations:
    """Every vanishing, equal, opposite or proportional entry of the model, with counts."""
    parents = [link.parent for link in model.robot.links]
    general = general_rules(parents)
    names = {triple: _coefficient_name(triple) for triple in model.beta}
    coefficients = {names[t]: value if t[1] == t[2] else 2 * value for t, value in _sorted(model.beta)}
    found: list[EntryRelation] = []
    for triple, (of, factor, reference) in general.items():
        if of is None:
            found.append(EntryRelation(names[triple], None, factor, "general", reference))
        elif model.beta[triple]:
            found.append(EntryRelation(names[triple], names[of], factor, "general", reference))
        else:
            found.append(EntryRelation(names[triple], None, Fraction(0), "geometry"))
    settled = {relation.name for relation in found}
    rest = {name: value for name, value in coefficients.items() if name not in settled}
    by_geometry, independent = compare(rest)
    derivatives = _derivatives(model)
    allowed = {name: d for name, (d, general_zero) in derivatives.items() if not general_zero}
    M = model.entries(["M"], drives=False)
    return Relations(
        christoffel=_tally(len(model.beta), len(model.beta) - len(general), model.beta.values()),
        derivatives=_tally(len(derivatives), len(allowed), allowed.values()),
        coefficients=_in_order((*found, *by_geometry), coefficients),
        independent=tuple(independent),
        mass_matrix=compare(M)[0],
        constant=tuple(name for name, entry in M.items() if entry and not _moves(entry)),
        gravity=compare(model.entries(["g"]))[0] if "g" in model.parts else (),
        equal_derivatives=compare(allowed)[0],
    )


def general_rules(parents: list[int]) -> dict[Triple, tuple[Triple | None, Fraction, str]]:
    """{(i, j, k): (the triple it follows from, None for zero; factor between the b and c; where it is stated)}.

    Each symbol is written as a combination of the derivatives of M that may differ from zero, and these
    combinations are compared: M_ij depends on q_k only if k lies beyond the inner of i and j, k > min(i, j) in a
    chain. Holds for any tree.
    """
    beyond = [{k + 1 for k in after} for after in descendants(parents)]
    joints = range(1, len(parents) + 1)
    rules: dict[Triple, tuple[Triple | None, Fraction, str]] = {}
    first: dict[tuple[tuple[Triple, Fraction], ...], tuple[Triple, Fraction]] = {}
    for i, j, k in sorted(((i, j, k) for i in joints for j in joints for k in joints if j <= k), key=_order):
        combination: Counter[Triple] = Counter()
        for sign, (a, b, by) in ((1, (i, j, k)), (1, (i, k, j)), (-1, (j, k, i))):
            inner, outer = (a, b) if b == a or b in beyond[a - 1] else (b, a)
            if by in beyond[inner - 1] and (outer == inner or outer in beyond[inner - 1]):
                combination[min(a, b), max(a, b), by] += sign
        terms = sorted((derivative, times) for derivative, times in combination.items() if times)
        if not terms:
            rules[i, j, k] = (None, Fraction(0), _reference(i, j, k))
            continue
        size = Fraction(terms[0][1]) * (Fraction(1, 2) if j == k else 1)
        key = tuple((derivative, Fraction(times, terms[0][1])) for derivative, times in terms)
        if key in first:
            of, other = first[key]
            rules[i, j, k] = (of, size / other, _reference(i, j, k))
        else:
            first[key] = (i, j, k), size
    return rules


def _reference(i: int, j: int, k: int) -> str:
    """The equation of Burdick that states the rule for a chain."""
    if i == k == j:
        return "Burdick (27)"
    if i in (j, k) or i > k > j or j == k:
        return "Burdick (28)"
    return "Burdick (26)"


def compare(entries: dict[str, TrigPoly]) -> tuple[tuple[EntryRelation, ...], list[str]]:
    """(relations, names that remain): which formulas are zero or a rational multiple of an earlier one.

    Two plain numbers count as related only where they are equal or opposite.
    """
    first: dict[TrigPoly, tuple[str, Fraction]] = {}
    found: list[EntryRelation] = []
    independent: list[str] = []
    for name, value in entries.items():
        if not value:
            found.append(EntryRelation(name, None, Fraction(0), "geometry"))
            continue
        lead, monic = normalized(value)
        if value.is_number:
            lead, monic = lead / abs(lead), value * (abs(lead) / lead)
        if monic in first:
            of, other = first[monic]
            found.append(EntryRelation(name, of, lead / other, "geometry"))
        else:
            first[monic] = name, lead
            independent.append(name)
    return tuple(found), independent


def normalized(formula: TrigPoly) -> tuple[Fraction, TrigPoly]:
    """(leading coefficient, the formula divided by it); formulas are proportional exactly if the latter agree."""
    lead = formula.leading_coefficient
    return lead, formula * (1 / lead)


def _tally(possible: int, after_general: int, formulas: Iterable[TrigPoly]) -> Tally:
    nonzero = [formula for formula in formulas if formula]
    pairs = [normalized(formula) for formula in nonzero]
    return Tally(
        possible=possible,
        after_general_rules=after_general,
        nonzero=len(nonzero),
        distinct=len(set(nonzero)),
        up_to_sign=len({(abs(lead), monic) for lead, monic in pairs}),
        up_to_multiple=len({monic for _, monic in pairs}),
    )


def _derivatives(model: Model) -> dict[str, tuple[TrigPoly, bool]]:
    """{dMij/dqk: (formula, whether the general rules make it zero)}, i <= j."""
    beyond = descendants([link.parent for link in model.robot.links])
    found = {}
    for i in range(1, model.n + 1):
        for j in range(i, model.n + 1):
            for k in range(1, model.n + 1):
                inside = k - 1 not in beyond[i - 1] or (j != i and j - 1 not in beyond[i - 1])
                value = model.algebra.zero if inside else model.dM(i, j, k)
                found[f"d{entry_name('M', i, j)}/dq{k}"] = (value, inside)
    return found


def _coefficient_name(triple: Triple) -> str:
    i, j, k = triple
    return entry_name("c", i, j) if j == k else entry_name("b", i, j, k)


def _order(triple: Triple) -> tuple[bool, Triple]:
    """The b before the c."""
    return triple[1] == triple[2], triple


def _sorted(beta: Mapping[Triple, TrigPoly]) -> list[tuple[Triple, TrigPoly]]:
    return [(triple, beta[triple]) for triple in sorted(beta, key=_order)]


def _in_order(found: Iterable[EntryRelation], names: Iterable[str]) -> tuple[EntryRelation, ...]:
    place = {name: at for at, name in enumerate(names)}
    return tuple(sorted(found, key=lambda relation: place[relation.name]))


def _moves(formula: TrigPoly) -> bool:
    return any(g.is_joint_angle or g.kind == "displacement" for g in formula.generators)
