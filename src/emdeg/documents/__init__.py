"""How things are written down: one document model and its formats, notebook display, files that are whole.

The model is `document` and `formula`; `formats` has its writers (text, LaTeX, MathML, Markdown, SymPy), `html` adds
figures and folds, `json_form` writes data. `notation` is the one walk over a formula, in which a format is a table.
"""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.documents import document, html, latex, mathml, text
    from emdeg.documents.document import (
        AbbreviatedFormula,
        Combination,
        Document,
        Equation,
        Factor,
        FactoredFormula,
        Facts,
        Figure,
        Figures,
        File,
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
        WrittenSum,
        WrittenTerm,
        Zeros,
        indices_of,
        label,
        labels_of,
        resolved,
    )
    from emdeg.documents.drawing import (
        BLUE,
        FAINT,
        GREEN,
        GROUND,
        INK,
        ORANGE,
        SOFT,
        Dot,
        Drawing,
        Line,
        Rectangle,
        Shape,
        Text,
        percent,
        shortened,
        svg,
    )
    from emdeg.documents.files import MODE, flush, held, nearest, part_of, plain, read_plain, write_whole
    from emdeg.documents.formats import WRITERS, Format
    from emdeg.documents.html import HtmlWriter, fold
    from emdeg.documents.json_form import sections_data, terms_data
    from emdeg.documents.latex import FOLDER, WIDTH, environment, figures, latex_escape
    from emdeg.documents.markup import escape
    from emdeg.documents.mathml import inline
    from emdeg.documents.notation import lines
    from emdeg.documents.notebook import Brief, Shown, brief, listing, table
    from emdeg.documents.pdf import write_pdf
    from emdeg.documents.tables import arrow, csv_columns, parquet, parquet_columns
    from emdeg.documents.text import line

on_demand(globals())
