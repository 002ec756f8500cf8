"""Mathematics of the pages as MathML, made when the site is built: no script, no font, nothing to load.

`pymdownx.arithmatex` finds $...$ and $$...$$ and leaves them as LaTeX in marked elements; here they become MathML.
LaTeX that cannot be converted is a warning, and `mkdocs build --strict` then fails.
"""

from __future__ import annotations

import logging
import re
from html import unescape

from latex2mathml.converter import convert

log = logging.getLogger("mkdocs.hooks.mathml")

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.S)


def on_page_content(html: str, page, **_) -> str:
    """mkdocs calls this with each page's HTML."""
    where = page.file.src_uri
    html = BLOCK.sub(lambda m: f'<div class="formula">{mathml(m[1], "block", where)}</div>', html)
    return INLINE.sub(lambda m: mathml(m[1], "inline", where), html)


def mathml(latex: str, display: str, where: str) -> str:
    """The formula as MathML; what is wrong with it is a warning that names the page and the formula."""
    formula = unescape(latex).strip()
    try:
        converted = convert(formula, display=display)
        problem = complaint(formula, converted)
    except Exception as error:  # whatever the converter trips over
        converted, problem = latex, f"{type(error).__name__} {error}"
    if problem:
        log.warning("%s: cannot convert the formula %r: %s", where, formula, problem)
    return converted


def complaint(formula: str, converted: str) -> str:
    """What the converter lets pass: braces that do not match, commands that it does not know."""
    braces = formula.replace(r"\{", "").replace(r"\}", "")
    if braces.count("{") != braces.count("}"):
        return "its braces do not match"
    unknown = re.search(r"\\[A-Za-z]+", converted)
    return f"{unknown[0]} is not known" if unknown else ""
