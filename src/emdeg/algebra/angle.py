"""Exact angles: a rational multiple of pi, plus a rational number of radians, plus at most one symbol.

What is not rational of them comes from balls that are certain to hold it, to as many digits as are asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx, fmpq

from emdeg.algebra.exact import is_symbol_name, parse_number, shown
from emdeg.errors import NumberTooLong

DIGITS = 60
"""Decimal digits kept of sines, cosines and roots that are not rational."""

_DEGREES = re.compile(r"([+-]?[0-9.eE+-]+)\s*deg\Z")
_PI = re.compile(r"([+-]?)(?:([0-9]+(?:\.[0-9]+)?)\s*\*?\s*)?pi(?:\s*/\s*([0-9]+))?\Z")


@dataclass(frozen=True, slots=True)
class Angle:
    """`pi_times` * pi + `radians` + `symbol`, exactly; immutable and compared exactly.

    >>> Angle.parse("-90 deg") + Angle.parse("pi")
    Angle('pi/2')
    """

    pi_times: Fraction = Fraction(0)
    radians: Fraction = Fraction(0)
    symbol: str | None = None

    @staticmethod
    def parse(text: str) -> Angle:
        """An angle from "90 deg", "3*pi/4", "0.25" (radians), a symbol's name, or a sum ("pi/2 + 0.1")."""
        angle = Angle()
        try:
            for part in text.split(" + "):
                angle = angle + Angle._parse_one(part.strip())
        except (ValueError, ZeroDivisionError) as problem:
            reason = f" ({problem})" if isinstance(problem, NumberTooLong) else ""
            raise ValueError(
                f"{shown(text)} is not an angle: write radians (0.25), '90 deg', 'pi/2' or a symbol's name" + reason
            ) from None
        return angle

    @staticmethod
    def _parse_one(text: str) -> Angle:
        if match := _DEGREES.match(text):
            return Angle(pi_times=parse_number(match[1]) / 180)
        if match := _PI.match(text):
            times = parse_number(match[2] or "1") / parse_number(match[3] or "1")
            return Angle(pi_times=-times if match[1] == "-" else times)
        if is_symbol_name(text):
            return Angle(symbol=text)
        return Angle(radians=parse_number(text))

    @property
    def is_zero(self) -> bool:
        return not self.pi_times and not self.radians and self.symbol is None

    @property
    def quarter_turns(self) -> int | None:
        """k in 0..3 if the angle is k * pi/2 up to whole turns, else None."""
        if self.radians or self.symbol is not None or (2 * self.pi_times).denominator != 1:
            return None
        return int(2 * self.pi_times) % 4

    def split(self) -> tuple[int, Angle]:
        """(k, rest) with this angle = k pi/2 + rest, rest's multiple of pi in [0, 1/2), k in 0..3."""
        quarters = math.floor(2 * self.pi_times)
        return quarters % 4, Angle(self.pi_times - Fraction(quarters, 2), self.radians, self.symbol)

    def canonical(self) -> tuple[int, int, Angle]:
        """(k, sign, rest) with this angle = k pi/2 + sign * rest; the same rest for all such angles.

        >>> Angle.parse("60 deg").canonical()[2] == Angle.parse("-150 deg").canonical()[2]
        True
        """
        quarters, rest = self.split()
        if self.symbol is not None:
            return quarters, 1, rest
        mirrored_quarters, mirrored = (-self).split()
        if (mirrored.pi_times, abs(mirrored.radians), mirrored.radians < 0) < (
            rest.pi_times,
            abs(rest.radians),
            rest.radians < 0,
        ):
            return -mirrored_quarters % 4, -1, mirrored
        return quarters, 1, rest

    def sincos(self) -> tuple[Fraction, Fraction]:
        """(sine, cosine): exact for multiples of pi/2, otherwise rationals good to 60 digits."""
        if self.symbol is not None:
            raise ValueError(f"the angle {self} has no number: it contains the symbol {self.symbol}")
        quarters, rest = self.split()
        s, c = (Fraction(0), Fraction(1)) if rest.is_zero else _sincos(rest.pi_times, rest.radians)
        return ((s, c), (c, -s), (-s, -c), (-c, s))[quarters]

    def __neg__(self) -> Angle:
        if self.symbol is not None:
            raise ValueError(f"the symbolic angle {self} cannot be negated")
        return Angle(-self.pi_times, -self.radians)

    def __add__(self, other: Angle) -> Angle:
        if self.symbol is not None and other.symbol is not None:
            raise ValueError(f"the symbolic angles {self} and {other} cannot be added")
        return Angle(self.pi_times + other.pi_times, self.radians + other.radians, self.symbol or other.symbol)

    def __sub__(self, other: Angle) -> Angle:
        return self + (-other)

    def __float__(self) -> float:
        if self.symbol is not None:
            raise ValueError(f"the angle {self} has no number: it contains the symbol {self.symbol}")
        if not self.pi_times:
            return float(self.radians)
        return angle_double(self.pi_times, self.radians)

    def __str__(self) -> str:
        parts = []
        if self.pi_times:
            p, q = abs(self.pi_times.numerator), self.pi_times.denominator
            text = ("" if p == 1 else f"{p}*") + "pi" + ("" if q == 1 else f"/{q}")
            parts.append(("-" if self.pi_times < 0 else "") + text)
        if self.radians:
            parts.append(repr(float(self.radians)))
        if self.symbol:
            parts.append(self.symbol)
        return " + ".join(parts) or "0"

    def __repr__(self) -> str:
        return f"Angle('{self}')"


