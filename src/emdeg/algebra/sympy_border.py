"""The border to SymPy: formulas go out as expressions, polynomial expressions come in."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from emdeg.algebra.angle import Angle
from emdeg.algebra.scalar import sum_of_angles
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.algebra.trig_poly import Generator, TrigPoly

MAX_POWER = 100
"""Largest exponent or multiple of an angle accepted from outside."""


def to_sympy(formula: TrigPoly) -> sympy.Expr:
    """The SymPy expression of a formula, in real symbols q1, qd1, qdd1 and the parameters."""
    letters = {g: _letter(g) for g in formula.generators}
    terms = [
        sympy.Mul(_rational(coefficient), *(letters[g] ** e for g, e in monomial.items()))
        for coefficient, monomial in formula.terms()
    ]
    return sympy.Add(*terms)


def real_symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol that stands for a joint's variable or a parameter."""
    return sympy.Symbol(name, real=True)


def _letter(generator: Generator) -> Any:
    if generator.kind in ("sine", "cosine"):
        function: Any = sympy.sin if generator.kind == "sine" else sympy.cos
        if isinstance(generator.of, int):
            return function(real_symbol(f"q{generator.of}"))
        assert isinstance(generator.of, Angle)
        return function(_angle(generator.of))
    return real_symbol(str(generator))


def _angle(angle: Angle) -> Any:
    total = _rational(angle.pi_times) * sympy.pi + _rational(angle.radians)
    return total if angle.symbol is None else total + real_symbol(angle.symbol)


def _rational(value: Fraction) -> Any:
    return sympy.Rational(value.numerator, value.denominator)


def from_sympy(algebra: TrigAlgebra, expression: Any) -> TrigPoly:
    """The formula of a SymPy expression that is a polynomial in letters and in sin/cos of angle sums.

    Symbols are matched by name. A string is refused, never parsed.
    """
    if not isinstance(expression, sympy.Basic):
        raise ValueError(f"expected a SymPy expression, got {type(expression).__name__}")
    return _Reader(algebra).read(expression)


class _Reader:
    """Walks an expression once, with the algebra's names at hand."""

    def __init__(self, algebra: TrigAlgebra) -> None:
        self.algebra = algebra
        self.plain = {str(g): g for g in algebra.generators if g.kind not in ("sine", "cosine")}
        self.angles = {f"q{k}": k for k in algebra.revolute}
        self.seen: dict[Any, TrigPoly] = {}

    def read(self, node: Any) -> TrigPoly:
        if node not in self.seen:
            self.seen[node] = self._read(node)
        return self.seen[node]

    def _read(self, node: Any) -> TrigPoly:
        if isinstance(node, sympy.Rational) and node.is_finite:
            return self.algebra.number(Fraction(int(node.p), int(node.q)))
        if isinstance(node, sympy.Symbol):
            return self._symbol(node.name)
        if isinstance(node, sympy.Add):
            total = self.algebra.zero
            for part in node.args:
                total = total + self.read(part)
            return total
        if isinstance(node, sympy.Mul):
            product = self.algebra.one
            for part in node.args:
                product = product * self.read(part)
            return product
        if isinstance(node, sympy.Pow):
            base, exponent = node.args
            if isinstance(exponent, sympy.Integer) and 0 <= int(exponent) <= MAX_POWER:
                return self.read(base) ** int(exponent)
            raise ValueError(f"{node} is not a polynomial: exponents must be 0 to {MAX_POWER}")
        if isinstance(node, sympy.sin):
            return self._sincos(node.args[0])[0]
        if isinstance(node, sympy.cos):
            return self._sincos(node.args[0])[1]
        raise ValueError(
            f"{node} ({type(node).__name__}) has no place in a trigonometric polynomial: "
            "rational numbers, declared symbols, +, *, powers, sin and cos do"
        )

    def _symbol(self, name: str) -> TrigPoly:
        if name in self.plain:
            return self.algebra.generator(self.plain[name])
        if name in self.angles:
            raise ValueError(f"the angle {name} of a revolute joint may occur inside sin and cos only")
        raise ValueError(f"the symbol {name} is not among this algebra's letters: declare it")

    def _sincos(self, argument: Any) -> tuple[TrigPoly, TrigPoly]:
        """(sine, cosine) of an integer combination of joint angles and named angles plus a constant."""
        parts: list[tuple[tuple[TrigPoly, TrigPoly], int]] = []
        constant = Angle()
        for part in sympy.Add.make_args(sympy.expand(argument)):
            factor, rest = part.as_coeff_Mul()
            if not isinstance(factor, sympy.Rational):
                raise ValueError(self._complaint(argument))
            value = Fraction(int(factor.p), int(factor.q))
            if rest == 1:
                constant += Angle(radians=value)
            elif rest == sympy.pi:
                constant += Angle(pi_times=value)
            elif isinstance(rest, sympy.Symbol) and value.denominator == 1 and abs(value) <= MAX_POWER:
                pair = (
                    self.algebra.joint_sincos(self.angles[rest.name])
                    if rest.name in self.angles
                    else self.algebra.sincos(Angle(symbol=rest.name))
                )
                parts.append((pair, int(value)))
            else:
                raise ValueError(self._complaint(argument))
        return sum_of_angles([*parts, (self.algebra.sincos(constant), 1)], self.algebra.one, self.algebra.zero)

    @staticmethod
    def _complaint(argument: Any) -> str:
        return (
            f"{argument} inside sin or cos is not an integer combination of joint angles "
            f"(multiples up to {MAX_POWER}) plus a constant"
        )
