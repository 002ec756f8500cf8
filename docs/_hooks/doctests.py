"""Docstrings as they are meant: they are written for people and for doctest, not for Markdown.

A Griffe extension. A doctest is fenced, since `>>>` would be a quotation; M[i][j] stays itself, since `[i][j]` would be
a link.
"""

from __future__ import annotations

import re

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
        lines.append(line if inside else no_links(line))
    if inside:
        lines.append("```")
    return "\n".join(lines)


def no_links(line: str) -> str:
    """The line with the brackets of a second index escaped, code between backticks left alone."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else part.replace("][", "]\\[") for part in parts)


class Doctests(Extension):
    """Every docstring, before it is rendered."""

    def on_instance(self, *, obj, **_) -> None:
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
