"""The formats a document can be written in, by the names they have on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from emdeg.documents import html, latex, markdown, sympy_form, text
from emdeg.documents.document import Document

Format = Literal["text", "latex", "mathml", "markdown", "sympy"]
WRITERS: dict[Format, Callable[[Document], str]] = {
    "text": text.write,
    "latex": latex.write,
    "mathml": html.write,
    "markdown": markdown.write,
    "sympy": sympy_form.write,
}
