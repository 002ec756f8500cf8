"""What only a report shows: the robot in space, the equations' terms by their significance, the threshold slider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import Product, Sum, TrigPoly, quotient, written_out
from emdeg.documents import (
    Combination,
    Equation,
    Figure,
    Figures,
    Folded,
    Formula,
    Item,
    Label,
    Paragraph,
    Reference,
    Special,
    Table,
    WrittenTerm,
    Zeros,
)

SIGNIFICANCE = ((0.3, "30 % and more"), (0.1, "10 %"), (0.03, "3 %"), (0.01, "1 %"), (0.001, "0.1 %"), (0.0, "less"))
"""(least share, name) of the shades in which terms are written, the most significant first."""


@dataclass(frozen=True, slots=True)
class Scene(Special):
    """The robot in space: data for the page's script, and one view of it drawn beforehand.

    `module`: the robot's programs as a module of JavaScript, for its numbers at the configuration shown.
    """

    data: Mapping[str, Any]
    still: Figure
    module: str = ""

    @property
    def plain(self) -> tuple[Item, ...]:
        return (Figures((self.still,)),)


@dataclass(frozen=True, slots=True)
class ShadedTerm:
    """A summand of an entry. `share`: its largest value over that of the entry's greatest; None where unknown.

    `level`: the first position of the threshold slider at which it goes; None if it always stays.

    >>> [ShadedTerm(Product(1), share).shade for share in (1.0, 0.3, 0.05, 0.0001, None)]
    [0, 0, 2, 5, None]
    """

    product: Product | TrigPoly | Combination | WrittenTerm
    """Of the reading form, or a formula of one term."""
    share: float | None = None
    level: int | None = None
    constant: str = ""
    """The lumped constant in it, or the names of several quantities, apart by blanks."""
    in_full: bool = False
    """Whether sines and cosines are printed in full, because a symbol of the robot looks like an abbreviation."""

    @property
    def shown(self) -> Product | TrigPoly | Combination | WrittenTerm:
        """The summand as it is printed."""
        if self.in_full and isinstance(self.product, Product):
            return written_out(Sum((self.product,))).terms[0]
        return self.product

    @property
    def shade(self) -> int | None:
        """The number of its shade, 0 the darkest; None where nothing is known of its share."""
        if self.share is None:
            return None
        return next(k for k, (least, _) in enumerate(SIGNIFICANCE) if self.share >= least)


@dataclass(frozen=True, slots=True)
class ShadedEntry:
    """One coefficient of the equations; `same` refers to the entry of which it is a multiple."""

    label: Label
    terms: tuple[ShadedTerm, ...]
    same: Reference | None = None
    name: str = ""
    """The coefficient's name, whatever letter it has on the page."""
    below: tuple[ShadedTerm, ...] = ()
    """What the sum of its terms is divided by."""
    root: bool = False
    """Whether it is the square root of its terms' sum."""
    whole: Formula | None = None
    """All of it as one formula where that is more than a sum of terms."""

    @property
    def sum(self) -> Formula:
        """All of it as one formula."""
        if self.whole is not None:
            return self.whole
        above, below = (_formulas(terms) for terms in (self.terms, self.below))
        if not above:
            return Sum(tuple(one for term in self.terms if isinstance(one := term.shown, Product)))
        total = sum(above[1:], above[0])
        return quotient(total, sum(below[1:], below[0])) if below else total


def _formulas(terms: Iterable[ShadedTerm]) -> list[TrigPoly]:
    return [one for term in terms if isinstance(one := term.shown, TrigPoly)]


@dataclass(frozen=True, slots=True)
class ShadedEntries(Special):
    """The entries of one part of the equations; `zeros` vanish."""

    title: str
    entries: tuple[ShadedEntry, ...]
    zeros: tuple[Label, ...] = ()
    open: bool = False

    @property
    def plain(self) -> tuple[Item, ...]:
        equations = tuple(Equation(entry.label, entry.same or entry.sum) for entry in self.entries)
        return (Folded(self.title, (*equations, Zeros(self.zeros)) if self.zeros else equations, self.open),)


@dataclass(frozen=True, slots=True)
class Slider(Special):
    """The threshold slider: what each position costs and saves; see `TradeoffPoint`."""

    levels: tuple[Mapping[str, Any], ...]
    text: str

    @property
    def table(self) -> Table:
        """Every position."""
        head = ("terms hidden below", "terms kept", "operations", "error, certified", "error, found")
        rows = (
            (
                one["threshold_text"],
                str(one["terms"]),
                str(one["mul"] + one["add"]),
                one["certified_text"],
                one["found_text"],
            )
            for one in self.levels
        )
        return Table(head, tuple(rows), "All thresholds", folded=True)

    @property
    def plain(self) -> tuple[Item, ...]:
        return (Paragraph(self.text.replace("Hide the", "What it costs to hide the")), self.table)
