"""Quotients of two formulas: what solving linear equations with symbolic coefficients leads to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from emdeg.algebra.angle import Angle
from emdeg.algebra.generator import Generator
from emdeg.algebra.scalar import Algebra
from emdeg.algebra.trig_poly import TrigPoly


class Ratio:
    """numerator / denominator, two formulas of one algebra; immutable, compared exactly.

    Common factors are cancelled, and the denominator is 1 wherever it divides the numerator.

    >>> from emdeg.algebra.trig_algebra import TrigAlgebra
    >>> a, b = (TrigAlgebra(parameters=["a", "b"]).symbol(name) for name in "ab")
    >>> print(Ratio(a * a - b * b) / Ratio(2 * a + 2 * b), Ratio(a) / Ratio(b))
    1/2*a - 1/2*b (a) / (b)
    """

    __slots__ = ("denominator", "numerator")
    __hash__ = None  # type: ignore[assignment]

    numerator: TrigPoly
    denominator: TrigPoly

    def __init__(self, numerator: TrigPoly, denominator: TrigPoly | None = None) -> None:
        if denominator is None:
            denominator = numerator.algebra.one
        elif not denominator:
            raise ZeroDivisionError("a formula was divided by zero")
        elif denominator != 1:
            numerator, denominator = _simplest(numerator, denominator)
        self.numerator = numerator
        self.denominator = denominator

    @property
    def is_formula(self) -> bool:
        """Whether nothing is divided by."""
        return self.denominator.is_number

    @property
    def is_number(self) -> bool:
        return self.is_formula and self.numerator.is_number

    @property
    def is_constant(self) -> bool:
        """Whether no symbol occurs: numbers, sines and cosines of numeric angles only."""
        letters = (*self.numerator.generators, *self.denominator.generators)
        return all(isinstance(g.of, Angle) and g.of.symbol is None for g in letters)

    def __add__(self, other: Ratio) -> Ratio:
        if self.denominator == other.denominator:
            return Ratio(self.numerator + other.numerator, self.denominator)
        return Ratio(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    def __neg__(self) -> Ratio:
        return Ratio(-self.numerator, self.denominator)

    def __sub__(self, other: Ratio) -> Ratio:
        return self + (-other)

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: Ratio) -> Ratio:
        return Ratio(self.numerator * other.denominator, self.denominator * other.numerator)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.numerator == self.denominator * other
        if isinstance(other, Ratio):
            return self.numerator * other.denominator == other.numerator * self.denominator
        return NotImplemented

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def written(self, algebra: Algebra) -> Any:
        """This value among the scalars of another algebra, which must divide where this does."""

        def letter(generator: Generator) -> Any:
            if isinstance(generator.of, Angle):
                return algebra.sincos(generator.of)[generator.kind == "cosine"]
            return algebra.symbol(str(generator.of))

        value = self.numerator.map(letter, algebra.number)
        return value if self.is_formula else value / self.denominator.map(letter, algebra.number)

    def __str__(self) -> str:
        return str(self.numerator) if self.is_formula else f"({self.numerator}) / ({self.denominator})"

    def __repr__(self) -> str:
        return f"Ratio('{self}')"

    @property
    def latex(self) -> str:
        """LaTeX of the quotient."""
        if self.is_formula:
            return self.numerator.latex
        return rf"\frac{{{self.numerator.latex}}}{{{self.denominator.latex}}}"


def _simplest(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """The shorter of two forms: common factors cancelled as it stands, or after freeing the denominator of sines."""
    if not numerator:
        return numerator, numerator.algebra.one
    best = _cancelled(numerator, denominator)
    while sines := [g for g in denominator.generators if g.kind == "sine"]:
        conjugate = _conjugate(denominator, sines[0])
        numerator, denominator = numerator * conjugate, denominator * conjugate
        free = _cancelled(numerator, denominator)
        if len(free[0]) + len(free[1]) < len(best[0]) + len(best[1]) or free[1] == 1:
            best = free
    return best


def _cancelled(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """Both without their greatest common divisor, the denominator's first coefficient 1."""
    if not denominator.is_number:
        common = numerator._poly.gcd(denominator._poly)
        if not common.is_constant():
            numerator = TrigPoly(numerator.algebra, numerator._poly / common, numerator._sines)
            denominator = TrigPoly(denominator.algebra, denominator._poly / common, denominator._sines)
    leading: Fraction = next(denominator.terms())[0]
    return (numerator, denominator) if leading == 1 else (numerator / leading, denominator / leading)


def _conjugate(formula: TrigPoly, sine: Generator) -> TrigPoly:
    """The formula with that sine's sign changed; their product is free of it, since s^2 = 1 - c^2."""
    terms = ((-c if sine in monomial else c, monomial) for c, monomial in formula.terms())
    return formula.algebra.from_terms(terms)
