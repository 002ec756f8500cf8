"""Rational numbers for reading."""

from __future__ import annotations

from fractions import Fraction

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
