"""Small expressions as inert data: sums of products of atoms; evaluated, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise, product
from math import prod
from typing import Any

from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import TrigPoly, name_latex

WRITTEN_OUT = {"sin": "S", "cos": "C"}
"""Function -> its letter."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One factor in print: "S", "C", "SS", "CC" or "SC" of an angle, "q" of a joint, or a symbol's name.

    CC2 is the squared cosine of q2, SC23 the product of the sine and the cosine of q2 + q3. "sin" and "cos" are S and C
    written out, cos(q2 + q3), for where a symbol is called C23.
    """

    kind: str
    angle: AngleSum = ()

    def __lt__(self, other: Atom) -> bool:
        """In the order of the joints."""
        return (self.angle, self.kind) < (other.angle, other.kind)

    @property
    def is_trigonometric(self) -> bool:
        return bool(self.angle) and self.kind != "q"

    @property
    def text(self) -> str:
        if self.kind in WRITTEN_OUT and self.angle:
            return f"{self.kind}({angle_sum(self.angle, 'q{}'.format)})"
        return self.kind + angle_name(self.angle) if self.angle else self.kind

    @property
    def latex(self) -> str:
        if self.kind in WRITTEN_OUT and self.angle:
            inside = angle_sum(self.angle, "q_{{{}}}".format, r"\,")
            return rf"\{self.kind}({inside})"
        return f"{self.kind}_{{{angle_latex(self.angle)}}}" if self.angle else name_latex(self.kind)


@dataclass(frozen=True, slots=True)
class Product:
    """coefficient * factors; without factors a number."""

    coefficient: Fraction
    factors: tuple[Atom | Sum, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of its terms; empty, it is zero."""

    terms: tuple[Product, ...] = ()


def scaled(expression: Sum, factor: Fraction) -> Sum:
    """factor * expression, positive terms first."""
    terms = [Product(factor * term.coefficient, term.factors) for term in expression.terms]
    return Sum(tuple(sorted(terms, key=lambda term: term.coefficient < 0)))


def written_out(expression: Sum) -> Sum:
    """The same with sin(q2) and cos(q2 + q3) for S2 and C23, CC2 being a square."""
    names = {letter: function for function, letter in WRITTEN_OUT.items()}

    def factors(factor: Atom | Sum) -> Iterator[Atom | Sum]:
        if isinstance(factor, Sum):
            yield written_out(factor)
        elif factor.is_trigonometric:
            yield from (Atom(names.get(letter, letter), factor.angle) for letter in factor.kind)
        else:
            yield factor

    terms = (
        Product(t.coefficient, tuple(f for factor in t.factors for f in factors(factor))) for t in expression.terms
    )
    return Sum(tuple(terms))


def evaluate(expression: Sum, atoms: Mapping[Atom, Any]) -> Any:
    """Its value, given each atom's (numbers or arrays)."""
    total: Any = 0.0
    for term in expression.terms:
        value: Any = float(term.coefficient)
        for factor in term.factors:
            value = value * (evaluate(factor, atoms) if isinstance(factor, Sum) else atoms[factor])
        total = total + value
    return total


def atoms_of(expression: Sum) -> set[Atom]:
    """Every atom that occurs."""
    found: set[Atom] = set()
    for term in expression.terms:
        for factor in term.factors:
            found |= atoms_of(factor) if isinstance(factor, Sum) else {factor}
    return found


@dataclass(frozen=True, slots=True)
class PrintedCount:
    """Multiplications and additions; a sign costs nothing."""

    mul: int = 0
    add: int = 0

    def __add__(self, other: PrintedCount) -> PrintedCount:
        return PrintedCount(self.mul + other.mul, self.add + other.add)

    @property
    def total(self) -> int:
        return self.mul + self.add


def count(expression: Sum) -> PrintedCount:
    """The operations that evaluate the expression as written, its atoms given."""
    total = PrintedCount(0, max(0, len(expression.terms) - 1))
    for term in expression.terms:
        parts = len(term.factors) + (abs(term.coefficient) != 1 and bool(term.factors))
        total += PrintedCount(max(0, parts - 1))
        for factor in term.factors:
            if isinstance(factor, Sum):
                total += count(factor)
    return total


AngleSum = tuple[tuple[int, int], ...]
"""An integer combination of joint angles: (joint, multiple), joints rising, no multiple zero."""

ParallelJoints = tuple[tuple[int, int], ...]
"""Joints with parallel axes along a chain: (joint, +1 or -1 where its axis points the other way)."""

