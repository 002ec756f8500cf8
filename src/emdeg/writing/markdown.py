"""Equations as Markdown with LaTeX between dollar signs."""

from __future__ import annotations

from emdeg.writing import latex
from emdeg.writing.document import Document, Equation, Item, MatrixEquation, Table, Zeros
from emdeg.writing.terms import lines


def write(document: Document) -> str:
    """The document as Markdown."""
    blocks = [f"# {escape(document.title)}"]
    for section in document.sections:
        blocks.append(f"## {escape(section.title)}")
        blocks += [_item(item) for item in section.items]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Plain text for Markdown: nothing in it is markup or HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_{}[]#|$~!" else c if c.isprintable() else "?" for c in text)


def _item(item: Item) -> str:
    if isinstance(item, Equation):
        first, *more = lines(latex.formula(item.value), latex.WIDTH)
        return _aligned([f"{item.label.latex} ={{}}& {first}", *(rf"& \quad {line}" for line in more)])
    if isinstance(item, MatrixEquation):
        rows = " \\\\\n".join(" & ".join(" ".join(latex.formula(entry)) for entry in row) for row in item.rows)
        return f"$$\n{item.label.latex} = \\begin{{pmatrix}}\n{rows}\n\\end{{pmatrix}}\n$$"
    if isinstance(item, Zeros):
        return "$" + ",\\ ".join(label.latex for label in item.labels) + " = 0$"
    if isinstance(item, Table):
        rows = [item.head, ("---",) * len(item.head), *item.rows]
        return "\n".join("| " + " | ".join(c if c == "---" else escape(c) for c in row) + " |" for row in rows)
    return escape(item.text)


def _aligned(equations: list[str]) -> str:
    if len(equations) == 1:
        return f"$$\n{equations[0].replace('={}&', '=')}\n$$"
    return "$$\n\\begin{aligned}\n" + " \\\\\n".join(equations) + "\n\\end{aligned}\n$$"
