"""One model, every format: each kind of item is written by each writer, and names stay text."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import get_args
from xml.etree import ElementTree

import pytest

from emdeg.algebra import TrigAlgebra
from emdeg.algebra.expression import Atom, Product, Sum
from emdeg.documents import html, latex, markdown, text
from emdeg.documents.document import (
    Combination,
    Document,
    Equation,
    Facts,
    Figure,
    Figures,
    File,
    Files,
    Folded,
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
from emdeg.documents.drawing import Drawing
from emdeg.documents.formats import WRITERS

NAME = r"<b>a_b</b> & 50% \x"


@dataclass(frozen=True)
class OnlyElsewhere(Special):
    """An item that none of the writers knows."""

    @property
    def plain(self) -> tuple[Item, ...]:
        return (Paragraph("in its place"),)


def everything() -> Document:
    algebra = TrigAlgebra(revolute=[1], parameters=["m"])
    sine, m = algebra.joint_sincos(1)[0], algebra.symbol("m")
    reading = Sum(
        (Product(Fraction(1, 3), (Atom("I1"), Sum((Product(Fraction(1)), Product(Fraction(-1), (Atom("m"),)))))),)
    )
    drawing = Drawing(10, 10, (), NAME)
    items: tuple[Item, ...] = (
        Equation(Label("M", "11"), sine * m + 1),
        Equation(Label("M", "12"), reading),
        Equation(Label("c", "1"), Combination(((1, Label("u", "1")),))),
        Equation(Label("h", "1"), SquareRoot(m)),
        Equation(Label("M", "22"), Reference(Label("M", "11"), Fraction(-1, 2), m)),
        MatrixEquation(Label("J"), ((sine, m), (m, sine))),
        Zeros((Label("b", "112"), Label("b", "113"))),
        Statement(Written("a = b", "a = b")),
        Table(("name", "value", "formula"), ((Label("I", "1"), "2.5", reading), (Label("I", "2"), "3", "")), NAME),
        Facts(((NAME, "1"),)),
        Paragraph(NAME),
        Note(NAME, warning=True),
        Verbatim(f"emdeg derive {NAME}"),
        Figures((Figure("one", drawing, NAME),), NAME),
        Files((File("a.c", "int a;", NAME),)),
        Folded(NAME, (Equation(Label("g", "1"), m),)),
        OnlyElsewhere(),
    )
    return Document(NAME, (Section("all", NAME, items),), NAME, (("5", NAME),), NAME)


def test_the_document_has_every_kind_of_item():
    found = {type(item) for item in everything().items} - {OnlyElsewhere}
    assert found == set(get_args(Item)) - {Special}


@pytest.mark.parametrize("format", ["text", "latex", "mathml", "markdown"])
def test_every_format_writes_every_item(format):
    written = WRITERS[format](everything())
    assert "in its place" in written
    for part in ("2.5", "emdeg derive"):
        assert part in written


def test_names_are_text_in_every_format():
    page = html.write(everything())
    ElementTree.fromstring(page)
    assert "<b>a_b" not in page
    assert "<b>a_b" not in markdown.write(everything()).replace(f"    emdeg derive {NAME}", "")  # a code block is text
    assert r"50\% \textbackslash{}x" in latex.write(everything())
    assert NAME in text.write(everything())


def test_a_formula_says_the_same_in_every_format():
    page = everything()
    assert "M11 = s1*m + 1" in text.write(page)
    assert "M12 = (1/3)*I1*(1 - m)" in text.write(page)
    assert r"M_{12} ={}& \tfrac{1}{3}\,I_{1}\,\bigl(1 - m\bigr)" in latex.write(page)
    assert r"M_{11} = s_{1}\,m + 1" in markdown.write(page)
    assert r"h_{1} = \sqrt{m}" in markdown.write(page)