RIGHT = Angle(Fraction(1, 2))
STRAIGHT = Angle(Fraction(1))
NO_ANGLE = Angle()
HALF_RIGHT = Angle(Fraction(1, 4))
"""The one angle that is its own complement: its sine is its cosine, and twice its square is one."""
SIXTH, THIRD = Angle(Fraction(1, 6)), Angle(Fraction(1, 3))
"""The sine of the one, the cosine of the other, is 1/2."""


def rounded(value: Fraction, digits: int = DIGITS) -> Fraction:
    """`value`, to `digits` decimals if its denominator is larger than that; else untouched."""
    scale = 10**digits
    return value if value.denominator <= scale else Fraction(round(value * scale), scale)


def ball(value: Fraction) -> arb:
    """A rational number to the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def angle_ball(pi_times: Fraction, radians: Fraction) -> arb:
    """`pi_times` * pi + `radians` to the working precision."""
    return arb.pi() * ball(pi_times) + ball(radians)


def angle_double(pi_times: Fraction, radians: Fraction) -> float:
    """The double nearest to `pi_times` * pi + `radians`."""
    with ctx.workprec(240):
        return float(angle_ball(pi_times, radians).mid())


def to_digits(value: Callable[[], arb], digits: int) -> Fraction:
    """The nearest number of so many decimals; `value` is asked with more and more bits until its ball is that small."""
    bits, enough = 4 * digits + 60, Fraction(1, 10 ** (digits + 3))
    while True:
        with ctx.workprec(bits):
            found = value()
            if found.is_finite() and found.rad() < ball(enough):
                middle = found.mid().fmpq()
                return Fraction(round(Fraction(int(middle.p), int(middle.q)) * 10**digits), 10**digits)
        bits *= 2


@lru_cache(maxsize=4096)
def _sincos(pi_times: Fraction, radians: Fraction) -> tuple[Fraction, Fraction]:
    return (
        to_digits(lambda: angle_ball(pi_times, radians).sin(), DIGITS),
        to_digits(lambda: angle_ball(pi_times, radians).cos(), DIGITS),
    )


def square_root(value: Fraction) -> Fraction:
    """The root of a rational: exact where it is rational, else good to 60 digits."""
    p, q = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if p * p == value.numerator and q * q == value.denominator:
        return Fraction(p, q)
    return to_digits(lambda: ball(value).sqrt(), DIGITS)


def direction_angle(s: Fraction, c: Fraction) -> Angle:
    """The angle of the direction (c, s): exact for multiples of pi/12, else radians to 40 digits."""
    value = to_digits(lambda: arb.atan2(ball(s), ball(c)), DIGITS)
    twelfths = round(float(value) * 12 / math.pi)
    if abs(value - to_digits(lambda: angle_ball(Fraction(twelfths, 12), Fraction(0)), DIGITS)) < Fraction(1, 10**40):
        return Angle(pi_times=Fraction(twelfths, 12))
    return Angle(radians=rounded(value, 40))
