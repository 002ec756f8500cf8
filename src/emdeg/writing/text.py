"""Equations as plain text."""

from __future__ import annotations

from emdeg.algebra import TrigPoly
from emdeg.algebra.quotient import Quotient
from emdeg.equations.reading.printed import Printed
from emdeg.writing.document import Document, Equation, Formula, Item, MatrixEquation, Table, Zeros
from emdeg.writing.numbers import readable
from emdeg.writing.terms import joined, lines, signed_products

WIDTH = 110


def write(document: Document) -> str:
    """The document as plain text."""
    blocks = [document.title, "=" * len(document.title)]
    for section in document.sections:
        blocks += ["", section.title, "-" * len(section.title)]
        for item in section.items:
            blocks.append(_item(item))
    return "\n".join(blocks) + "\n"


def formula(value: Formula) -> list[str]:
    """The parts of a formula, each to stay on one line."""
    if isinstance(value, TrigPoly):
        letter = value.algebra.letter

        return joined(signed_products(value, lambda g, e: letter(g) + ("" if e == 1 else f"^{e}"), readable, "*"))
    if isinstance(value, Quotient):
        top = formula(value.numerator)
        if value.denominator == 1:
            return top
        bottom = formula(value.denominator)
        return [_bracketed(" ".join(top), len(top)), "/ " + _bracketed(" ".join(bottom), 2)]
    return value.text_parts if isinstance(value, Printed) else [str(value)]


def _bracketed(text: str, terms: int) -> str:
    return f"({text})" if terms > 1 else text


def _item(item: Item) -> str:
    if isinstance(item, Equation):
        head = f"{item.label} = "
        parts = lines(formula(item.value), WIDTH - len(head))
        return head + ("\n" + " " * len(head)).join(parts)
    if isinstance(item, MatrixEquation):
        cells = [[" ".join(formula(entry)) for entry in row] for row in item.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
        if sum(widths) + 3 * len(widths) <= WIDTH + 30:
            rows = ["  [ " + "   ".join(c.ljust(w) for c, w in zip(row, widths)) + " ]" for row in cells]
            return "\n".join([f"{item.label} =", *rows])
        found = [f"{item.label}: {len(cells)} x {len(cells[0])}, what is not listed is zero"]
        for i, row in enumerate(item.rows, 1):
            for j, entry in enumerate(row, 1):
                if (parts := formula(entry)) != ["0"]:
                    head = f"  [{i},{j}] = "
                    found.append(head + ("\n" + " " * len(head)).join(lines(parts, WIDTH - len(head))))
        return "\n".join(found)
    if isinstance(item, Zeros):
        return "\n      ".join(lines([f"{label}," for label in item.labels], WIDTH)).rstrip(",") + " = 0"
    if isinstance(item, Table):
        cells = [item.head, *item.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(item.head))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in cells)
    return item.text
