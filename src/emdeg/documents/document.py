"""What is to be written, before it is decided how: sections of formulas, tables, sentences, listings and figures.

Texts are plain: every writer escapes them itself, so that a name from a robot's file is never markup.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from emdeg.algebra import GREEK, Quotient, Sum, TrigPoly
from emdeg.documents.drawing import Drawing

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


def indices_of(subscript: str) -> tuple[int, ...]:
    """The numbers in a subscript: a digit each, or kept apart by underscores.

    >>> indices_of("112"), indices_of("_1_12")
    ((1, 1, 2), (1, 12))
    """
    parts = subscript.strip("_").split("_") if "_" in subscript else list(subscript)
    return tuple(int(part) for part in parts)


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
class WrittenTerm(Written):
    """A term of a sum that is written already, behind its sign; `place`: of its size among a program's values."""

    minus: bool = False
    place: int = 0


@dataclass(frozen=True, slots=True)
class WrittenSum(Written):
    """A sum that is written already, whose terms are known apart."""

    terms: tuple[WrittenTerm, ...] = ()


@dataclass(frozen=True, slots=True)
class AbbreviatedFormula:
    """A formula with a shorter way to write it, for people; programs take the formula."""

    shown: Sum
    value: TrigPoly


Factor = tuple[TrigPoly | Sum | Label, int]
"""A factor, or the name of one that has an equation of its own, and its power."""


@dataclass(frozen=True, slots=True)
class FactoredFormula:
    """number * the factors above the line / those below it, for people; programs take the formula."""

    number: Fraction
    above: tuple[Factor, ...]
    below: tuple[Factor, ...]
    value: TrigPoly | Quotient


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


Formula = (
    TrigPoly | Quotient | Sum | SquareRoot | Combination | Written | AbbreviatedFormula | FactoredFormula | Reference
)


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
class Statement:
    """A formula that stands for itself."""

    formula: Written


Cell = str | Label | Formula


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under a head; columns of numbers are set to the right. A folded one opens on demand."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that stands out: what was left out and why, or a warning."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that stay as they are, such as a command."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with a caption; `name` is its file's stem where figures are files."""

    name: str
    drawing: Drawing
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Small figures side by side, or one wide one."""

    figures: tuple[Figure, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A text to download."""

    name: str
    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that travel inside an HTML page."""

    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """Items under a title of their own, which a page may fold away."""

    title: str
    items: tuple[Item, ...]
    open: bool = False


class Special(ABC):
    """An item that some writers know better than these do; the others write `plain` in its place."""

    __slots__ = ()

    @property
    @abstractmethod
    def plain(self) -> tuple[Item, ...]: ...


Item = (
    Equation
    | MatrixEquation
    | Zeros
    | Statement
    | Table
    | Facts
    | Paragraph
    | Note
    | Verbatim
    | Figures
    | Files
    | Folded
    | Special
)


def labels_of(item: Item) -> tuple[Label, ...]:
    """The left sides of an item's equations."""
    match item:
        case Equation() | MatrixEquation():
            return (item.label,)
        case Zeros():
            return item.labels
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; `key` is its name on the command line and its anchor on a page."""

    key: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A title and sections; of a report also a line under the title, figures to begin with and what made it."""

    title: str
    sections: tuple[Section, ...]
    subtitle: str = ""
    highlights: tuple[tuple[str, str], ...] = ()
    """(figure, what it is)"""
    made_by: str = ""

    @property
    def items(self) -> Iterable[Item]:
        """Every item, those that are folded away included."""
        return (item for section in self.sections for item in _unfolded(section.items))


def _unfolded(items: Iterable[Item]) -> Iterable[Item]:
    for item in items:
        yield item
        if isinstance(item, Folded):
            yield from _unfolded(item.items)


def resolved(document: Document) -> Document:
    """The same with the formula itself where an equation refers to one that is not in the document."""
    there = {item.label for item in document.items if isinstance(item, Equation)}

    def whole(item: Item) -> Item:
        if isinstance(item, Equation) and isinstance(item.value, Reference) and item.value.of not in there:
            return Equation(item.label, item.value.value)
        return item

    sections = (replace(s, items=tuple(whole(item) for item in s.items)) for s in document.sections)
    return replace(document, sections=tuple(sections))
