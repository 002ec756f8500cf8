"""Equations as SymPy objects, and as a Python program that makes them."""

from __future__ import annotations

import keyword
from fractions import Fraction
from itertools import combinations
from typing import Any

from emdeg.algebra import WRITTEN_OUT, Atom, Quotient, Sum, TrigPoly
from emdeg.documents import text
from emdeg.documents.document import (
    AbbreviatedFormula,
    Combination,
    Document,
    Equation,
    FactoredFormula,
    Formula,
    Item,
    MatrixEquation,
    Note,
    Paragraph,
    Reference,
    Section,
    SquareRoot,
    Table,
    Zeros,
    indices_of,
    labels_of,
)


def expressions(document: Document) -> dict[str, Any]:
    """{name: SymPy expression or matrix} of every equation, in real symbols q1, qd1 and the parameters."""
    found: dict[str, Any] = {}
    for item in document.items:
        found |= _named(item)
    return found


def write(document: Document) -> str:
    """A Python program that defines every equation's left side, and M, b, c and g as matrices, by SymPy.

    Every symbol is declared; a name that Python, SymPy or an equation needs for itself has an underscore behind it as
    a variable, not as a symbol. What an equation uses is defined before it; tables and sentences are comments.
    b has a row for each joint and a column for each pair of rates, (1, 2), (1, 3), ..., (2, 3), ...
    """
    found = expressions(document)
    names = _variables(found)
    program = _Program(found, names)
    for section in document.sections:
        program.remark(section.title)
        for item in section.items:
            if isinstance(item, Table):
                for row in (item.head, *([text.cell(cell) for cell in row] for row in item.rows)):
                    program.remark("  ".join(row))
            elif isinstance(item, (Paragraph, Note)):
                program.remark(item.text)
            else:
                for name, value in _named(item).items():
                    program.define(name, value)
        if section.key in MATRICES and (matrix := _matrix(section, names)):
            program.lines.append(f"{section.key} = {matrix}")
    used = IMPORTED if any("Add(" in one for one in program.lines) else IMPORTED[1:]
    head = [f"# {_comment(document.title)}", f"from sympy import {', '.join(used)}", ""]
    declared = [f'{names[name]} = Symbol("{name}", real=True)' for name in sorted(_symbols(found))]
    return "\n".join([*head, *declared, *program.lines]) + "\n"


MATRICES = ("M", "b", "c", "g")
IMPORTED = ("Add", "Matrix", "Rational", "Symbol", "cos", "pi", "sin", "sqrt")
LONGEST_SUM = 500
"""Terms of a sum written with plus signs: Python nests each in the one before, and gives up at some thousands."""


def _printer() -> Any:
    """Expressions as Python text: a fraction in a sum is SymPy's own, and so is a long sum."""
    from sympy.printing.str import StrPrinter

    class Printer(StrPrinter):
        def _print_Rational(self, expr: Any) -> str:
            return f"Rational({expr.p}, {expr.q})"

        def _print_Add(self, expr: Any, order: Any = None) -> str:
            if len(expr.args) <= LONGEST_SUM:
                return super()._print_Add(expr, order)
            return f"Add({', '.join(map(self._print, expr.args))})"

    return Printer({"order": "none"})


class _Program:
    """Lines of Python, each name defined after those that its expression holds."""

    def __init__(self, expressions: dict[str, Any], names: dict[str, str]) -> None:
        import sympy

        self.lines: list[str] = []
        self._left = dict(expressions)
        self._names = names
        self._as_variables = {
            symbol: sympy.Symbol(names[symbol.name]) for value in expressions.values() for symbol in value.free_symbols
        }

    def remark(self, words: str) -> None:
        self.lines.append(f"# {_comment(words)}")

    def define(self, name: str, value: Any) -> None:
        self._left.pop(name, None)
        for symbol in sorted(value.free_symbols, key=str):
            if symbol.name in self._left:
                self.define(symbol.name, self._left[symbol.name])
        # A Python 1/3 is a double, and so is half of a Python 1.
        if getattr(value, "is_Rational", False):
            written = f"Rational({value.p}, {value.q})"
        else:
            written = _printer().doprint(value.xreplace(self._as_variables))
        self.lines.append(f"{self._names[name]} = {written}")


def _symbols(found: dict[str, Any]) -> set[str]:
    """The symbols that no equation defines."""
    return {symbol.name for value in found.values() for symbol in value.free_symbols} - found.keys()


def _variables(found: dict[str, Any]) -> dict[str, str]:
    """Name of an equation or a symbol -> the Python variable that stands for it."""
    taken = {*keyword.kwlist, *keyword.softkwlist, *IMPORTED}
    variables: dict[str, str] = {}
    for name in (*found, *sorted(_symbols(found))):
        variable = f"{name}_" if name in MATRICES and name not in found else name
        while variable in taken:
            variable += "_"
        variables[name] = variable
        taken.add(variable)
    return variables


def _matrix(section: Section, names: dict[str, str]) -> str | None:
    """M, b, c or g of the entries in its section; None where they are not all there."""
    labels = [one for item in section.items for one in labels_of(item) if one.subscript.strip("_0123456789") == ""]
    at = {indices_of(one.subscript): names[str(one)] for one in labels if one.subscript}
    joints = range(1, max((index for indices in at for index in indices), default=1) + 1)
    if section.key == "g":
        places = [[(i,)] for i in joints]
    elif section.key == "b":
        places = [[(i, j, k) for j, k in combinations(joints, 2)] for i in joints]
    elif section.key == "c":
        places = [[(i, j) for j in joints] for i in joints]
    else:
        places = [[(min(i, j), max(i, j)) for j in joints] for i in joints]
    if not at.keys() >= {place for row in places for place in row}:
        return None
    if not places[0]:
        return f"Matrix({len(joints)}, 0, [])"
    return "Matrix([" + ", ".join(f"[{', '.join(at[place] for place in row)}]" for row in places) + "])"


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
        case Reference() | AbbreviatedFormula() | FactoredFormula():
            return expression(value.value)
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
    for letter in WRITTEN_OUT.get(atom.kind, atom.kind):
        product *= sympy.sin(angle) if letter == "S" else sympy.cos(angle)
    return product


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
