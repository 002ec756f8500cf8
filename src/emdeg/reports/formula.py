"""Formulas in pieces of MathML. Browsers do not break a formula's lines, but they do break between formulas: so a sum
is written as one small formula a term, and a long bracket as one a term inside it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.algebra import TrigPoly
from emdeg.algebra.expression import Product, Sum, text
from emdeg.algebra.quotient import Quotient
from emdeg.equations.reading.printed import Printed
from emdeg.writing import mathml
from emdeg.writing.document import Formula
from emdeg.writing.terms import signed_products

WIDTH = 34
"""Characters of text that one piece may have before its brackets are opened."""
_TIMES = "<mo>&#x2062;</mo>"
_OPEN, _CLOSE = '<mo stretchy="false">(</mo>', '<mo stretchy="false">)</mo>'


def math(content: str) -> str:
    """One formula in a line."""
    return f"<math><mrow>{content}</mrow></math>"


def sign(negative: bool, first: bool) -> str:
    """The sign before a term; the first one's plus is for the script to show where terms before it are hidden."""
    if negative:
        return '<mo form="prefix">&#x2212;</mo>' if first else '<mo form="infix">&#x2212;</mo>'
    return "" if first else '<mo form="infix">+</mo>'


def pieces(term: Product, first: bool) -> list[str]:
    """A term, its sign included, as contents of formulas between which a line may end."""
    head = sign(term.coefficient < 0, first)
    size = Product(abs(term.coefficient), term.factors)
    if len(text(Sum((size,)))) <= WIDTH:
        return [head + _written(size)]
    brackets = [k for k, factor in enumerate(term.factors) if isinstance(factor, Sum)]
    if not brackets:
        return [head + _written(size)]
    longest = max(brackets, key=lambda k: len(text(Sum((Product(abs(term.coefficient), (term.factors[k],)),)))))
    inner = term.factors[longest]
    assert isinstance(inner, Sum)
    before = Product(size.coefficient, term.factors[:longest])
    after = Product(Fraction(1), term.factors[longest + 1 :])
    start = head + ("" if before.coefficient == 1 and not before.factors else _written(before) + _TIMES) + _OPEN
    found = [piece for k, part in enumerate(inner.terms) for piece in pieces(part, k == 0)]
    found[0] = start + found[0]
    found[-1] += _CLOSE + (_TIMES + _written(after) if after.factors else "")
    return found


def _written(product: Product) -> str:
    return Printed(Sum((product,))).mathml


def formula(value: Formula) -> list[str]:
    """Any formula as contents of formulas between which a line may end."""
    if isinstance(value, Printed):
        found = [piece for k, term in enumerate(value.expression.terms) for piece in pieces(term, k == 0)]
        return found or ["<mn>0</mn>"]
    if isinstance(value, TrigPoly):
        return _products(value)
    if isinstance(value, Quotient) and value.denominator != 1 and _long(value):
        top, bottom = _products(value.numerator), _products(value.denominator)
        return [
            _OPEN + top[0],
            *top[1:-1],
            *_last(top),
            _CLOSE + "<mo>/</mo>" + _OPEN + bottom[0],
            *bottom[1:-1],
            *_last(bottom),
            _CLOSE,
        ]
    return [mathml.formula(value)]


def _last(parts: Sequence[str]) -> list[str]:
    return [parts[-1]] if len(parts) > 1 else []


def _long(value: Quotient) -> bool:
    return len(value.numerator) + len(value.denominator) > 6


def _products(value: TrigPoly) -> list[str]:
    written = signed_products(value, mathml.power, mathml.number, _TIMES)
    found = [sign(s == "-", k == 0) + product for k, (s, product) in enumerate(written)]
    return found or ["<mn>0</mn>"]
