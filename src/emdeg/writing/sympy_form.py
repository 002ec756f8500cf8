"""Equations as SymPy objects, and as lines that SymPy reads."""

from __future__ import annotations

from typing import Any

from emdeg.writing.document import Document, Equation, MatrixEquation, Table, Zeros


def expressions(document: Document) -> dict[str, Any]:
    """{name: SymPy expression or matrix} of every equation, in real symbols q1, qd1 and the parameters."""
    import sympy

    found: dict[str, Any] = {}
    for section in document.sections:
        for item in section.items:
            if isinstance(item, Equation):
                found[str(item.label)] = item.value.to_sympy()
            elif isinstance(item, MatrixEquation):
                found[str(item.label)] = sympy.Matrix([[entry.to_sympy() for entry in row] for row in item.rows])
            elif isinstance(item, Zeros):
                found |= {str(label): sympy.Integer(0) for label in item.labels}
    return found


def write(document: Document) -> str:
    """One line for each equation, name = expression; tables and remarks are comments."""
    blocks = [f"# {_comment(document.title)}"]
    for section in document.sections:
        blocks.append(f"# {_comment(section.title)}")
        for item in section.items:
            if isinstance(item, Table):
                blocks += [f"# {_comment('  '.join(row))}" for row in (item.head, *item.rows)]
            elif isinstance(item, (Equation, MatrixEquation, Zeros)):
                part = Document("", (type(section)(section.part, "", (item,)),))
                blocks += [f"{name} = {value}" for name, value in expressions(part).items()]
            else:
                blocks.append(f"# {_comment(item.text)}")
    return "\n".join(blocks) + "\n"


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
