"""Small expressions as inert data: sums of products of atoms; evaluated, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra.angle_sums import AngleSum, angle_latex, angle_name
from emdeg.algebra.generator import name_latex


@dataclass(frozen=True, slots=True)
class Atom:
    """One factor in print: "S", "C", "SS", "CC" or "SC" of an angle, "q" of a joint, or a symbol's name.

    CC2 is the squared cosine of q2, SC23 the product of the sine and the cosine of q2 + q3.
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
        return self.kind + angle_name(self.angle) if self.angle else self.kind

    @property
    def latex(self) -> str:
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
