"""Documents and formulas as LaTeX. Needs amsmath, graphicx, longtable and geometry; figures are PDF files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from emdeg.algebra import Quotient, Sum, TrigPoly
from emdeg.documents.document import (
    AbbreviatedFormula,
    Cell,
    Combination,
    Document,
    Equation,
    FactoredFormula,
    Facts,
    Figure,
    Figures,
    Files,
    Folded,
    Formula,
    Item,
    Label,
    MatrixEquation,
    Note,
    Paragraph,
    Reference,
    Section,
    Special,
    SquareRoot,
    Statement,
    Table,
    Verbatim,
    Written,
    Zeros,
)
from emdeg.documents.notation import (
    Notation,
    factored,
    latex_coefficient,
    latex_number,
    lines,
    parts,
    plain_sign,
    whole,
)

WIDTH = 150
"""Characters of source in one line of an equation: about what fits a page."""
MATRIX_WIDTH = 330
"""Characters of source a matrix may have and still be set as one."""
ROWS = 80
"""Rows of one environment of equations: TeX holds a whole one in memory."""
CELL = 60
"""Characters of a table's cell that stay on one line."""
FOLDER = "figures"
"""Where the figures' files are, seen from the source."""
_BREAK = re.compile(r" (?=[+-] )")

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
    "²": r"\textsuperscript{2}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "…": r"\dots{}",
}

PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{amsmath}
\usepackage{graphicx}
\usepackage{longtable}
\allowdisplaybreaks
\setcounter{MaxMatrixCols}{64}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 2pt}
\setlength{\tabcolsep}{4pt}
\sloppy
\raggedbottom
"""


def latex_escape(text: str) -> str:
    """Plain text for LaTeX; most characters outside ASCII become a question mark, because fonts lack them."""
    return "".join(_SPECIAL.get(c, c if c.isascii() and c.isprintable() else "?") for c in text)


def _over(above: TrigPoly, below: TrigPoly, notation: Notation) -> str:
    return rf"\frac{{{whole(above, notation)}}}{{{whole(below, notation)}}}"


NOTATION = Notation(
    letter=lambda algebra, generator: algebra.latex_letter(generator),
    atom=lambda atom: atom.latex,
    label=lambda label: label.latex,
    number=latex_number,
    coefficient=latex_coefficient,
    times=r"\,",
    power="{}^{{{}}}".format,
    # Of one size, because a bracket may open and close on different lines.
    bracket=r"\bigl({}\bigr)".format,
    over=_over,
    signed=plain_sign,
    zero="0",
)


def line(value: Formula) -> str:
    """A formula in one line."""
    return " ".join(formula(value))


def formula(value: Formula) -> list[str]:
    """The parts of a formula, each to stay on one line."""
    match value:
        case TrigPoly() | Combination():
            return parts(value, NOTATION)
        case Sum():
            return _BREAK.split(whole(value, NOTATION))
        case Quotient():
            if value.denominator == 1:
                return formula(value.numerator)
            return _fraction(formula(value.numerator), formula(value.denominator))
        case SquareRoot():
            return [rf"\sqrt{{{line(value.of)}}}"]
        case AbbreviatedFormula():
            return formula(value.shown)
        case FactoredFormula():
            found = factored(value, NOTATION)
            top, bottom = (_BREAK.split(NOTATION.times.join(some)) for some in (found.above, found.below))
            first, *more = _fraction(top, bottom) if found.below else top
            return [plain_sign(found.minus, True, first), *more]
        case Written():
            return _BREAK.split(value.latex) if r"\frac" not in value.latex else [value.latex]
        case Reference():
            return [value.latex]
        case _:
            assert_never(value)


def _fraction(top: list[str], bottom: list[str]) -> list[str]:
    """The parts above and below a line, or with a slash between them where they are long."""
    if len(" ".join(top)) < WIDTH and len(" ".join(bottom)) < WIDTH:
        return [rf"\frac{{{' '.join(top)}}}{{{' '.join(bottom)}}}"]
    return [r"\bigl(" + top[0], *top[1:], r"\bigr) \big/ \bigl(" + bottom[0], *bottom[1:], r"\bigr)"]


def equation(label: str, parts: list[str], width: int = WIDTH) -> list[str]:
    """The rows of an `align*` environment for label = the parts."""
    first, *more = lines(parts, width)
    return [f"{label} ={{}}& {first}", *(rf"& \quad {row}" for row in more)]


def environment(name: str, rows: Sequence[str]) -> str:
    """The rows in one environment, or in several where they are many."""
    found = ""
    for start in range(0, len(rows), ROWS):
        body = " \\\\\n".join(rows[start : start + ROWS])
        found += f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}\n"
    return found


class LatexWriter:
    """Items as LaTeX. A room with items of its own adds cases to `item`."""

    preamble = PREAMBLE

    def write(self, document: Document) -> str:
        """The document as LaTeX source."""
        subtitle = f"{latex_escape(document.subtitle)}\\par\n" if document.subtitle else ""
        facts = ", ".join(f"{latex_escape(figure)} {latex_escape(what)}" for figure, what in document.highlights)
        facts = f"{facts}.\\par\n" if facts else ""
        made_by = f"\\bigskip {{\\small {latex_escape(document.made_by)}}}\n" if document.made_by else ""
        return (
            f"{self.preamble}\\begin{{document}}\n{{\\LARGE\\bfseries {latex_escape(document.title)}\\par}}\n{subtitle}"
            f"{facts}{self.sections(document.sections)}{made_by}\\end{{document}}\n"
        )

    def sections(self, sections: Iterable[Section]) -> str:
        return "".join(f"\\section*{{{latex_escape(s.title)}}}\n{self.items(s.items)}" for s in sections)

    def items(self, items: Iterable[Item]) -> str:
        """The items; equations that follow each other are aligned."""
        found = ""
        rows: list[str] = []
        for item in items:
            if isinstance(item, Equation):
                rows += equation(item.label.latex, formula(item.value))
                continue
            found += environment("align*", rows) + self.item(item)
            rows = []
        return found + environment("align*", rows)

    def item(self, item: Item) -> str:
        """One item."""
        match item:
            case Equation():
                return environment("align*", equation(item.label.latex, formula(item.value)))
            case MatrixEquation():
                return _matrix(item)
            case Zeros():
                return zeros(item.labels)
            case Statement():
                return f"\\[ {item.formula.latex} \\]\n"
            case Table():
                return _table(item)
            case Facts():
                rows = "".join(f"\\item[{latex_escape(name)}] {latex_escape(value)}\n" for name, value in item.rows)
                return f"\\begin{{description}}\\itemsep0pt\n{rows}\\end{{description}}\n"
            case Paragraph():
                return f"{latex_escape(item.text)}\\par\n"
            case Note():
                return f"\\textit{{{'Warning: ' if item.warning else ''}{latex_escape(item.text)}}}\\par\n"
            case Verbatim():
                return "".join(f"\\texttt{{{latex_escape(text)}}}\\par\n" for text in item.text.splitlines())
            case Figures():
                return _figures(item)
            case Files():
                return (
                    "Files in the HTML page: " + ", ".join(latex_escape(file.name) for file in item.files) + ".\\par\n"
                )
            case Folded():
                return f"\\subsection*{{{latex_escape(item.title)}}}\n{self.items(item.items)}"
            case Special():
                return self.items(item.plain)
            case _:
                assert_never(item)


def write(document: Document) -> str:
    """The document as LaTeX source."""
    return LatexWriter().write(document)


def figures(document: Document) -> list[Figure]:
    """Every figure that the source includes, once."""
    found: dict[str, Figure] = {}
    for item in document.items:
        for one in item.plain if isinstance(item, Special) else (item,):
            if isinstance(one, Figures):
                found |= {figure.name: figure for figure in one.figures}
    return list(found.values())


def zeros(labels: Iterable[Label]) -> str:
    """labels = 0."""
    rows = lines([label.latex + "," for label in labels], WIDTH)
    rows[-1] = rows[-1].rstrip(",") + " = 0"
    return environment("gather*", rows)


def _matrix(item: MatrixEquation) -> str:
    cells = [[line(entry) for entry in row] for row in item.rows]
    widest = sum(max(len(row[k]) for row in cells) for k in range(len(cells[0])))
    if widest < MATRIX_WIDTH:
        rows = " \\\\\n".join(" & ".join(row) for row in cells)
        return f"\\[ {item.label.latex} = \\begin{{pmatrix}}\n{rows}\n\\end{{pmatrix}} \\]\n"
    found: list[str] = []
    for i, row in enumerate(item.rows, 1):
        for j, entry in enumerate(row, 1):
            if (parts := formula(entry)) != ["0"]:
                found += equation(f"[{item.label.latex}]_{{{i},{j}}}", parts)
    size = f"{len(cells)} \\times {len(cells[0])}"
    return f"${item.label.latex}$ is ${size}$; entries not listed vanish.\n" + environment("align*", found)


def _table(table: Table) -> str:
    """A table that may run over pages; wide ones are set small, long texts wrap, formulas are listed behind it."""
    if not table.head or not table.rows:
        return ""
    kept = [k for k, column in enumerate(zip(*table.rows)) if all(isinstance(c, (str, Label)) for c in column)]
    widest = [max(len(table.head[k]), *(len(str(row[k])) for row in table.rows)) for k in kept]
    total = sum(min(w, CELL) for w in widest) + 2 * len(kept)
    size = "\\small" if total < 85 else "\\footnotesize" if total < 105 else "\\scriptsize"
    kinds = "".join("l" if w <= CELL else "p{0.55\\textwidth}" for w in widest)
    head = " & ".join(latex_escape(table.head[k]) for k in kept) + " \\\\ \\hline\\endhead"
    rows = " \\\\\n".join(" & ".join(_cell(row[k]) for k in kept) for row in table.rows)
    title = f"\\textbf{{{latex_escape(table.title)}}}\\par\\nopagebreak\n" if table.title else ""
    formulas: list[str] = []
    for row in table.rows:
        for cell in row:
            if not isinstance(cell, (str, Label)):
                formulas += equation(_cell(row[0]).strip("$"), formula(cell))
    return (
        f"{title}{{{size}\\begin{{longtable}}[l]{{@{{}}{kinds}@{{}}}}\n{head}\n{rows}\n\\end{{longtable}}}}\n"
        + environment("align*", formulas)
    )


def _cell(cell: Cell) -> str:
    return latex_escape(cell) if isinstance(cell, str) else f"${cell.latex if isinstance(cell, Label) else line(cell)}$"


def _figures(item: Figures) -> str:
    share = 1.0 if len(item.figures) == 1 else 0.49 if len(item.figures) == 2 else 0.32
    drawn = []
    for figure in item.figures:
        own = f"{min(0.72, figure.drawing.width / 650):.2f}"
        wide = f"width={share if share < 1 else own}\\textwidth"
        drawn.append(f"\\includegraphics[{wide}]{{{FOLDER}/{figure.name}.pdf}}")
    captions = " ".join(latex_escape(text) for text in (*(f.caption for f in item.figures), item.caption) if text)
    words = f"\\par{{\\small {captions}}}" if captions else ""
    return "\\begin{center}\n" + "\n".join(drawn) + words + "\n\\end{center}\n"
