"""Documents as HTML with MathML inside; well-formed XML too, so that other programs can read it.

Every text goes through `escape`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import assert_never

from emdeg.documents import mathml, text
from emdeg.documents.document import (
    Cell,
    Document,
    Equation,
    Facts,
    Figure,
    Figures,
    File,
    Files,
    Folded,
    Item,
    Label,
    MatrixEquation,
    Note,
    Paragraph,
    Section,
    Special,
    Statement,
    Table,
    Verbatim,
    Zeros,
)
from emdeg.documents.drawing import svg
from emdeg.documents.markup import escape, preformatted, row
from emdeg.documents.mathml import inline

LARGEST_MATRIX = 260
"""Characters of a matrix's entries up to which a page shows it as one."""
_EQUALS = "<mo>=</mo>"
_ZERO = "<mn>0</mn>"


class HtmlWriter:
    """Items as HTML. A room with items of its own adds cases to `item`."""

    broken = False
    """Whether formulas are cut into pieces, so that a narrow page can wrap them; else each is one element."""

    def sections(self, sections: Iterable[Section]) -> str:
        return "".join(self.section(section) for section in sections)

    def section(self, section: Section) -> str:
        return f"<h2>{escape(section.title)}</h2>\n{self.items(section.items)}"

    def items(self, items: Iterable[Item]) -> str:
        return "".join(self.item(item) for item in items)

    def item(self, item: Item) -> str:
        """One item."""
        match item:
            case Equation():
                return self.equation(item)
            case MatrixEquation():
                return self.matrix(item)
            case Zeros():
                return self.zeros(item.labels)
            case Statement():
                return f'<p class="statement">{mathml.block(f"<mrow>{mathml.formula(item.formula)}</mrow>")}</p>\n'
            case Table():
                return _titled(item.title, self.table(item), item.folded)
            case Facts():
                rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in item.rows)
                return f"<dl>{rows}</dl>\n"
            case Paragraph():
                return f"<p>{escape(item.text)}</p>\n"
            case Note():
                return f'<p class="note{" warn" if item.warning else ""}">{escape(item.text)}</p>\n'
            case Verbatim():
                return f'<pre class="command"><code>{preformatted(item.text)}</code></pre>\n'
            case Figures():
                return _figures(item)
            case Files():
                return f'<ul class="files">{"".join(f"<li>{self.file(file)}</li>" for file in item.files)}</ul>\n'
            case Folded():
                body = f'<div class="formulas">{self.items(item.items)}</div>'
                return fold(escape(item.title), body, item.open)
            case Special():
                return self.items(item.plain)
            case _:
                assert_never(item)

    def equation(self, item: Equation) -> str:
        if self.broken:
            return _sum(item.label, mathml.pieces(item.value))
        return mathml.block(f"<mrow>{mathml.label(item.label)}{_EQUALS}{mathml.formula(item.value)}</mrow>") + "\n"

    def matrix(self, item: MatrixEquation) -> str:
        """As one, or entry by entry where a page could not wrap it."""
        whole = f"{mathml.label(item.label)}{_EQUALS}{mathml.matrix(item.rows)}"
        if not self.broken:
            return mathml.block(f"<mrow>{whole}</mrow>") + "\n"
        if sum(len(text.line(entry)) for line in item.rows for entry in line) < LARGEST_MATRIX:
            return f'<div class="sum scroll">{inline(whole)}</div>\n'
        size = f"{len(item.rows)} × {len(item.rows[0])}"
        found = [f"<p>{inline(mathml.label(item.label))} is {size}; entries not listed vanish.</p>"]
        for i, line in enumerate(item.rows, 1):
            for j, entry in enumerate(line, 1):
                if text.line(entry) != "0":
                    place = Label(item.label.letter, f"{item.label.subscript}_{i}_{j}")
                    found.append(_sum(place, mathml.pieces(entry)))
        return "".join(found)

    def zeros(self, labels: Iterable[Label]) -> str:
        names = [mathml.label(label) for label in labels]
        if self.broken:
            return f'<p class="zeros">{", ".join(map(inline, names))} {inline(_EQUALS + _ZERO)}</p>\n'
        return mathml.block(f"<mrow>{'<mo>,</mo>'.join(names)}{_EQUALS}{_ZERO}</mrow>") + "\n"

    def file(self, file: File) -> str:
        """A link that saves the file, which is inside it."""
        packed = base64.b64encode(file.text.encode()).decode()
        kind = "application/json" if file.name.endswith(".json") else "text/plain;charset=utf-8"
        link = f'<a download="{escape(file.name)}" href="data:{kind};base64,{packed}">{escape(file.name)}</a>'
        return f"{link} <span>{escape(file.about)}</span>"

    def table(self, item: Table) -> str:
        kinds = [_kind(column) for column in zip(*item.rows)] or [""] * len(item.head)
        rows = [[self.cell(cell) for cell in line] for line in item.rows]
        return table([escape(cell) for cell in item.head], rows, kinds)

    def cell(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return escape(cell)
        pieces = [mathml.label(cell)] if isinstance(cell, Label) else mathml.pieces(cell)
        return " ".join(inline(piece) for piece in pieces)


def write(document: Document) -> str:
    """The document as a page of its own, each formula one element of MathML."""
    title = escape(document.title)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="UTF-8"/>'
        f"<title>{title}</title></head><body>\n<h1>{title}</h1>\n{body(document)}</body></html>\n"
    )


