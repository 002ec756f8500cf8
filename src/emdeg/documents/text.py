"""Documents and formulas as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from emdeg.algebra import Quotient, Sum, TrigPoly
from emdeg.documents.document import (
    AbbreviatedFormula,
    Cell,
    Combination,
    Document,
    Equation,
    FactoredFormula,
    Facts,
    Figures,
    Files,
    Folded,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Note,
    Paragraph,
    Reference,
    Section,
    Special,
    SquareRoot,
    Statement,
    Table,
    Verbatim,
    Written,
    Zeros,
)
from emdeg.documents.notation import Notation, coefficient, factored, lines, parts, plain_sign, readable, whole

WIDTH = 110
_BREAK = re.compile(r" (?=[+-] )")
"""Where a line may end inside brackets too."""


def _over(above: TrigPoly, below: TrigPoly, notation: Notation) -> str:
    plain = len(below) == 1 and len(below.generators) == 1 and below.total_degree == 1
    top, bottom = whole(above, notation), whole(below, notation)
    return f"{_bracketed(top, len(above))}/{_bracketed(bottom, 1 if plain else 2)}"


def _bracketed(text: str, terms: int) -> str:
    return f"({text})" if terms > 1 else text


NOTATION = Notation(
    letter=lambda algebra, generator: algebra.letter(generator),
    atom=lambda atom: atom.text,
    label=str,
    number=readable,
    coefficient=coefficient,
    times="*",
    power="{}^{}".format,
    bracket="({})".format,
    over=_over,
    signed=plain_sign,
    zero="0",
)
EXACT = replace(NOTATION, number=str)
"""The same with every number an exact ratio, for other programs."""


def write(document: Document) -> str:
    """The document as plain text."""
    blocks = [document.title, "=" * len(document.title)]
    if document.subtitle:
        blocks.append(document.subtitle)
    blocks += [f"{figure} {what}" for figure, what in document.highlights]
    for section in document.sections:
        blocks += ["", *_section(section)]
    if document.made_by:
        blocks += ["", document.made_by]
    return "\n".join(blocks) + "\n"


def line(value: Formula, notation: Notation = NOTATION) -> str:
    """A formula in one line."""
    return " ".join(formula(value, notation))


def formula(value: Formula, notation: Notation = NOTATION) -> list[str]:
    """The parts of a formula, each to stay on one line."""
    match value:
        case TrigPoly() | Combination():
            return parts(value, notation)
        case Sum():
            return _BREAK.split(whole(value, notation))
        case Quotient():
            top = formula(value.numerator, notation)
            if value.denominator == 1:
                return top
            bottom = line(value.denominator, notation)
            return [_bracketed(" ".join(top), len(top)), "/ " + _bracketed(bottom, 2)]
        case SquareRoot():
            return [f"sqrt({line(value.of, notation)})"]
        case AbbreviatedFormula():
            return formula(value.shown, notation)
        case FactoredFormula():
            found = factored(value, notation)
            top, bottom = notation.times.join(found.above), notation.times.join(found.below)
            under = [f"/ {_bracketed(bottom, len(found.below))}"] if bottom else []
            return [one for text in (notation.signed(found.minus, True, top), *under) for one in _BREAK.split(text)]
        case Written():
            return _BREAK.split(value.text)
        case Reference():
            return [str(value)]
        case _:
            assert_never(value)


def cell(value: Cell) -> str:
    """A table's cell."""
    return value if isinstance(value, str) else str(value) if isinstance(value, Label) else line(value)


def _section(section: Section) -> list[str]:
    return [section.title, "-" * len(section.title), *_items(section.items)]


def _items(items: Iterable[Item]) -> list[str]:
    return [text for item in items for text in _item(item)]


def _item(item: Item) -> list[str]:
    match item:
        case Equation():
            return [_wrapped(f"{item.label} = ", formula(item.value))]
        case MatrixEquation():
            return [_matrix(item)]
        case Zeros():
            return ["\n      ".join(lines([f"{label}," for label in item.labels], WIDTH)).rstrip(",") + " = 0"]
        case Statement():
            return [_wrapped("", _BREAK.split(item.formula.text))]
        case Table():
            return ([item.title] if item.title else []) + [_table(item)]
        case Facts():
            return [f"{name}: {value}" for name, value in item.rows]
        case Paragraph() | Verbatim():
            return [item.text]
        case Note():
            return [f"{'Warning: ' if item.warning else ''}{item.text}"]
        case Figures():
            return [f"[figure] {text}" for text in (*(f.caption for f in item.figures), item.caption) if text]
        case Files():
            return [f"{file.name}: {file.about}" for file in item.files]
        case Folded():
            return ["", *_section(Section("", item.title, item.items))]
        case Special():
            return _items(item.plain)
        case _:
            assert_never(item)


def _wrapped(head: str, parts: list[str]) -> str:
    return head + ("\n" + " " * len(head)).join(lines(parts, WIDTH - len(head)))


def _matrix(item: MatrixEquation) -> str:
    """A matrix in brackets, or entry by entry where that is too wide."""
    cells = [[line(entry) for entry in row] for row in item.rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    if sum(widths) + 3 * len(widths) <= WIDTH + 30:
        rows = ["[ " + "   ".join(c.ljust(w) for c, w in zip(row, widths)) + " ]" for row in cells]
        return f"{item.label} = {rows[0]}" if len(rows) == 1 else f"{item.label} =\n  " + "\n  ".join(rows)
    found = [f"{item.label}: {len(cells)} x {len(cells[0])}, what is not listed is zero"]
    for i, row in enumerate(item.rows, 1):
        for j, entry in enumerate(row, 1):
            if (parts := formula(entry)) != ["0"]:
                found.append(_wrapped(f"  [{i},{j}] = ", parts))
    return "\n".join(found)


def _table(item: Table) -> str:
    cells = [item.head, *(tuple(cell(value) for value in row) for row in item.rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(item.head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in cells)
