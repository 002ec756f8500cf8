"""What is to be written, before it is decided how: sections of equations, matrices, tables and remarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from emdeg.algebra.generator import GREEK


@runtime_checkable
class Formula(Protocol):
    """What stands right of an equals sign: a `TrigPoly`, a `Quotient`, or anything else that can write itself."""

    def __str__(self) -> str: ...

    @property
    def latex(self) -> str: ...

    def to_sympy(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Label:
    """What stands left of an equals sign: a letter with a subscript, M with 12.

    >>> str(Label("b", "112")), Label("b", "112").latex
    ('b112', 'b_{112}')
    """

    letter: str
    subscript: str = ""

    def __str__(self) -> str:
        return self.letter + self.subscript

    @property
    def latex(self) -> str:
        """LaTeX; a letter of several characters stands upright, unless it names a Greek one."""
        if self.letter in GREEK:
            letter = f"\\{self.letter}"
        else:
            letter = self.letter if len(self.letter) == 1 else rf"\mathrm{{{self.letter}}}"
        return f"{letter}_{{{self.subscript.strip('_').replace('_', ',')}}}" if self.subscript else letter


@dataclass(frozen=True, slots=True)
class Reference:
    """A multiple of another equation's left side, in place of a formula that would only repeat it."""

    of: Label
    factor: Fraction
    value: Formula
    """The formula itself, for where the other equation is not at hand."""

    def __str__(self) -> str:
        return f"{self._factor(str)}{self.of}"

    @property
    def latex(self) -> str:
        return f"{self._factor(_fraction)}{self.of.latex}"

    def to_sympy(self) -> Any:
        import sympy

        return sympy.Rational(self.factor.numerator, self.factor.denominator) * sympy.Symbol(str(self.of))

    def _factor(self, number: Callable[[Fraction], str]) -> str:
        size = "" if abs(self.factor) == 1 else f"{number(abs(self.factor))} "
        return ("-" if self.factor < 0 else "") + size


def _fraction(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"


@dataclass(frozen=True, slots=True)
class Equation:
    """label = value."""

    label: Label
    value: Formula


@dataclass(frozen=True, slots=True)
class MatrixEquation:
    """label = a matrix of formulas."""

    label: Label
    rows: tuple[tuple[Formula, ...], ...]


@dataclass(frozen=True, slots=True)
class Zeros:
    """Entries that vanish."""

    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Plain cells under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence."""

    text: str


Item = Equation | MatrixEquation | Zeros | Table | Remark


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; `part` is its name on the command line."""

    part: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A title and sections."""

    title: str
    sections: tuple[Section, ...]


def resolved(document: Document) -> Document:
    """The same with the formula itself where an equation refers to one that is not in the document."""
    items = [item for section in document.sections for item in section.items]
    there = {item.label for item in items if isinstance(item, Equation)}

    def whole(item: Item) -> Item:
        if isinstance(item, Equation) and isinstance(item.value, Reference) and item.value.of not in there:
            return Equation(item.label, item.value.value)
        return item

    sections = (replace(s, items=tuple(whole(item) for item in s.items)) for s in document.sections)
    return Document(document.title, tuple(sections))
