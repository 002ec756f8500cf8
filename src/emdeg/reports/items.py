"""What only a report shows: the robot in space, the equations' terms by their significance, the threshold slider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emdeg.algebra import Product, Quotient, Sum, TrigPoly, quotient, written_out
from emdeg.writing import Equation, Figure, Figures, Folded, Item, Label, Paragraph, Reference, Special, Table, Zeros

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

    product: Product | TrigPoly
    """Of the reading form, or a formula of one term."""
    share: float | None = None
    level: int | None = None
    constant: str = ""
    """The lumped constant in it."""
    in_full: bool = False
    """Whether sines and cosines are printed in full, because a symbol of the robot looks like an abbreviation."""

    @property
    def shown(self) -> Product | TrigPoly:
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
    below: TrigPoly | None = None
    """What the sum of its terms is divided by."""

    @property
    def sum(self) -> Sum | TrigPoly | Quotient:
        """All of it as one formula."""
        shown = [term.shown for term in self.terms]
        formulas = [one for one in shown if isinstance(one, TrigPoly)]
        if not formulas:
            return Sum(tuple(one for one in shown if isinstance(one, Product)))
        total = sum(formulas[1:], formulas[0])
        return total if self.below is None else quotient(total, self.below)


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
    """The threshold slider: what each position costs and saves; see `tradeoff.Level`."""

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
