"""Rational numbers for reading."""

from __future__ import annotations

from fractions import Fraction

MAX_DECIMALS = 17


def readable(value: Fraction) -> str:
    """An exact decimal where it is short, else a ratio, else the nearest double.

    >>> readable(Fraction(2159, 5000)), readable(Fraction(1, 3)), readable(Fraction(-7, 1000000))
    ('0.4318', '1/3', '-7e-06')
    """
    if value.denominator == 1:
        return str(value.numerator) if abs(value) < 10**12 else repr(float(value))
    if Fraction(repr(float(value))) == value:
        return repr(float(value))
    ratio = str(value)
    return ratio if len(ratio) <= MAX_DECIMALS else repr(float(value))


def mantissa_and_exponent(text: str) -> tuple[str, str]:
    """("7", "-6") of "7e-06"; the exponent is empty where there is none."""
    mantissa, _, exponent = text.partition("e")
    return mantissa, str(int(exponent)) if exponent else ""
