"""Decimal numbers in the attributes of a stranger's file, read exactly and within bounds."""

from __future__ import annotations

import re
from fractions import Fraction

from emdeg.algebra import parse_number
from emdeg.errors import RobotError

LARGEST = 10**50
"""No length, mass or inertia in SI units is beyond this; products of such numbers still fit a double."""

_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)


def exact_number(text: str, what: str) -> Fraction:
    """The decimal `text` as a rational; RobotError, naming `what`, if it is not a finite decimal number.

    >>> exact_number("4.318e-1", "a length")
    Fraction(2159, 5000)
    """
    text = text.strip()
    if _NOT_FINITE.match(text):
        raise RobotError(f"{what} is {text!r}; it must be a finite number")
    if "," in text:
        raise RobotError(f"{what} is {clipped(text)!r}; write decimals with a point, not with a comma")
    if "/" in text:
        raise RobotError(f"{what} is {clipped(text)!r}, which is not a decimal number")
    try:
        value = parse_number(text)
    except ValueError as problem:
        raise RobotError(f"{what}: {problem}") from None
    if abs(value) > LARGEST:
        raise RobotError(f"{what} is {clipped(text)!r}, beyond any length, mass or inertia")
    return value


def exact_numbers(text: str, count: int, what: str) -> tuple[Fraction, ...]:
    """`count` decimals separated by blanks."""
    parts = text.split(maxsplit=count)
    if len(parts) != count:
        if "," in text:
            raise RobotError(
                f"{what} is {clipped(text)!r}; separate {count} numbers by blanks and write decimals with a point"
            )
        raise RobotError(f"{what} is {clipped(text)!r}; it must be {count} numbers")
    return tuple(exact_number(part, what) for part in parts)


def clipped(text: str, length: int = 60) -> str:
    """`text`, shortened for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."
