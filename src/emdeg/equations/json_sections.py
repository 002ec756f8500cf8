"""Sections as JSON data: formulas as terms, exact rationals as strings."""

from __future__ import annotations

from typing import Any

from emdeg.algebra import TrigPoly
from emdeg.algebra.quotient import Quotient
from emdeg.equations.json_form import formula_data
from emdeg.writing.document import Document, Equation, Formula, MatrixEquation, Reference, Table, Zeros


def sections_data(document: Document) -> dict[str, Any]:
    """{part: {"title", "equations": {name: formula or matrix of formulas}, "tables", "remarks"}}."""
    data: dict[str, Any] = {}
    for section in document.sections:
        equations: dict[str, Any] = {}
        tables: list[Any] = []
        remarks: list[str] = []
        for item in section.items:
            if isinstance(item, Equation):
                equations[str(item.label)] = formula(item.value)
            elif isinstance(item, MatrixEquation):
                equations[str(item.label)] = [[formula(entry) for entry in row] for row in item.rows]
            elif isinstance(item, Zeros):
                equations |= {str(label): [] for label in item.labels}
            elif isinstance(item, Table):
                tables.append([dict(zip(item.head, row)) for row in item.rows])
            else:
                remarks.append(item.text)
        data[section.part] = {
            "title": section.title,
            "equations": equations,
            "tables": tables,
            "remarks": remarks,
        }
    return data


def formula(value: Formula) -> Any:
    """Terms; of a quotient those above and below the line; of anything else its text."""
    if isinstance(value, Reference):
        return formula(value.value)
    if isinstance(value, TrigPoly):
        return formula_data(value)
    if isinstance(value, Quotient):
        return {"numerator": formula_data(value.numerator), "denominator": formula_data(value.denominator)}
    return str(value)