MOST_SYSTEMS = 24


@dataclass(frozen=True)
class AngleSystem:
    """`meaning` of each joint's letters, as a combination of joint angles, and its `inverse`."""

    meaning: dict[int, AngleSum]
    inverse: dict[int, AngleSum]

    def write(self, formula: TrigPoly) -> TrigPoly:
        """`formula` in this system's angles: joint k's letters then stand for `meaning[k]`."""
        algebra = formula.algebra
        used = {g.of for g in formula.generators if g.is_joint_angle}
        changed = {
            joint: algebra.sum_sincos(dict(combination))
            for joint, combination in self.inverse.items()
            if combination != ((joint, 1),) and joint in used
        }
        return formula.substitute({**changed}) if changed else formula


def angle_systems(algebra: TrigAlgebra, groups: Sequence[ParallelJoints]) -> tuple[AngleSystem, ...]:
    """The systems worth trying for these parallel joints; the first is that of the joints' own angles."""
    own: dict[int, AngleSum] = {joint: ((joint, 1),) for joint in algebra.revolute}
    choices = [[AngleSystem({}, {}), *_systems_from_one_vertex(group)] for group in groups]
    if prod(map(len, choices)) > MOST_SYSTEMS:
        choices = [choice[:2] for choice in choices]
    return tuple(
        AngleSystem(
            own | {joint: angle for one in some for joint, angle in one.meaning.items()},
            own | {joint: angle for one in some for joint, angle in one.inverse.items()},
        )
        for some in islice(product(*choices), MOST_SYSTEMS)
    )


def _systems_from_one_vertex(group: ParallelJoints) -> Iterator[AngleSystem]:
    """All angles of a group against the base, against the first link, ...: vertex v is the sum of the first v angles.

    Each angle is between the vertex `center` and another one; joint by joint they take the joints' letters.
    """
    vertices = range(len(group) + 1)
    for center in vertices:
        others = [v for v in vertices if v != center]
        edges = [(min(v, center), max(v, center)) for v in others]
        if edges == list(pairwise(vertices)):  # the joints' own angles
            continue
        # The letter of vertex v times this is the sum of the angles from the center to v.
        signs = {v: group[u][1] * (1 if v > center else -1) for v, (u, _) in zip(others, edges)}
        letters = {v: joint for v, (joint, _) in zip(others, group)}
        inverse = {
            joint: tuple(sorted((letters[v], way * signs[v]) for v, way in ((k + 1, sign), (k, -sign)) if v != center))
            for k, (joint, sign) in enumerate(group)
        }
        yield AngleSystem({letters[v]: _between(group, *edge) for v, edge in zip(others, edges)}, inverse)


def _between(group: ParallelJoints, u: int, v: int) -> AngleSum:
    """The angle from vertex u to vertex v of a group, positive in its first joint."""
    signs = [sign for _, sign in group[u:v]]
    return tuple((joint, sign * signs[0]) for joint, sign in group[u:v])


def angle_name(combination: AngleSum) -> str:
    """The angle in an abbreviation: "23" for q2 + q3, "223" for 2 q2 + q3, "3m2" for q3 - q2, "10_11" past nine.

    >>> angle_name(((2, 2), (3, 1))), angle_name(((2, -1), (3, 1)))
    ('223', '3m2')
    """
    plus = [str(joint) for joint, times in combination for _ in range(max(times, 0))]
    minus = [str(joint) for joint, times in combination for _ in range(max(-times, 0))]
    link = "_" if any(len(name) > 1 for name in (*plus, *minus)) else ""
    alone = link if len(plus) == 1 else ""  # 12 is q1 + q2
    return alone + link.join(plus) + ("m" + link.join(minus) if minus else "")


def angle_latex(combination: AngleSum) -> str:
    """The same as a subscript: "23", "2-3", "10,11", ",12"."""
    return angle_name(combination).replace("m", "-").replace("_", ",")


def angle_sum(combination: AngleSum, variable: Callable[[int], str], times: str = "*") -> str:
    """The angle as a sum of joint variables: "q2 + q3", "2*q2 - q3"."""
    parts = []
    for joint, multiple in combination:
        size = variable(joint) if abs(multiple) == 1 else f"{abs(multiple)}{times}{variable(joint)}"
        parts.append((" - " if multiple < 0 else " + ") + size)
    text = "".join(parts)
    return text[3:] if text.startswith(" + ") else "-" + text[3:]
