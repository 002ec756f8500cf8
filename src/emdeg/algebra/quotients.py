"""The field of fractions of a trigonometric algebra: quotients of formulas, and the square roots of squares."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from emdeg.algebra.angle import Angle
from emdeg.algebra.factoring.half_angles import in_half_angles
from emdeg.algebra.scalar import Algebra
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import Generator, TrigPoly

LONG = 100_000
"""Products of terms beyond which a quotient is not freed of sines."""


class Quotient:
    """numerator / denominator, two formulas of one algebra: an element of its field of fractions; compared exactly.

    +, -, * and / take quotients, formulas and numbers. `Quotient(a, b)`, and so every result, is the shortest form
    found: common factors cancelled, also those that show after sines are traded for cosines, and the denominator 1
    wherever it divides the numerator, else with a first coefficient of 1. `quotient(a, b)` cancels no more than it must
    and leaves the denominator its scale.

    >>> from emdeg.algebra.trig_algebra import TrigAlgebra
    >>> a, b = (TrigAlgebra(parameters=["a", "b"]).symbol(name) for name in "ab")
    >>> print(Quotient(a * a - b * b) / (2 * a + 2 * b), a / Quotient(b))
    1/2*a - 1/2*b (a) / (b)
    """

    __slots__ = ("denominator", "numerator")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    numerator: TrigPoly
    denominator: TrigPoly

    def __init__(self, numerator: TrigPoly, denominator: TrigPoly | None = None) -> None:
        if denominator is None:
            denominator = numerator.algebra.one
        elif denominator != 1:
            numerator, denominator = _shortest(numerator, denominator)
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
        symbols = (*self.numerator.generators, *self.denominator.generators)
        return all(isinstance(g.of, Angle) and g.of.symbol is None for g in symbols)

    def _coerced(self, other: Any) -> Quotient:
        return other if isinstance(other, Quotient) else Quotient(self.numerator.algebra.zero + other)

    def __add__(self, other: Quotient | TrigPoly | Fraction | int) -> Quotient:
        if not isinstance(other, FIELD_OPERANDS):
            return NotImplemented
        other = self._coerced(other)
        if self.denominator == other.denominator:
            return Quotient(self.numerator + other.numerator, self.denominator)
        return Quotient(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return _as_it_stands(-self.numerator, self.denominator)

    def __sub__(self, other: Quotient | TrigPoly | Fraction | int) -> Quotient:
        return self + (-other)

    def __rsub__(self, other: TrigPoly | Fraction | int) -> Quotient:
        return -self + other

    def __mul__(self, other: Quotient | TrigPoly | Fraction | int) -> Quotient:
        if not isinstance(other, FIELD_OPERANDS):
            return NotImplemented
        other = self._coerced(other)
        return Quotient(self.numerator * other.numerator, self.denominator * other.denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: Quotient | TrigPoly | Fraction | int) -> Quotient:
        if not isinstance(other, FIELD_OPERANDS):
            return NotImplemented
        other = self._coerced(other)
        return Quotient(self.numerator * other.denominator, self.denominator * other.numerator)

    def __rtruediv__(self, other: TrigPoly | Fraction | int) -> Quotient:
        return self._coerced(other) / self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FIELD_OPERANDS):
            return NotImplemented
        other = self._coerced(other)
        return self.numerator * other.denominator == other.numerator * self.denominator

    def __bool__(self) -> bool:
        return bool(self.numerator)

    def __len__(self) -> int:
        """The number of terms above and below the line."""
        return len(self.numerator) + len(self.denominator)

    def square_root(self) -> Quotient | None:
        """One of the two quotients whose square this is; None where there is none."""
        roots = in_half_angles(self.numerator.algebra).square_root(self.numerator, self.denominator)
        return None if roots is None else Quotient(*roots)

    def written(self, algebra: Algebra) -> Any:
        """This value among the scalars of another algebra, which must divide where this does."""

        def symbol(generator: Generator) -> Any:
            if isinstance(generator.of, Angle):
                return algebra.sincos(generator.of)[generator.kind == "cosine"]
            return algebra.symbol(str(generator.of))

        value = self.numerator.map(symbol, algebra.number)
        return value if self.is_formula else value / self.denominator.map(symbol, algebra.number)

    def evaluate(self, q: Any, parameters: Mapping[str, Any] | None = None) -> np.ndarray:
        """Its value at q (..., n) in doubles; infinite or NaN where the denominator vanishes."""
        top = self.numerator.evaluate(q, parameters=parameters)
        with np.errstate(divide="ignore", invalid="ignore"):
            return top / self.denominator.evaluate(q, parameters=parameters)

    def to_sympy(self) -> Any:
        """The SymPy expression."""
        return self.numerator.to_sympy() / self.denominator.to_sympy()

    def __str__(self) -> str:
        return str(self.numerator) if self.is_formula else f"({self.numerator}) / ({self.denominator})"

    def __repr__(self) -> str:
        return f"Quotient('{self}')"

    @property
    def latex(self) -> str:
        """LaTeX of the fraction."""
        if self.is_formula:
            return self.numerator.latex
        return rf"\frac{{{self.numerator.latex}}}{{{self.denominator.latex}}}"

    def _repr_latex_(self) -> str:
        return f"${self.latex}$"


FIELD_OPERANDS = (Quotient, TrigPoly, Rational)


class QuotientField:
    """The field of fractions of `formulas` as an algebra that dynamics runs over where it divides."""

    def __init__(self, formulas: TrigAlgebra) -> None:
        self.formulas = formulas

    def number(self, value: Fraction | int) -> Quotient:
        return Quotient(self.formulas.number(value))

    def symbol(self, name: str) -> Quotient:
        return Quotient(self.formulas.symbol(name))

    def sincos(self, angle: Angle) -> tuple[Quotient, Quotient]:
        s, c = self.formulas.sincos(angle)
        return Quotient(s), Quotient(c)

    def joint_sincos(self, joint: int) -> tuple[Quotient, Quotient]:
        s, c = self.formulas.joint_sincos(joint)
        return Quotient(s), Quotient(c)

    def displacement(self, joint: int) -> Quotient:
        return Quotient(self.formulas.displacement(joint))


def quotient(numerator: TrigPoly, denominator: TrigPoly) -> Quotient:
    """numerator / denominator without common polynomial factors, the denominator's scale kept.

    Factors that show only after sines and cosines are traded for each other (s^2 = 1 - c^2) are not looked for
    (`lowest_terms` finds them). ZeroDivisionError if the denominator is the zero formula.
    """
    numerator, denominator = _coprime(numerator, denominator)
    if denominator.is_number:
        return Quotient(numerator / denominator.number)
    return _as_it_stands(numerator, denominator)


def lowest_terms(numerator: TrigPoly, denominator: TrigPoly) -> Quotient:
    """numerator / denominator without anything that divides both, half angles' factors included.

    So it has a value wherever the function has one, but for single half angles (s / (1 + c) is tan(q/2)). Formulas too
    long for that are left as `quotient` has them.
    """
    try:
        top, bottom = in_half_angles(numerator.algebra).lowest(*_coprime(numerator, denominator))
    except OverflowError:
        return quotient(numerator, denominator)
    return Quotient(top / bottom.number) if bottom.is_number else _as_it_stands(top, bottom)


def _as_it_stands(numerator: TrigPoly, denominator: TrigPoly) -> Quotient:
    found = object.__new__(Quotient)
    found.numerator = numerator
    found.denominator = denominator
    return found


def _coprime(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """Both without their greatest common divisor as polynomials."""
    if not denominator:
        raise ZeroDivisionError("a formula was divided by zero")
    if not numerator:
        return numerator, numerator.algebra.one
    if not denominator.is_number:
        common = numerator._poly.gcd(denominator._poly)
        if not common.is_constant():
            numerator = TrigPoly(numerator.algebra, numerator._poly / common, numerator._sines)
            denominator = TrigPoly(denominator.algebra, denominator._poly / common, denominator._sines)
    return numerator, denominator


def _monic(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """Both divided by the denominator's first coefficient."""
    leading: Fraction = next(denominator.terms())[0]
    return (numerator, denominator) if leading == 1 else (numerator / leading, denominator / leading)


def _shortest(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """The shorter of two forms: common factors cancelled as it stands, or after freeing the denominator of sines.

    Long formulas are left as they stand: their conjugates grow with every sine.
    """
    best = _monic(*_coprime(numerator, denominator))
    while numerator and (sines := [g for g in denominator.generators if g.kind == "sine"]):
        conjugate = _conjugate(denominator, sines[0])
        if max(len(numerator), len(denominator)) * len(conjugate) > LONG:
            break
        numerator, denominator = numerator * conjugate, denominator * conjugate
        free = _monic(*_coprime(numerator, denominator))
        if len(free[0]) + len(free[1]) < len(best[0]) + len(best[1]) or free[1] == 1:
            best = free
    return best


def _conjugate(formula: TrigPoly, sine: Generator) -> TrigPoly:
    """The formula with that sine's sign changed; their product is free of it, since s^2 = 1 - c^2."""
    terms = ((-c if sine in monomial else c, monomial) for c, monomial in formula.terms())
    return formula.algebra.from_terms(terms)
