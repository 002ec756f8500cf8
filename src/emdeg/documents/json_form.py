"""Documents as JSON data: formulas as terms, exact rationals as strings."""

from __future__ import annotations

from typing import Any

from emdeg.algebra import Quotient, TrigPoly
from emdeg.documents import text
from emdeg.documents.document import (
    AbbreviatedFormula,
    Document,
    Equation,
    FactoredFormula,
    Formula,
    MatrixEquation,
    Note,
    Paragraph,
    Reference,
    Table,
    Zeros,
)


def sections_data(document: Document) -> dict[str, Any]:
    """{section: {"title", "equations": {name: formula or matrix of formulas}, "tables", "remarks"}}."""
    data: dict[str, Any] = {}
    for section in document.sections:
        equations: dict[str, Any] = {}
        tables: list[Any] = []
        remarks: list[str] = []
        for item in section.items:
            if isinstance(item, Equation):
                equations[str(item.label)] = formula_data(item.value)
            elif isinstance(item, MatrixEquation):
                equations[str(item.label)] = [[formula_data(entry) for entry in row] for row in item.rows]
            elif isinstance(item, Zeros):
                equations |= {str(label): [] for label in item.labels}
            elif isinstance(item, Table):
                tables.append([dict(zip(item.head, (text.cell(cell) for cell in row))) for row in item.rows])
            elif isinstance(item, (Paragraph, Note)):
                remarks.append(item.text)
        data[section.key] = {
            "title": section.title,
            "equations": equations,
            "tables": tables,
            "remarks": remarks,
        }
    return data


def formula_data(value: Formula) -> Any:
    """Terms; of a quotient those above and below the line; of anything else its text."""
    if isinstance(value, (Reference, AbbreviatedFormula, FactoredFormula)):
        return formula_data(value.value)
    if isinstance(value, TrigPoly):
        return terms_data(value)
    if isinstance(value, Quotient):
        return {"numerator": terms_data(value.numerator), "denominator": terms_data(value.denominator)}
    return text.line(value, text.EXACT)


def terms_data(formula: TrigPoly) -> list[Any]:
    """A formula as a list of terms [coefficient, {letter: exponent}]."""
    letter = formula.algebra.letter
    return [[str(c), {letter(g): e for g, e in monomial.items()}] for c, monomial in formula.terms()]
