"""What a report says, before it is decided how it looks: sections of plain items, written by `html` and by `tex`.

Texts are plain: every writer escapes them itself, so that a name from a robot's file is never markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emdeg.algebra.expression import Product, Sum
from emdeg.reports.drawing import Drawing
from emdeg.writing.document import Item as FormulaItem
from emdeg.writing.document import Label, Reference


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Some sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One formula of ours in both languages."""

    mathml: str
    latex: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that stands out: what was left out and why, or a warning."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with their values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; cells that are numbers are set to the right. A folded one opens on demand."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Constants:
    """The lumped constants: label, formula (None where it is but a number), value, tolerance, unit, entries."""

    title: str
    rows: tuple[tuple[Label, Sum | None, str, str, str, str], ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with a caption; `name` is its file's stem in the LaTeX report."""

    name: str
    drawing: Drawing
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """Small figures side by side, or one wide one."""

    figures: tuple[Figure, ...]
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """The robot in space: data for the page's script, and one view of it drawn beforehand."""

    data: Mapping[str, Any]
    still: Figure


@dataclass(frozen=True, slots=True)
class Term:
    """A summand of an entry. `share`: its largest value over that of the entry's greatest; None where unknown.

    `level`: the first position of the threshold slider at which it goes; None if it always stays.
    """

    product: Product
    share: float | None = None
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One coefficient of the equations; `same` refers to the entry of which it is a multiple."""

    label: Label
    terms: tuple[Term, ...]
    same: Reference | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one part of the equations; `zeros` vanish."""

    title: str
    entries: tuple[Entry, ...]
    zeros: tuple[Label, ...] = ()
    open: bool = False


@dataclass(frozen=True, slots=True)
class Slider:
    """The threshold slider: what each position costs and saves; see `tradeoff.Level`."""

    levels: tuple[Mapping[str, Any], ...]
    text: str


@dataclass(frozen=True, slots=True)
class Formulas:
    """Equations, matrices, tables and remarks of `emdeg.writing.document`, folded under a title."""

    title: str
    items: tuple[FormulaItem, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """A text to download."""

    name: str
    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Files:
    """Files that travel inside the page."""

    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A command line."""

    text: str


Item = (
    Paragraph
    | Statement
    | Note
    | Facts
    | Grid
    | Constants
    | Figures
    | Scene
    | Entries
    | Slider
    | Formulas
    | Files
    | Command
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; `key` is its anchor."""

    key: str
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The whole: title, a line under it, a few figures to begin with, sections, and the version that made it."""

    title: str
    subtitle: str
    highlights: tuple[tuple[str, str], ...]
    """(figure, what it is)"""
    sections: tuple[Section, ...]
    made_by: str
