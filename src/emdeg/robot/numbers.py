"""Decimal numbers in a stranger's text, read exactly and within bounds."""

from __future__ import annotations

import re
from fractions import Fraction

from emdeg.robot.errors import RobotError

LONGEST = 80
"""Characters a number may have."""
LARGEST_EXPONENT = 300
"""Beyond this a value has no place in a double, and its exact form would fill the memory."""

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?\Z")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)\Z", re.IGNORECASE)


def exact_number(text: str, what: str) -> Fraction:
    """The decimal `text` as a rational; RobotError, naming `what`, if it is not a finite decimal number.

    >>> exact_number("4.318e-1", "a length")
    Fraction(2159, 5000)
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise RobotError(f"{what} has {len(text)} characters; a number may have {LONGEST}")
    match = _DECIMAL.match(text)
    if match is None:
        if _NOT_FINITE.match(text):
            raise RobotError(f"{what} is {text!r}; it must be a finite number")
        if "," in text:
            raise RobotError(f"{what} is {text!r}; write decimals with a point, not with a comma")
        raise RobotError(f"{what} is {text!r}, which is not a number")
    if abs(int(match[1] or 0)) > LARGEST_EXPONENT:
        raise RobotError(f"{what} is {text!r}; exponents beyond {LARGEST_EXPONENT} are refused")
    return Fraction(text)


def exact_numbers(text: str, count: int, what: str) -> tuple[Fraction, ...]:
    """`count` decimals separated by blanks."""
    parts = text[: (LONGEST + 1) * (count + 1)].split()
    if len(parts) != count:
        if "," in text:
            raise RobotError(
                f"{what} is {clipped(text)!r}; separate {count} numbers by blanks, decimals with a point"
            )
        raise RobotError(f"{what} is {clipped(text)!r}; it must be {count} numbers")
    return tuple(exact_number(part, what) for part in parts)


def clipped(text: str, length: int = 60) -> str:
    """`text`, shortened for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."
