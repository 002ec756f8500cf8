"""Equations as SymPy objects, and as lines that SymPy reads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from emdeg.algebra import Atom, Quotient, Sum, TrigPoly
from emdeg.writing import text
from emdeg.writing.document import (
    Combination,
    Document,
    Equation,
    Formula,
    Item,
    MatrixEquation,
    Note,
    Paragraph,
    Reference,
    SquareRoot,
    Table,
    Zeros,
)


def expressions(document: Document) -> dict[str, Any]:
    """{name: SymPy expression or matrix} of every equation, in real symbols q1, qd1 and the parameters."""
    found: dict[str, Any] = {}
    for item in document.items:
        found |= _named(item)
    return found


def write(document: Document) -> str:
    """One line for each equation, name = expression; tables and sentences are comments."""
    blocks = [f"# {_comment(document.title)}"]
    for section in document.sections:
        blocks.append(f"# {_comment(section.title)}")
        for item in section.items:
            if isinstance(item, Table):
                rows = (item.head, *([text.cell(cell) for cell in row] for row in item.rows))
                blocks += [f"# {_comment('  '.join(row))}" for row in rows]
            elif isinstance(item, (Paragraph, Note)):
                blocks.append(f"# {_comment(item.text)}")
            else:
                blocks += [f"{name} = {value}" for name, value in _named(item).items()]
    return "\n".join(blocks) + "\n"


def expression(value: Formula) -> Any:
    """A formula as a SymPy expression; TypeError for one that is known only as it is written."""
    import sympy

    match value:
        case TrigPoly():
            return value.to_sympy()
        case Quotient():
            return value.numerator.to_sympy() / value.denominator.to_sympy()
        case SquareRoot():
            return sympy.sqrt(value.of.to_sympy())
        case Sum():
            return _sum(value)
        case Combination():
            total = sympy.Integer(0) if value.rest is None else expression(value.rest)
            for factor, name in value.terms:
                size = sympy.Integer(1) if isinstance(factor, int) else expression(factor)
                total += size * sympy.Symbol(str(name), real=True)
            return total
        case Reference():
            return _rational(value.factor) * sympy.Symbol(str(value.of))
        case _:
            raise TypeError(f"{text.line(value)} has no SymPy form")


def _named(item: Item) -> dict[str, Any]:
    import sympy

    if isinstance(item, Equation):
        return {str(item.label): expression(item.value)}
    if isinstance(item, MatrixEquation):
        return {str(item.label): sympy.Matrix([[expression(entry) for entry in row] for row in item.rows])}
    return {str(label): sympy.Integer(0) for label in item.labels} if isinstance(item, Zeros) else {}


def _rational(value: Fraction) -> Any:
    import sympy

    return sympy.Rational(value.numerator, value.denominator)


def _sum(value: Sum) -> Any:
    """Sines and cosines of q2, q3, ..., everything else symbols."""
    import sympy

    total: Any = sympy.Integer(0)
    for term in value.terms:
        product = _rational(term.coefficient)
        for factor in term.factors:
            product *= _sum(factor) if isinstance(factor, Sum) else _atom(factor)
        total += product
    return total


def _atom(atom: Atom) -> Any:
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


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
