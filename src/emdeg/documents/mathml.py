"""Formulas as presentation MathML: whole, or in pieces between which a line may end.

Browsers do not break a formula's lines, but they do break between formulas: so a sum is written as one small formula
a term, and a long bracket as one a term inside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from emdeg.algebra import (
    GREEK,
    WRITTEN_OUT,
    Angle,
    Atom,
    Generator,
    Product,
    Quotient,
    Sum,
    TrigAlgebra,
    TrigPoly,
    angle_name,
)
from emdeg.documents import notation, text
from emdeg.documents.document import (
    AbbreviatedFormula,
    Combination,
    FactoredFormula,
    Formula,
    Label,
    Reference,
    SquareRoot,
    Written,
    WrittenTerm,
)
from emdeg.documents.markup import escape
from emdeg.documents.notation import mantissa_and_exponent, readable

PIECE = 34
"""Characters of text that one piece may have before its brackets are opened."""
LONG = 6
"""Terms of a fraction above which it is written with a slash in pieces."""
_TIMES = "<mo>&#x2062;</mo>"
_MINUS = "&#x2212;"
_ZERO = "<mn>0</mn>"
_OPEN, _CLOSE = '<mo stretchy="false">(</mo>', '<mo stretchy="false">)</mo>'
_DOTS = ("", "&#x2D9;", "&#xA8;")
_NAME = re.compile(r"([A-Za-z]+)_*(.*)\Z")


def inline(content: str) -> str:
    """One formula in a line of text."""
    return f"<math><mrow>{content}</mrow></math>"


def block(content: str) -> str:
    """One formula in a line of its own, complete for XML."""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{content}</math>'


def formula(value: Formula) -> str:
    """One element with the formula."""
    match value:
        case TrigPoly() | Sum() | Combination():
            return notation.whole(value, NOTATION)
        case Quotient():
            if value.denominator == 1:
                return formula(value.numerator)
            return _over(value.numerator, value.denominator, NOTATION)
        case SquareRoot():
            return f"<msqrt>{formula(value.of)}</msqrt>"
        case AbbreviatedFormula():
            return formula(value.shown)
        case FactoredFormula():
            found = notation.factored(value, NOTATION)
            top, bottom = (f"<mrow>{_TIMES.join(some)}</mrow>" for some in (found.above, found.below))
            return f"<mrow>{_signed(found.minus, True, f'<mfrac>{top}{bottom}</mfrac>' if found.below else top)}</mrow>"
        case Written():
            return value.mathml or f"<mtext>{escape(value.text)}</mtext>"
        case Reference():
            sign = f"<mo>{_MINUS}</mo>" if value.factor < 0 else ""
            factor = "" if abs(value.factor) == 1 else number(abs(value.factor)) + _TIMES
            return f"<mrow>{sign}{factor}{label(value.of)}</mrow>"
        case _:
            assert_never(value)


def number(value: Fraction) -> str:
    """A positive rational."""
    written = readable(value)
    if "/" in written:
        return f"<mfrac><mn>{value.numerator}</mn><mn>{value.denominator}</mn></mfrac>"
    mantissa, exponent = mantissa_and_exponent(written)
    if not exponent:
        return f"<mn>{mantissa}</mn>"
    ten = f"<msup><mn>10</mn><mn>{exponent.replace('-', _MINUS)}</mn></msup>"
    return f"<mn>{mantissa}</mn><mo>&#xB7;</mo>{ten}"


def label(of: Label) -> str:
    """A letter with its subscript."""
    return _subscripted(of.letter, of.shown_subscript, of.dots)


def letter(algebra: TrigAlgebra, generator: Generator) -> str:
    """One letter of a formula; names that would look alike stay as they are."""
    if generator.kind in ("sine", "cosine"):
        function = generator.kind[:3]
        if isinstance(generator.of, int):
            if algebra.short:
                return _subscripted(generator.kind[0], str(generator.of))
            return _function(function, _subscripted("q", str(generator.of)))
        if str(generator) == "sqrt(3)/2":
            return "<mfrac><msqrt><mn>3</mn></msqrt><mn>2</mn></mfrac>"
        angle = generator.of if isinstance(generator.of, Angle) else Angle()
        plain = str(angle) if angle.symbol else str(angle).replace("*", "").replace("pi", "π")
        return _function(function, f"<mtext>{escape(plain)}</mtext>")
    if generator.kind == "parameter":
        if generator.of in algebra.alike:
            return f'<mi mathvariant="monospace">{escape(str(generator.of))}</mi>'
        return name(str(generator.of))
    dots = {"displacement": 0, "rate": 1, "acceleration": 2}[generator.kind]
    return _subscripted("q", str(generator.of), dots)


def _function(function: str, argument: str) -> str:
    inside = f"<mrow><mo>(</mo>{argument}<mo>)</mo></mrow>"
    return f"<mrow><mi>{function}</mi><mo>&#x2061;</mo>{inside}</mrow>"


def atom(factor: Atom) -> str:
    """One factor of the reading form."""
    if factor.kind not in WRITTEN_OUT or not factor.angle:
        return name(factor.kind, angle_name(factor.angle).replace("m", _MINUS).replace("_", ","))
    terms = []
    for k, (joint, times) in enumerate(factor.angle):
        size = "" if abs(times) == 1 else f"<mn>{abs(times)}</mn>{_TIMES}"
        terms.append(_signed(times < 0, not k, size + _subscripted("q", str(joint))))
    return _function(factor.kind, "".join(terms))


def name(head: str, tail: str = "") -> str:
    """A name with its subscript, or one that ends in digits: those are the subscript."""
    match = _NAME.match(head) if not tail else None
    return _subscripted(head, tail) if match is None else _subscripted(match[1], match[2])


def _power(base: str, exponent: int) -> str:
    return f"<msup><mrow>{base}</mrow><mn>{exponent}</mn></msup>"


def _subscripted(head: str, tail: str, dots: int = 0) -> str:
    if head in GREEK:
        case = "SMALL" if head.islower() else "CAPITAL"
        head = unicodedata.lookup(f"GREEK {case} LETTER {head.upper().replace('LAMBDA', 'LAMDA')}")
    base = f"<mi>{escape(head)}</mi>"
    if dots:
        # No accent: those sit so close to a small q that the dots are lost in it.
        base = f"<mover>{base}<mo>{_DOTS[dots]}</mo></mover>"
    if not tail:
        return base
    kind = "mn" if tail.isdigit() else "mtext"
    return f"<msub>{base}<{kind}>{escape(tail)}</{kind}></msub>"


def _over(above: TrigPoly, below: TrigPoly, written: notation.Notation) -> str:
    return f"<mfrac>{notation.whole(above, written)}{notation.whole(below, written)}</mfrac>"


def _signed(minus: bool, first: bool, size: str) -> str:
    sign = f"<mo>{_MINUS}</mo>" if minus else "" if first else "<mo>+</mo>"
    return sign + size


NOTATION = notation.Notation(
    letter=letter,
    atom=atom,
    label=label,
    number=number,
    coefficient=number,
    times=_TIMES,
    power=_power,
    bracket="<mrow><mo>(</mo>{}<mo>)</mo></mrow>".format,
    over=_over,
    signed=_signed,
    zero=_ZERO,
    joined=lambda parts: f"<mrow>{''.join(parts)}</mrow>",
)


def pieces(value: Formula) -> list[str]:
    """Any formula as contents of formulas between which a line may end."""
    match value:
        case Sum():
            return [piece for k, term in enumerate(value.terms) for piece in term_pieces(term, k == 0)] or [_ZERO]
        case AbbreviatedFormula():
            return pieces(value.shown)
        case TrigPoly() | Combination():
            found = [_broken_sign(m, k == 0) + size for k, (m, size) in enumerate(notation.terms(value, NOTATION))]
            return found or [_ZERO]
        case Quotient() if value.denominator != 1 and len(value.numerator) + len(value.denominator) > LONG:
            top, bottom = pieces(value.numerator), pieces(value.denominator)
            return [_OPEN + top[0], *top[1:], f"{_CLOSE}<mo>/</mo>{_OPEN}{bottom[0]}", *bottom[1:], _CLOSE]
        case FactoredFormula() if len(text.line(value)) > 2 * PIECE:
            found = notation.factored(value, NOTATION)
            slash = [f"<mo>/</mo>{_OPEN}", *_times_between(found.below), _CLOSE] if found.below else []
            return [_broken_sign(found.minus, True), *_times_between(found.above), *slash]
        case _:
            return [formula(value)]


def _times_between(factors: Sequence[str]) -> list[str]:
    return [factor + (_TIMES if k < len(factors) else "") for k, factor in enumerate(factors, 1)]


def term_pieces(term: Product | TrigPoly | Combination | WrittenTerm, first: bool) -> list[str]:
    """One term, its sign included, as contents of formulas between which a line may end."""
    if isinstance(term, WrittenTerm):
        return [_broken_sign(term.minus, first) + formula(term)]
    if isinstance(term, TrigPoly | Combination):
        return [_broken_sign(minus, first) + size for minus, size in notation.terms(term, NOTATION)]
    head = _broken_sign(term.coefficient < 0, first)
    size = Product(abs(term.coefficient), term.factors)
    brackets = [k for k, factor in enumerate(term.factors) if isinstance(factor, Sum)]
    if not brackets or len(text.line(Sum((size,)))) <= PIECE:
        return [head + _product(size)]
    longest = max(brackets, key=lambda k: len(text.line(Sum((Product(size.coefficient, (term.factors[k],)),)))))
    inner = term.factors[longest]
    assert isinstance(inner, Sum)
    before, after = term.factors[:longest], term.factors[longest + 1 :]
    start = _product(Product(size.coefficient, before)) + _TIMES if before or size.coefficient != 1 else ""
    found = pieces(inner)
    found[0] = head + start + _OPEN + found[0]
    found[-1] += _CLOSE + (_TIMES + _product(Product(Fraction(1), after)) if after else "")
    return found


def _product(product: Product) -> str:
    return formula(Sum((product,)))


def _broken_sign(minus: bool, first: bool) -> str:
    """A sign that begins a formula of its own; the first one's plus is for a script to show."""
    form = "prefix" if first else "infix"
    return f'<mo form="{form}">{_MINUS if minus else "+"}</mo>' if minus or not first else ""


def matrix(rows: Sequence[Sequence[Formula]]) -> str:
    """A matrix in brackets."""
    cells = "".join("<mtr>" + "".join(f"<mtd>{formula(e)}</mtd>" for e in row) + "</mtr>" for row in rows)
    return f"<mrow><mo>(</mo><mtable>{cells}</mtable><mo>)</mo></mrow>"
