"""Rational functions on circles: formulas divided and, where they are squares, their roots, no sign chosen by size.

A quotient of trigonometric polynomials is one of polynomials in the tangents of half the angles: there common factors
cancel and a square shows itself.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

from flint import fmpq
from flint.utils.flint_exceptions import DomainError

from emdeg.algebra.angle import Angle
from emdeg.algebra.factoring.half_angles import Form, in_half_angles
from emdeg.algebra.quotients import Quotient
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import TrigPoly
from emdeg.errors import OverBudget

MOST_TERMS = 3000
"""Above and below the line, before common factors cancel: to find these takes minutes where there are more."""


class RationalFunctions:
    """The field of quotients of a trigonometric algebra's formulas."""

    def __init__(self, trig: TrigAlgebra) -> None:
        self.trig = trig
        self._half = in_half_angles(trig)

    def number(self, value: Fraction | int) -> RationalFunction:
        return self.of(self.trig.number(value))

    def symbol(self, name: str) -> RationalFunction:
        return self.of(self.trig.symbol(name))

    def sincos(self, angle: Angle) -> tuple[RationalFunction, RationalFunction]:
        s, c = self.trig.sincos(angle)
        return self.of(s), self.of(c)

    def of(self, formula: TrigPoly) -> RationalFunction:
        """A formula of the trigonometric algebra, here."""
        form, one = self._half.form(formula), self._half.context.constant(1)
        return RationalFunction(
            form.poly, prod((u ** (d // 2) for u, d in zip(self._half.units, form.degree)), start=one)
        )

    def back(self, value: RationalFunction) -> Quotient:
        """The value as a quotient of formulas, shortened."""
        highest = [max(a, b) for a, b in zip(value.top.degrees(), value.below.degrees())]
        even = tuple(int(d) + int(d) % 2 for d in highest[: len(self._half.angles)])
        return Quotient(self._half.formula(Form(value.top, even)), self._half.formula(Form(value.below, even)))


class RationalFunction:
    """top / below, polynomials without a common factor; +, -, *, / take numbers too."""

    __slots__ = ("below", "top")

    def __init__(self, top: Any, below: Any) -> None:
        if not below:
            raise ZeroDivisionError("a rational function was divided by zero")
        if len(top) + len(below) > MOST_TERMS:
            raise OverBudget(f"a rational function grew beyond {MOST_TERMS} terms")
        common = top.gcd(below)
        if not common.is_constant():
            top, below = top / common, below / common
        self.top, self.below = top, below

    def _lifted(self, other: Any) -> RationalFunction | None:
        if isinstance(other, RationalFunction):
            return other
        if isinstance(other, int | Fraction):
            one = self.below * 0 + 1
            return RationalFunction(one * fmpq(int(other.numerator), int(other.denominator)), one)
        return None

    def __add__(self, other: Any) -> RationalFunction:
        o = self._lifted(other)
        if o is None:
            return NotImplemented
        return RationalFunction(self.top * o.below + o.top * self.below, self.below * o.below)

    __radd__ = __add__

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self.top, self.below)

    def __sub__(self, other: Any) -> RationalFunction:
        return self + (-other)

    def __rsub__(self, other: Any) -> RationalFunction:
        return -self + other

    def __mul__(self, other: Any) -> RationalFunction:
        o = self._lifted(other)
        if o is None:
            return NotImplemented
        return RationalFunction(self.top * o.top, self.below * o.below)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> RationalFunction:
        o = self._lifted(other)
        if o is None:
            return NotImplemented
        return RationalFunction(self.top * o.below, self.below * o.top)

    def __rtruediv__(self, other: Any) -> RationalFunction:
        return self._lifted(other) / self  # type: ignore[operator]

    def __eq__(self, other: object) -> bool:
        return not self - other  # type: ignore[operator]

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return bool(self.top)

    def __len__(self) -> int:
        """The number of terms above and below the line."""
        return len(self.top) + len(self.below)

    def root(self) -> RationalFunction | None:
        """One of the two functions whose square this is; None where there is none."""
        try:
            return RationalFunction((self.top * self.below).sqrt(), self.below)
        except DomainError:
            return None
