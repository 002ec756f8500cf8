"""Lets the API reference show doctests as code: a `>>>` in Markdown would be a quotation.

A Griffe extension: every docstring's doctest blocks are fenced before they are rendered, and its own indented lines
stay the code that they are.
"""

from __future__ import annotations

from griffe import Extension


def fenced(text: str) -> str:
    """The text with each block that begins with `>>>` between fences; it ends at an empty line."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if not inside and line.startswith(">>>"):
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines)


class Doctests(Extension):
    """Fences doctests in every docstring."""

    def on_instance(self, *, obj, **_) -> None:
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)
