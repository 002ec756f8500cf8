"""A formula in any notation: one walk over its terms. What differs between text, LaTeX and MathML is data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Literal

from emdeg.algebra import Atom, Generator, Quotient, Sum, TrigAlgebra, TrigPoly
from emdeg.documents.document import Combination, Factor, FactoredFormula, Label

Term = tuple[bool, str]
"""(whether it is subtracted, its size as it is written)"""


@dataclass(frozen=True, slots=True)
class Notation:
    """How a format writes what formulas are made of."""

    letter: Callable[[TrigAlgebra, Generator], str]
    atom: Callable[[Atom], str]
    label: Callable[[Label], str]
    number: Callable[[Fraction], str]
    """A positive coefficient of an expanded formula: a decimal where that is exact."""
    coefficient: Callable[[Fraction], str]
    """A positive coefficient in the reading form, where few numbers are left: a fraction."""
    times: str
    power: Callable[[str, int], str]
    bracket: Callable[[str], str]
    over: Callable[[TrigPoly, TrigPoly, Notation], str]
    """One formula over another."""
    signed: Callable[[bool, bool, str], str]
    """A term behind its sign: (is it subtracted, is it the first, its size)."""
    zero: str
    joined: Callable[[list[str]], str] = " ".join


def parts(formula: TrigPoly | Sum | Combination, notation: Notation) -> list[str]:
    """The terms with their signs, as many as there are, or the one zero."""
    found = [notation.signed(minus, not k, size) for k, (minus, size) in enumerate(terms(formula, notation))]
    return found or [notation.zero]


def whole(formula: TrigPoly | Sum | Combination, notation: Notation) -> str:
    """All of a formula."""
    return notation.joined(parts(formula, notation))


def terms(formula: TrigPoly | Sum | Combination, notation: Notation) -> Iterator[Term]:
    """The terms of a formula; none for zero."""
    if isinstance(formula, TrigPoly):
        for coefficient, monomial in formula.terms():
            factors = [_raised(notation.letter(formula.algebra, g), e, notation) for g, e in monomial.items()]
            yield _term(coefficient, factors, notation.number, notation.times)
    elif isinstance(formula, Sum):
        for product in formula.terms:
            runs = ((factor, len(list(same))) for factor, same in groupby(product.factors))
            factors = [_raised(_factor(factor, notation), times, notation) for factor, times in runs]
            yield _term(product.coefficient, factors, notation.coefficient, notation.times)
    else:
        for factor, name in formula.terms:
            if factor:
                yield _multiple(factor, notation.label(name), notation)
        if formula.rest:
            yield from quotient_terms(formula.rest, notation)


def quotient_terms(quotient: Quotient, notation: Notation) -> Iterator[Term]:
    """The terms of a formula, or the one fraction."""
    if quotient.is_formula:
        yield from terms(quotient.numerator, notation)
    else:
        yield _fraction(quotient, notation)


def _term(coefficient: Fraction, factors: list[str], number: Callable[[Fraction], str], times: str) -> Term:
    if abs(coefficient) != 1 or not factors:
        factors = [number(abs(coefficient)), *factors]
    return coefficient < 0, times.join(factors)


def _raised(base: str, exponent: int, notation: Notation) -> str:
    return base if exponent == 1 else notation.power(base, exponent)


def _factor(factor: Atom | Sum, notation: Notation) -> str:
    return notation.bracket(whole(factor, notation)) if isinstance(factor, Sum) else notation.atom(factor)


def _multiple(factor: Quotient | Literal[1], name: str, notation: Notation) -> Term:
    """factor * name; a factor of one term gives its sign, one of several stands in brackets."""
    if isinstance(factor, int) or factor == 1 or factor == -1:
        return factor == -1, name
    if factor.is_formula and len(factor.numerator) > 1:
        minus, size = False, notation.bracket(whole(factor.numerator, notation))
    else:
        minus, size = next(quotient_terms(factor, notation))
    return minus, size + notation.times + name


def _fraction(quotient: Quotient, notation: Notation) -> Term:
    """A single negative numerator's sign stands before the fraction."""
    above = quotient.numerator
    minus = len(above) == 1 and above.leading_coefficient < 0
    return minus, notation.over(-above if minus else above, quotient.denominator, notation)


