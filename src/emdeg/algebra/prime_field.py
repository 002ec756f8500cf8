"""Arithmetic modulo the prime 2^61 - 1: proofs of identity at random points.

Two formulas that differ as polynomials of degree d agree at a random point with a chance of at most d / 2^61
(Schwartz and Zippel). Sines and cosines are random points of the circle, from its rational parametrisation,
so that s^2 + c^2 = 1 holds exactly and nothing else does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from emdeg.algebra.angle import HALF_RIGHT, Angle
from emdeg.algebra.scalar import add_angles, multiple_angle, sincos_from_pieces
from emdeg.algebra.trig_poly import Generator

P = 2**61 - 1
"""The prime. P = 3 mod 4, so -1 has no root and 1 + t^2 is never zero on the way to a circle point."""

ROOT_OF_HALF = 2**30
"""The sine of 45 degrees: twice its square is 2^61, which is 1."""


def residue_inverse(value: int) -> int:
    """1 / value modulo P; ZeroDivisionError for multiples of P."""
    if value % P == 0:
        raise ZeroDivisionError("division by zero modulo 2^61 - 1: take another random point")
    return pow(value, -1, P)


@lru_cache(maxsize=65536)
def residue_of(value: Fraction) -> int:
    """A rational as an integer in 0 .. P - 1, its denominator inverted."""
    return value.numerator * residue_inverse(value.denominator) % P


def root_of(value: int) -> int:
    """A root of value modulo P; ZeroDivisionError if it has none."""
    root = pow(value, (P + 1) // 4, P)
    if (root * root - value) % P:
        raise ZeroDivisionError("a radicand has no root modulo 2^61 - 1: take another random point")
    return root


class Residue:
    """An integer modulo P; immutable. +, -, * and / take residues, int and Fraction.

    Equality with numbers is meant modulo P, hence there is no hash that would agree with theirs.

    >>> Residue(3) / 2 * 2 - Fraction(1, 2) == Fraction(5, 2)
    True
    """

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    value: int

    def __init__(self, value: int) -> None:
        self.value = value % P

    def __add__(self, other: Residue | int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(self.value + value)

    __radd__ = __add__

    def __sub__(self, other: Residue | int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(self.value - value)

    def __rsub__(self, other: int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(value - self.value)

    def __mul__(self, other: Residue | int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(self.value * value)

    __rmul__ = __mul__

    def __truediv__(self, other: Residue | int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(self.value * residue_inverse(value))

    def __rtruediv__(self, other: int | Fraction) -> Residue:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return Residue(value * residue_inverse(self.value))

    def __neg__(self) -> Residue:
        return Residue(-self.value)

    def __pow__(self, exponent: int) -> Residue:
        return Residue(pow(self.value if exponent >= 0 else residue_inverse(self.value), abs(exponent), P))

    def __eq__(self, other: object) -> bool:
        if (value := _lifted(other)) is None:
            return NotImplemented
        return (self.value - value) % P == 0

    def __bool__(self) -> bool:
        return self.value != 0

    def __repr__(self) -> str:
        return f"Residue({self.value})"


def _lifted(other: object) -> int | None:
    if type(other) is Residue:
        return other.value
    if isinstance(other, int):
        return other
    if isinstance(other, Fraction):
        return residue_of(other)
    return None


class PrimeField:
    """Residues for everything a robot's constants and state may hold, fixed by `seed` and name.

    The same seed and name give the same residue in every process.

    >>> s, c = PrimeField(seed=1).joint_sincos(3)
    >>> s * s + c * c
    Residue(1)
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def _drawn(self, kind: str, name: str) -> int:
        digest = hashlib.blake2b(f"{self.seed}/0/{kind}/{name}".encode(), digest_size=32).digest()
        # 256 bits make the remainder uniform to one part in 2^195.
        return int.from_bytes(digest, "big") % P

    def _circle_point(self, name: str) -> tuple[Residue, Residue]:
        """A random (sine, cosine), from t: 2t / (1 + t^2), (1 - t^2) / (1 + t^2)."""
        t = self._drawn("angle", name)
        scale = residue_inverse(1 + t * t)
        return Residue(2 * t * scale), Residue((1 - t * t) * scale)

    def random(self, name: str) -> Residue:
        """A random value of any other quantity, fixed by its name."""
        return Residue(self._drawn("free", name))

    def number(self, value: Fraction | int) -> Residue:
        """A rational constant."""
        return Residue(residue_of(Fraction(value)))

    def symbol(self, name: str) -> Residue:
        """A parameter's random value."""
        return Residue(self._drawn("parameter", name))

    def sincos(self, angle: Angle) -> tuple[Residue, Residue]:
        """(sine, cosine) of a constant angle: exact for quarter turns, else a point fixed by the angle."""
        return sincos_from_pieces(angle, self.number, self._constant_pair)

    def _constant_pair(self, piece: Angle) -> tuple[Residue, Residue]:
        if piece == HALF_RIGHT:
            return Residue(ROOT_OF_HALF), Residue(ROOT_OF_HALF)
        return self._circle_point(f"constant {piece.pi_times} {piece.radians} {piece.symbol}")

    def sqrt(self, value: Residue) -> Residue:
        """The root that is itself a square; ZeroDivisionError where there is none: take another random point."""
        return Residue(root_of(value.value))

    def joint_sincos(self, joint: int | str) -> tuple[Residue, Residue]:
        """(sine, cosine) of a revolute joint's random angle."""
        return self._circle_point(f"joint {joint}")

    def sum_sincos(self, multiples: Mapping[Any, int]) -> tuple[Residue, Residue]:
        """(sine, cosine) of an integer combination of joint angles, {joint: multiple}."""
        zero, one = self.number(0), self.number(1)
        total = zero, one
        for joint, times in multiples.items():
            total = add_angles(total, multiple_angle(self.joint_sincos(joint), times, one, zero))
        return total

    def displacement(self, joint: int | str) -> Residue:
        """A prismatic joint's random displacement."""
        return Residue(self._drawn("displacement", str(joint)))

    def rate(self, joint: int | str) -> Residue:
        """A joint's random velocity."""
        return Residue(self._drawn("rate", str(joint)))

    def acceleration(self, joint: int | str) -> Residue:
        """A joint's random acceleration."""
        return Residue(self._drawn("acceleration", str(joint)))

    def letter(self, generator: Generator) -> Residue:
        """The value of one letter of a formula: `formula.map(field.letter, field.number)`."""
        if generator.kind in ("sine", "cosine"):
            pair = self.sincos(generator.of) if isinstance(generator.of, Angle) else self.joint_sincos(generator.of)
            return pair[generator.kind == "cosine"]
        return Residue(self._drawn(generator.kind, str(generator.of)))
