"""Documents as Markdown with LaTeX between dollar signs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from emdeg.documents import latex
from emdeg.documents.document import (
    Cell,
    Document,
    Equation,
    Facts,
    Figures,
    Files,
    Folded,
    Item,
    Label,
    MatrixEquation,
    Note,
    Paragraph,
    Special,
    Statement,
    Table,
    Verbatim,
    Zeros,
)


def write(document: Document) -> str:
    """The document as Markdown."""
    blocks = [f"# {escape(document.title)}"]
    if document.subtitle:
        blocks.append(escape(document.subtitle))
    if document.highlights:
        blocks.append("\n".join(f"- **{escape(figure)}** {escape(what)}" for figure, what in document.highlights))
    for section in document.sections:
        blocks += [f"## {escape(section.title)}", *_items(section.items)]
    if document.made_by:
        blocks.append(escape(document.made_by))
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Plain text for Markdown: nothing in it is markup or HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_{}[]#|$~!" else c if c.isprintable() else "?" for c in text)


def _items(items: Iterable[Item]) -> list[str]:
    return [block for item in items for block in _item(item)]


def _item(item: Item) -> list[str]:
    match item:
        case Equation():
            return [_aligned(latex.equation(item.label.latex, latex.formula(item.value)))]
        case MatrixEquation():
            rows = " \\\\\n".join(" & ".join(latex.line(entry) for entry in row) for row in item.rows)
            return [f"$$\n{item.label.latex} = \\begin{{pmatrix}}\n{rows}\n\\end{{pmatrix}}\n$$"]
        case Zeros():
            return ["$" + ",\\ ".join(label.latex for label in item.labels) + " = 0$"]
        case Statement():
            return [f"$$\n{item.formula.latex}\n$$"]
        case Table():
            return ([f"**{escape(item.title)}**"] if item.title else []) + [_table(item)]
        case Facts():
            return ["\n".join(f"- {escape(name)}: {escape(value)}" for name, value in item.rows)]
        case Paragraph():
            return [escape(item.text)]
        case Note():
            return [f"*{'Warning: ' if item.warning else ''}{escape(item.text)}*"]
        case Verbatim():
            return ["\n".join(f"    {line}" for line in item.text.splitlines())]
        case Figures():
            return [f"*{escape(text)}*" for text in (*(f.caption for f in item.figures), item.caption) if text]
        case Files():
            return ["\n".join(f"- {escape(file.name)}: {escape(file.about)}" for file in item.files)]
        case Folded():
            return [f"### {escape(item.title)}", *_items(item.items)]
        case Special():
            return _items(item.plain)
        case _:
            assert_never(item)


def _table(item: Table) -> str:
    rows = [[escape(text) for text in item.head], ["---"] * len(item.head)]
    rows += [[_cell(cell) for cell in row] for row in item.rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape(cell)
    return f"${cell.latex if isinstance(cell, Label) else latex.line(cell)}$"


def _aligned(equations: list[str]) -> str:
    if len(equations) == 1:
        return f"$$\n{equations[0].replace('={}&', '=')}\n$$"
    return "$$\n\\begin{aligned}\n" + " \\\\\n".join(equations) + "\n\\end{aligned}\n$$"