@dataclass(frozen=True, slots=True)
class WrittenFraction:
    """A factored formula as it is written: its sign, and the factors above and below the line; those may be none."""

    minus: bool
    above: list[str]
    below: list[str]


def factored(formula: FactoredFormula, notation: Notation) -> WrittenFraction:
    """Every factor as a product takes it; of a ratio the denominator stands with the factors below the line."""
    above = [_power_of(factor, notation) for factor in formula.above]
    below = [_power_of(factor, notation) for factor in formula.below]
    size = abs(formula.number)
    top, bottom = (size.numerator, size.denominator) if below and "/" in readable(size) else (size, 1)
    if top != 1 or not above:
        above = [notation.number(Fraction(top)), *above]
    if bottom != 1:
        below = [notation.number(Fraction(bottom)), *below]
    return WrittenFraction(formula.number < 0, above, below)


def _power_of(factor: Factor, notation: Notation) -> str:
    base, power = factor
    if isinstance(base, Label):
        return _raised(notation.label(base), power, notation)
    written = whole(base, notation)
    return _raised(written if _is_plain(base, power) else notation.bracket(written), power, notation)


def _is_plain(base: TrigPoly | Sum, power: int) -> bool:
    """Whether a factor stands in a product without brackets: a term with no number, one letter where it is raised."""
    if isinstance(base, TrigPoly):
        return len(base) == 1 and base.leading_coefficient == 1 and (power == 1 or base.total_degree == 1)
    only = base.terms[0]
    return len(base.terms) == 1 and only.coefficient == 1 and (power == 1 or len(only.factors) == 1)


def plain_sign(minus: bool, first: bool, size: str) -> str:
    """The sign of text and of LaTeX."""
    if first:
        return f"-{size}" if minus else size
    return f"- {size}" if minus else f"+ {size}"


def lines(parts: list[str], width: int) -> list[str]:
    """The parts put together in lines of about `width` characters."""
    found: list[str] = []
    for part in parts:
        if found and len(found[-1]) + len(part) < width:
            found[-1] += " " + part
        else:
            found.append(part)
    return found


MAX_DIGITS = 17
"""Characters of a ratio above which its nearest double is written instead."""


def readable(value: Fraction) -> str:
    """An exact decimal where it is short, else a ratio, else the nearest double.

    >>> readable(Fraction(2159, 5000)), readable(Fraction(1, 3)), readable(Fraction(-7, 1000000))
    ('0.4318', '1/3', '-7e-06')
    """
    if value.denominator == 1:
        return str(value.numerator) if abs(value) < 10**12 else repr(float(value))
    if Fraction(repr(float(value))) == value:
        return repr(float(value))
    return _ratio(value) or repr(float(value))


def coefficient(value: Fraction) -> str:
    """A coefficient of the reading form: a decimal of at most twelve digits, else a ratio in brackets, else a double.

    >>> coefficient(Fraction(1, 2)), coefficient(Fraction(2, 3))
    ('0.5', '(2/3)')
    """
    if value.denominator == 1:
        return str(value)
    decimal = f"{float(value):.12g}"
    if Fraction(decimal) == value:
        return decimal
    ratio = _ratio(value)
    return f"({ratio})" if ratio else repr(float(value))


def latex_number(value: Fraction) -> str:
    """`readable` in mathematics mode."""
    return _latex_ratio(value) if "/" in (text := readable(value)) else _latex_decimal(text)


def latex_coefficient(value: Fraction) -> str:
    """A coefficient of the reading form in mathematics mode: a fraction where that is short."""
    if value.denominator == 1:
        return str(value)
    return _latex_ratio(value) if _ratio(value) else _latex_decimal(repr(float(value)))


def mantissa_and_exponent(text: str) -> tuple[str, str]:
    """("7", "-6") of "7e-06"; the exponent is empty where there is none."""
    mantissa, _, exponent = text.partition("e")
    return mantissa, str(int(exponent)) if exponent else ""


def _ratio(value: Fraction) -> str:
    """p/q, or nothing where that is too long to read."""
    return text if len(text := str(value)) <= MAX_DIGITS else ""


def _latex_ratio(value: Fraction) -> str:
    return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"


def _latex_decimal(text: str) -> str:
    mantissa, exponent = mantissa_and_exponent(text)
    return rf"{mantissa} \cdot 10^{{{exponent}}}" if exponent else mantissa
