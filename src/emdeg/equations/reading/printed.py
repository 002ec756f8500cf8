"""An expression of the reading form as a formula that can write itself in every format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

from emdeg.algebra.angle_sums import angle_name
from emdeg.algebra.expression import Atom, Sum, latex, text

_BREAK = re.compile(r" (?=[+-] )")


@dataclass(frozen=True)
class Printed:
    """What stands right of an equals sign in the reading form; S, C, SS, CC and SC are abbreviations."""

    expression: Sum

    def __str__(self) -> str:
        return text(self.expression)

    @property
    def latex(self) -> str:
        return " ".join(self.latex_parts)

    @property
    def text_parts(self) -> list[str]:
        """The text cut where a line may end."""
        return _BREAK.split(text(self.expression))

    @property
    def latex_parts(self) -> list[str]:
        """The LaTeX cut where a line may end: brackets of one size, which may open and close on different lines."""
        one_size = latex(self.expression).replace(r"\left(", r"\bigl(").replace(r"\right)", r"\bigr)")
        return _BREAK.split(one_size)

    @cached_property
    def mathml(self) -> str:
        return _mathml(self.expression)

    def to_sympy(self) -> Any:
        """The SymPy expression: sines and cosines of q2, q3, ..., everything else symbols."""
        return _sympy(self.expression)


def _mathml(expression: Sum) -> str:
    from emdeg.writing.mathml import name, number

    parts: list[str] = []
    for term in expression.terms:
        if parts or term.coefficient < 0:
            parts.append(f"<mo>{'&#x2212;' if term.coefficient < 0 else '+'}</mo>")
        factors = []
        for factor, same in groupby(term.factors):
            if isinstance(factor, Sum):
                written = f"<mrow><mo>(</mo>{_mathml(factor)}<mo>)</mo></mrow>"
            else:
                written = name(factor.kind, angle_name(factor.angle))
            power = len(list(same))
            factors.append(written if power == 1 else f"<msup><mrow>{written}</mrow><mn>{power}</mn></msup>")
        if abs(term.coefficient) != 1 or not factors:
            factors.insert(0, number(abs(term.coefficient)))
        parts.append("<mo>&#x2062;</mo>".join(factors))
    return f"<mrow>{''.join(parts) or '<mn>0</mn>'}</mrow>"


def _sympy(expression: Sum) -> Any:
    import sympy

    total: Any = sympy.Integer(0)
    for term in expression.terms:
        c = Fraction(term.coefficient)
        product: Any = sympy.Rational(c.numerator, c.denominator)
        for factor in term.factors:
            product *= _sympy(factor) if isinstance(factor, Sum) else _sympy_atom(factor)
        total += product
    return total


def _sympy_atom(atom: Atom) -> Any:
    import sympy

    if not atom.angle:
        return sympy.Symbol(atom.kind, real=True)
    angle = sum((times * sympy.Symbol(f"q{joint}", real=True) for joint, times in atom.angle), sympy.Integer(0))
    if atom.kind == "q":
        return angle
    product: Any = sympy.Integer(1)
    for letter in atom.kind:
        product *= sympy.sin(angle) if letter == "S" else sympy.cos(angle)
    return product