def body(document: Document) -> str:
    """The sections alone, to be put into another page."""
    return HtmlWriter().sections(document.sections)


def fold(summary: str, body: str, is_open: bool, kind: str = "part", key: str = "") -> str:
    """What opens and closes under its summary."""
    anchor, opened = f' id="{key}"' if key else "", ' open=""' if is_open else ""
    return f'<details class="{kind}"{anchor}{opened}><summary>{summary}</summary>{body}</details>\n'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[str] = ()) -> str:
    """A table of cells that are markup already; `kinds` are the columns' classes.

    With formulas in it, each cell bears its column's head, so that a narrow page can set a row in several lines.
    """
    top = row(head, kinds, "th")
    told = "f" in kinds
    inside = "".join(row(cells, kinds, heads=head if told else ()) for cells in rows)
    kind = ' class="told"' if told else ""
    return f'<div class="scroll"><table{kind}><thead>{top}</thead><tbody>{inside}</tbody></table></div>\n'


def _kind(column: Sequence[Cell]) -> str:
    """n for numbers, f for formulas."""
    if all(isinstance(cell, str) for cell in column):
        texts = [cell for cell in column if isinstance(cell, str)]
        return "n" if any(texts) and all(_is_number(cell) for cell in texts) else ""
    return "" if any(isinstance(cell, Label) for cell in column) else "f"


def _is_number(cell: str) -> bool:
    try:
        float(cell.removeprefix("< ").removesuffix(" %").removesuffix(" deg") or "0")
    except ValueError:
        return False
    return True


def _titled(title: str, content: str, folded: bool) -> str:
    if folded:
        return fold(escape(title or "Table"), content, False)
    return f'<div class="block">{f"<h3>{escape(title)}</h3>" if title else ""}{content}</div>\n'


def _sum(label: Label, pieces: Iterable[str]) -> str:
    return f'<div class="sum">{inline(mathml.label(label) + _EQUALS)} {" ".join(map(inline, pieces))}</div>\n'


def _figures(item: Figures) -> str:
    drawn = "".join(_figure(one) for one in item.figures)
    caption = f'<p class="caption">{escape(item.caption)}</p>' if item.caption else ""
    kind = "wide" if len(item.figures) == 1 else "small" if len(item.figures) > 2 else "pair"
    return f'<div class="figures {kind}">{drawn}</div>{caption}\n'


def _figure(figure: Figure) -> str:
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>" if figure.caption else ""
    return f'<figure id="fig-{figure.name}">{svg(figure.drawing)}{caption}</figure>'
