"""What can stand right of an equals sign: the formulas that every writer knows, and the labels left of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from emdeg.algebra import GREEK, Quotient, TrigPoly
from emdeg.algebra.expression import Sum

_FIRST_LETTERS = re.compile("[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Label:
    """What stands left of an equals sign: a letter with a subscript, M with 12; `dots` over it for a rate.

    >>> str(Label("b", "112")), Label("b", "112").latex, str(Label("q", "3", dots=1)), Label("q", "3", dots=1).latex
    ('b112', 'b_{112}', 'qd3', '\\\\dot{q}_{3}')
    """

    letter: str
    subscript: str = ""
    dots: int = 0

    def __str__(self) -> str:
        return self.letter + "d" * self.dots + self.subscript

    @property
    def shown_subscript(self) -> str:
        """The subscript as it is set: parts that _ keeps apart in a name are kept apart by commas."""
        return self.subscript.strip("_").replace("_", ",")

    @property
    def latex(self) -> str:
        """LaTeX; a letter of several characters stands upright, unless it names a Greek one."""
        if self.letter in GREEK:
            letter = f"\\{self.letter}"
        else:
            letter = self.letter if len(self.letter) == 1 else rf"\mathrm{{{self.letter}}}"
        letter = ("", r"\dot{{{}}}", r"\ddot{{{}}}")[self.dots].format(letter) if self.dots else letter
        return f"{letter}_{{{self.shown_subscript}}}" if self.subscript else letter


def label(name: str) -> Label:
    """A name with what follows its first letters as the subscript.

    >>> label("M12").latex, label("Im3").latex, label("omega_x").latex
    ('M_{12}', '\\\\mathrm{Im}_{3}', '\\\\omega_{x}')
    """
    letters = _FIRST_LETTERS.match(name)
    return Label(name) if letters is None else Label(letters[0], name[letters.end() :])


@dataclass(frozen=True, slots=True)
class SquareRoot:
    """The root of a formula."""

    of: TrigPoly


@dataclass(frozen=True, slots=True)
class Combination:
    """sum of factor * name, plus `rest`: linear in quantities that have names."""

    terms: tuple[tuple[Quotient | Literal[1], Label], ...] = ()
    rest: Quotient | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A formula that is written already, in text and in LaTeX; without MathML of its own it is shown as text."""

    text: str
    latex: str
    mathml: str = ""


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

    def _factor(self, number: Callable[[Fraction], str]) -> str:
        size = "" if abs(self.factor) == 1 else f"{number(abs(self.factor))} "
        return ("-" if self.factor < 0 else "") + size


def _fraction(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"


Formula = TrigPoly | Quotient | Sum | SquareRoot | Combination | Written | Reference
