"""Plain text inside HTML, SVG and MathML."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape as html_escape

from emdeg.documents.files import plain


def escape(text: str) -> str:
    """Plain text for HTML, SVG and MathML, in content and in quoted attributes."""
    return html_escape(plain(text), quote=True)


def preformatted(lines: str) -> str:
    """The same for text whose line ends stay."""
    return "\n".join(escape(line) for line in lines.split("\n"))


def row(cells: Iterable[str], kinds: Iterable[str] = (), tag: str = "td", heads: Iterable[str] = ()) -> str:
    """A row of a table; `cells` are markup already, `kinds` their classes, `heads` what their columns are called.

    >>> row(["a", "1"], ["", "n"])
    '<tr><td>a</td><td class="n">1</td></tr>'
    >>> row(["1"], ["n"], heads=["mass"])
    '<tr><td class="n" data-head="mass">1</td></tr>'
    """
    cells = list(cells)
    classes = [f' class="{kind}"' if kind else "" for kind in kinds] or [""] * len(cells)
    told = [f' data-head="{head}"' if head else "" for head in heads] or [""] * len(cells)
    return "<tr>" + "".join(f"<{tag}{a}{b}>{cell}</{tag}>" for cell, a, b in zip(cells, classes, told)) + "</tr>"
