"""Equations as presentation MathML in a well-formed XHTML page."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from xml.sax.saxutils import escape

from emdeg.algebra import Angle, Generator, TrigPoly
from emdeg.algebra.generator import GREEK
from emdeg.algebra.quotient import Quotient
from emdeg.writing.document import Document, Equation, Formula, Item, Label, MatrixEquation, Reference, Table, Zeros
from emdeg.writing.numbers import mantissa_and_exponent, readable
from emdeg.writing.terms import signed_products

_TIMES = "<mo>&#x2062;</mo>"
_NAME = re.compile(r"([A-Za-z]+)_*(.*)\Z")


def write(document: Document) -> str:
    """The document as a page of its own."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="UTF-8"/>'
        f"<title>{text(document.title)}</title></head><body>\n"
        f"<h1>{text(document.title)}</h1>\n{body(document)}</body></html>\n"
    )


def body(document: Document) -> str:
    """The sections alone, to be put into another page."""
    blocks: list[str] = []
    for section in document.sections:
        blocks.append(f"<h2>{text(section.title)}</h2>")
        blocks += [_item(item) for item in section.items]
    return "\n".join(blocks) + "\n"


def text(plain: str) -> str:
    """Plain text for XML: markup escaped, control characters, which XML forbids, replaced."""
    return escape("".join(c if c.isprintable() else "?" for c in plain))


def formula(value: Formula) -> str:
    """One <mrow> with the formula."""
    if isinstance(value, TrigPoly):
        parts = []
        for at, (sign, product) in enumerate(signed_products(value, power, number, _TIMES)):
            if at or sign == "-":
                parts.append(f"<mo>{'&#x2212;' if sign == '-' else '+'}</mo>")
            parts.append(product)
        return f"<mrow>{''.join(parts) or '<mn>0</mn>'}</mrow>"
    if isinstance(value, Quotient):
        if value.denominator == 1:
            return formula(value.numerator)
        return f"<mfrac>{formula(value.numerator)}{formula(value.denominator)}</mfrac>"
    if isinstance(value, Reference):
        sign = "<mo>&#x2212;</mo>" if value.factor < 0 else ""
        factor = "" if abs(value.factor) == 1 else number(abs(value.factor)) + _TIMES
        return f"<mrow>{sign}{factor}{label(value.of)}</mrow>"
    own = getattr(value, "mathml", None)
    return own if isinstance(own, str) else f"<mtext>{text(str(value))}</mtext>"


def number(value: Fraction) -> str:
    """A positive rational."""
    written = readable(value)
    if "/" in written:
        return f"<mfrac><mn>{value.numerator}</mn><mn>{value.denominator}</mn></mfrac>"
    mantissa, exponent = mantissa_and_exponent(written)
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    ten = f"<msup><mn>10</mn><mn>{exponent.replace('-', '&#x2212;')}</mn></msup>"
    return f"<mn>{mantissa}</mn><mo>&#xB7;</mo>{ten}"


def label(of: Label) -> str:
    """A letter with its subscript."""
    return _subscripted(of.letter, of.subscript.strip("_").replace("_", ","))


def letter(generator: Generator) -> str:
    """One letter of a formula."""
    if generator.kind in ("sine", "cosine"):
        if isinstance(generator.of, int):
            return _subscripted(generator.kind[0], str(generator.of))
        angle = generator.of if isinstance(generator.of, Angle) else Angle()
        plain = str(angle) if angle.symbol else str(angle).replace("*", "").replace("pi", "π")
        inside = f"<mrow><mo>(</mo><mtext>{text(plain)}</mtext><mo>)</mo></mrow>"
        return f"<mrow><mi>{generator.kind[:3]}</mi><mo>&#x2061;</mo>{inside}</mrow>"
    if generator.kind == "parameter":
        return name(str(generator.of))
    accent = {"displacement": "", "rate": "&#x2D9;", "acceleration": "&#xA8;"}[generator.kind]
    head = f'<mover accent="true"><mi>q</mi><mo>{accent}</mo></mover>' if accent else "<mi>q</mi>"
    return f"<msub>{head}<mn>{generator.of}</mn></msub>"


def name(head: str, tail: str = "") -> str:
    """A name with its subscript, or one that ends in digits: those are the subscript."""
    match = _NAME.match(head) if not tail else None
    return _subscripted(head, tail) if match is None else _subscripted(match[1], match[2])


def power(generator: Generator, exponent: int) -> str:
    """A letter to a power."""
    base = letter(generator)
    return base if exponent == 1 else f"<msup><mrow>{base}</mrow><mn>{exponent}</mn></msup>"


def _subscripted(head: str, tail: str) -> str:
    if head in GREEK:
        case = "SMALL" if head.islower() else "CAPITAL"
        head = unicodedata.lookup(f"GREEK {case} LETTER {head.upper().replace('LAMBDA', 'LAMDA')}")
    if not tail:
        return f"<mi>{text(head)}</mi>"
    kind = "mn" if tail.isdigit() else "mtext"
    return f"<msub><mi>{text(head)}</mi><{kind}>{text(tail)}</{kind}></msub>"


def _math(content: str) -> str:
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{content}</math>'


def _item(item: Item) -> str:
    if isinstance(item, Equation):
        return _math(f"<mrow>{label(item.label)}<mo>=</mo>{formula(item.value)}</mrow>")
    if isinstance(item, MatrixEquation):
        rows = "".join(
            "<mtr>" + "".join(f"<mtd>{formula(entry)}</mtd>" for entry in row) + "</mtr>" for row in item.rows
        )
        matrix = f"<mrow><mo>(</mo><mtable>{rows}</mtable><mo>)</mo></mrow>"
        return _math(f"<mrow>{label(item.label)}<mo>=</mo>{matrix}</mrow>")
    if isinstance(item, Zeros):
        names = "<mo>,</mo>".join(label(one) for one in item.labels)
        return _math(f"<mrow>{names}<mo>=</mo><mn>0</mn></mrow>")
    if isinstance(item, Table):
        head = "".join(f"<th>{text(cell)}</th>" for cell in item.head)
        rows = "".join("<tr>" + "".join(f"<td>{text(c)}</td>" for c in row) + "</tr>" for row in item.rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<p>{text(item.text)}</p>"
