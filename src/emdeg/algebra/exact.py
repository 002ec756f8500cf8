"""Exact values: rational numbers and polynomials in named symbols.

A robot file says 0.4318 and means 2159/5000; it says "m2" and means a mass nobody has measured yet. Both are
an `Exact`: a polynomial with rational coefficients in named symbols, most often a plain number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from emdeg.errors import NumberTooLong

S = TypeVar("S")

Monomial = tuple[tuple[str, int], ...]
"""Symbols with their exponents, sorted by name; the empty tuple is 1."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}\Z")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?\Z")
_RATIO = re.compile(r"[+-]?[0-9]+/0*[1-9][0-9]*\Z")
_SIGN = re.compile(r"\s+([+-])\s+")
_POWER = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,31})(?:\^([1-9][0-9]?))?\Z")

MAX_DIGITS = 400
"""Characters a number may have; more than any measured quantity or any double needs."""
MAX_EXPONENT = 400
"""Largest power of ten, up or down; a double ends at 308."""


def shown(text: str) -> str:
    """`text` in quotes for an error message, cut where it is long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse_number(text: str) -> Fraction:
    """The exact value of a decimal ("0.4318", "-2e-3") or a ratio ("1/3"); ValueError for anything else.

    The exponent and the length are limited, because 1e999999999 written out exactly has a billion digits.
    """
    text = text.strip()
    if len(text) > MAX_DIGITS:
        raise NumberTooLong(f"the number {shown(text)} has more than {MAX_DIGITS} characters")
    if match := _NUMBER.match(text):
        if match[1] is not None and abs(int(match[1])) > MAX_EXPONENT:
            raise NumberTooLong(f"the exponent of {shown(text)} is beyond {MAX_EXPONENT}")
        return Fraction(text)
    if _RATIO.match(text):
        return Fraction(text)
    raise ValueError(f"{shown(text)} is not a number: write a decimal such as 0.25 or -2e-3, or a ratio")


def _from_decimal(value: Decimal) -> Fraction:
    if not value.is_finite():
        raise ValueError(f"{value} is not a finite number")
    _, digits, exponent = value.as_tuple()
    if len(digits) > MAX_DIGITS or abs(int(exponent)) > MAX_EXPONENT + MAX_DIGITS:
        raise NumberTooLong(
            f"the number {shown(str(value))} is too long: at most {MAX_DIGITS} digits, "
            f"and an exponent within {MAX_EXPONENT}"
        )
    return Fraction(value)


def is_symbol_name(text: str) -> bool:
    """Whether `text` may name a symbol: a letter, then letters, digits or _, at most 32 characters.

    Words that mean a number elsewhere (nan, inf, pi) are not symbols.
    """
    return _NAME.match(text) is not None and text.lower() not in ("nan", "inf", "infinity", "pi")


@dataclass(frozen=True, slots=True)
class Exact:
    """A polynomial over the rationals in named symbols; immutable, hashable, compared exactly.

    >>> 2 * Exact.symbol("m") + Fraction(1, 2)
    Exact('1/2 + 2*m')
    """

    terms: tuple[tuple[Monomial, Fraction], ...] = ()

    @staticmethod
    def of(value: ExactLike) -> Exact:
        """The exact value of a number, of a decimal, or of a symbol's name.

        A float is read as the shortest decimal that denotes it, so 0.1 is 1/10.
        """
        if isinstance(value, Exact):
            return value
        if isinstance(value, str):
            return Exact.symbol(value)
        if isinstance(value, float):
            value = Decimal(repr(value))
        number = _from_decimal(value) if isinstance(value, Decimal) else Fraction(value)
        return Exact((((), number),)) if number else ZERO

    @staticmethod
    def parse(text: str) -> Exact:
        """What `str` of an exact value says: a number, a symbol, or a sum of products, "1/2 + 2*m*l^2".

        >>> Exact.parse("2159/5000") == Exact.of(0.4318)
        True
        """
        pieces = _SIGN.split(text.strip())
        signs = ["+", *pieces[1::2]]
        total = ZERO
        for sign, piece in zip(signs, pieces[::2]):
            negative, piece = (sign == "-") != piece.startswith("-"), piece.removeprefix("-")
            term = Exact.of(-1 if negative else 1)
            for factor in piece.split("*"):
                power = _POWER.match(factor)
                if power is None or not is_symbol_name(power[1]):
                    term = term * parse_number(factor)
                else:
                    term = term * Exact(((((power[1], int(power[2] or 1)),), Fraction(1)),))
            total = total + term
        return total

    @staticmethod
    def symbol(name: str) -> Exact:
        if not is_symbol_name(name):
            raise ValueError(f"{shown(name)} is not a symbol's name (a letter, then letters, digits or _)")
        return Exact(((((name, 1),), Fraction(1)),))

    @staticmethod
    def from_terms(terms: Mapping[Monomial, Fraction]) -> Exact:
        return Exact(tuple(sorted((m, c) for m, c in terms.items() if c)))

    @property
    def is_number(self) -> bool:
        return not self.terms or (len(self.terms) == 1 and self.terms[0][0] == ())

    @property
    def number(self) -> Fraction:
        """The rational value; ValueError if a symbol occurs."""
        if not self.terms:
            return Fraction(0)
        if not self.is_number:
            raise ValueError(f"{self} is not a number: it contains {', '.join(sorted(self.symbols))}")
        return self.terms[0][1]

    @property
    def symbols(self) -> frozenset[str]:
        return frozenset(name for monomial, _ in self.terms for name, _ in monomial)

    def evaluate(self, number: Callable[[Fraction], S], symbol: Callable[[str], S]) -> S:
        """This value in another algebra, given how that one writes a rational and a symbol."""
        if self.is_number:
            return number(self.number)
        total: Any = None
        for monomial, coefficient in self.terms:
            term: Any = None if coefficient == 1 and monomial else number(coefficient)
            for name, power in monomial:
                for _ in range(power):
                    term = symbol(name) if term is None else term * symbol(name)
            total = term if total is None else total + term
        return total

    def substitute(self, values: Mapping[str, Exact]) -> Exact:
        return self.evaluate(Exact.of, lambda name: values.get(name, Exact.symbol(name)))

    def __add__(self, other: ExactLike) -> Exact:
        other = Exact.of(other)
        terms = dict(self.terms)
        for monomial, coefficient in other.terms:
            terms[monomial] = terms.get(monomial, Fraction(0)) + coefficient
        return Exact.from_terms(terms)

    __radd__ = __add__

    def __neg__(self) -> Exact:
        return Exact(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: ExactLike) -> Exact:
        return self + (-Exact.of(other))

    def __rsub__(self, other: ExactLike) -> Exact:
        return Exact.of(other) + (-self)

    def __mul__(self, other: ExactLike) -> Exact:
        other = Exact.of(other)
        terms: dict[Monomial, Fraction] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                powers = dict(left)
                for name, power in right:
                    powers[name] = powers.get(name, 0) + power
                monomial = tuple(sorted(powers.items()))
                terms[monomial] = terms.get(monomial, Fraction(0)) + a * b
        return Exact.from_terms(terms)

    __rmul__ = __mul__

    def __truediv__(self, other: int | Fraction) -> Exact:
        return self * (Fraction(1) / Fraction(other))

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __float__(self) -> float:
        return float(self.number)

    def __str__(self) -> str:
        if not self.terms:
            return "0"
        parts: list[str] = []
        for monomial, coefficient in self.terms:
            factors = [name if power == 1 else f"{name}^{power}" for name, power in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            parts.append(f" {sign} " + "*".join(factors))
        text = "".join(parts)
        return text[3:] if text.startswith(" + ") else "-" + text[3:]

    def __repr__(self) -> str:
        return f"Exact('{self}')"


ExactLike = Exact | int | float | Decimal | Fraction | str

ZERO = Exact()
ONE = Exact((((), Fraction(1)),))
