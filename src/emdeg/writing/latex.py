"""Equations as a LaTeX document that needs amsmath and nothing else."""

from __future__ import annotations

from fractions import Fraction

from emdeg.algebra import TrigPoly
from emdeg.algebra.quotient import Quotient
from emdeg.equations.reading.printed import Printed
from emdeg.writing.document import Document, Equation, Formula, Item, MatrixEquation, Table, Zeros
from emdeg.writing.numbers import mantissa_and_exponent, readable
from emdeg.writing.terms import joined, lines, signed_products

WIDTH = 150
"""Characters of source in one line of an equation: about what fits a page."""
MATRIX_WIDTH = 330
"""Characters of source a matrix may have and still be set as one."""
ROWS = 45
"""Rows of a table that fit a page."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}

PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\allowdisplaybreaks
\setcounter{MaxMatrixCols}{64}
\begin{document}
"""


def escape(text: str) -> str:
    """Plain text for LaTeX; characters outside ASCII become a question mark, because fonts lack most of them."""
    return "".join(_SPECIAL.get(c, c if c.isascii() and c.isprintable() else "?") for c in text)


def write(document: Document) -> str:
    """The document as LaTeX source."""
    return PREAMBLE + f"\\section*{{{escape(document.title)}}}\n" + body(document) + "\\end{document}\n"


def body(document: Document) -> str:
    """The sections alone, to be put into another document."""
    blocks: list[str] = []
    for section in document.sections:
        blocks.append(f"\\subsection*{{{escape(section.title)}}}")
        equations: list[str] = []
        for item in section.items:
            if isinstance(item, Equation):
                equations += _equation(item)
                continue
            blocks += _aligned(equations)
            equations = []
            blocks += _item(item)
        blocks += _aligned(equations)
    return "\n".join(blocks) + "\n"


def formula(value: Formula) -> list[str]:
    """The parts of a formula, each to stay on one line."""
    if isinstance(value, TrigPoly):
        return joined(signed_products(value, lambda g, e: g.latex + ("" if e == 1 else f"^{{{e}}}"), number, r"\,"))
    if isinstance(value, Quotient):
        if value.denominator == 1:
            return formula(value.numerator)
        top, bottom = formula(value.numerator), formula(value.denominator)
        if len(" ".join(top)) < WIDTH and len(" ".join(bottom)) < WIDTH:
            return [rf"\frac{{{' '.join(top)}}}{{{' '.join(bottom)}}}"]
        return [r"\bigl(" + top[0], *top[1:], r"\bigr) \big/ \bigl(" + bottom[0], *bottom[1:], r"\bigr)"]
    return value.latex_parts if isinstance(value, Printed) else [value.latex]


def number(value: Fraction) -> str:
    """A positive rational in mathematics mode."""
    text = readable(value)
    if "/" in text:
        return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"
    mantissa, exponent = mantissa_and_exponent(text)
    return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa


def _equation(item: Equation) -> list[str]:
    first, *more = lines(formula(item.value), WIDTH)
    return [f"{item.label.latex} ={{}}& {first}", *(rf"& \quad {line}" for line in more)]


def _aligned(equations: list[str]) -> list[str]:
    if not equations:
        return []
    return [r"\begin{align*}", " \\\\\n".join(equations), r"\end{align*}"]


def _item(item: Item) -> list[str]:
    if isinstance(item, MatrixEquation):
        cells = [[" ".join(formula(entry)) for entry in row] for row in item.rows]
        widest = sum(max(len(row[k]) for row in cells) for k in range(len(cells[0])))
        if widest < MATRIX_WIDTH:
            rows = " \\\\\n".join(" & ".join(row) for row in cells)
            matrix = f"\\begin{{pmatrix}}\n{rows}\n\\end{{pmatrix}}"
            return [f"\\[ {item.label.latex} = {matrix} \\]"]
        found = []
        for i, row in enumerate(item.rows, 1):
            for j, entry in enumerate(row, 1):
                if (parts := formula(entry)) != ["0"]:
                    first, *more = lines(parts, WIDTH)
                    found.append(f"[{item.label.latex}]_{{{i},{j}}} ={{}}& {first}")
                    found += [rf"& \quad {line}" for line in more]
        size = f"{len(cells)} \\times {len(cells[0])}"
        return [f"${item.label.latex}$ is ${size}$; entries not listed vanish.", *_aligned(found)]
    if isinstance(item, Zeros):
        parts = lines([label.latex + "," for label in item.labels], WIDTH * 2)
        parts[-1] = parts[-1].rstrip(",") + " = 0"
        return [r"\begin{gather*}", " \\\\\n".join(parts), r"\end{gather*}"]
    if isinstance(item, Table):
        blocks: list[str] = []
        for start in range(0, len(item.rows), ROWS):
            part = (item.head, *item.rows[start : start + ROWS])
            rows = " \\\\\n".join(" & ".join(escape(cell) for cell in row) for row in part)
            blocks += ["\\par\\noindent", f"\\begin{{tabular}}{{{'l' * len(item.head)}}}", rows, r"\end{tabular}", ""]
        return blocks
    if isinstance(item, Equation):
        return _aligned(_equation(item))
    return ["", r"\noindent " + escape(item.text), ""]
