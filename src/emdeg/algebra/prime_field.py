"""Arithmetic modulo a prime: proofs of identity at random points.

Two formulas that differ as polynomials of degree d agree at a random point with a chance of at most d / p (Schwartz and
Zippel), unless p divides every coefficient of their difference: hence primes are drawn from a set that no file can
know (`docs/verification.md`). Sines and cosines are random points of the circle, from its rational parametrisation, so
that s^2 + c^2 = 1 holds exactly and nothing else does.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

from flint import fmpz

from emdeg.algebra.angle import HALF_RIGHT, SIXTH, Angle
from emdeg.algebra.scalar import add_angles, multiple_angle, sincos_from_pieces
from emdeg.algebra.trig_poly import Generator
from emdeg.errors import UnluckyPoint

P = 2**61 - 1
"""A prime that anyone can know: for repeatable work whose result is proved elsewhere."""

LEAST_PRIME, MOST_PRIME = 2**60, 2**63
"""Primes are drawn between these."""
REMAINDER, MODULO = 23, 24
"""Drawn primes are 23 modulo 24: -1 has no root, so that 1 + t^2 is never zero, and 2 and 3 have roots."""
MANY_PRIMES = 2**54
"""There are more primes to draw from than this: x / (8 log x) < pi(x; 24, 23) < x / (8 log x) (1 + 5 / (2 log x)) for
x >= 50 24^2 (Bennett, Martin, O'Bryant and Rechnitzer, Explicit bounds for primes in arithmetic progressions, 2018)."""


def prime_of(seed: int | str) -> int:
    """A prime from the large set, each as likely as any other; the same for the same seed."""
    places = (MOST_PRIME - LEAST_PRIME) // MODULO
    first = LEAST_PRIME - LEAST_PRIME % MODULO + REMAINDER
    for attempt in count():
        digest = hashlib.blake2b(f"{seed}/prime/{attempt}".encode(), digest_size=32).digest()
        candidate = first + MODULO * (int.from_bytes(digest, "big") % places)
        if fmpz(candidate).is_prime():  # no probable prime: below 2^64 the test is a proof
            return candidate
    raise AssertionError("unreachable")


def residue_inverse(value: int, prime: int = P) -> int:
    """1 / value modulo the prime; ZeroDivisionError for its multiples."""
    if value % prime == 0:
        raise ZeroDivisionError("division by zero modulo a prime: take another random point")
    return pow(value, -1, prime)


@lru_cache(maxsize=65536)
def residue_of(value: Fraction, prime: int = P) -> int:
    """A rational as an integer in 0 .. prime - 1, its denominator inverted."""
    return value.numerator * residue_inverse(value.denominator, prime) % prime


def root_of(value: int, prime: int = P) -> int:
    """The root of value modulo the prime that is a square itself; UnluckyPoint if it has none."""
    root = pow(value, (prime + 1) // 4, prime)
    if (root * root - value) % prime:
        raise UnluckyPoint("a radicand has no root modulo a prime: take another random point")
    return root


class Residue:
    """An integer modulo a prime; immutable. +, -, * and / take residues of the same prime, int and Fraction.

    Equality with numbers is meant modulo the prime, hence there is no hash that would agree with theirs.

    >>> Residue(3) / 2 * 2 - Fraction(1, 2) == Fraction(5, 2)
    True
    """

    __slots__ = ("prime", "value")
    __hash__ = None  # type: ignore[assignment]

    value: int
    prime: int

    def __init__(self, value: int, prime: int = P) -> None:
        self.value = value % prime
        self.prime = prime

    def __add__(self, other: Residue | int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(self.value + value, self.prime)

    __radd__ = __add__

    def __sub__(self, other: Residue | int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(self.value - value, self.prime)

    def __rsub__(self, other: int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(value - self.value, self.prime)

    def __mul__(self, other: Residue | int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(self.value * value, self.prime)

    __rmul__ = __mul__

    def __truediv__(self, other: Residue | int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(self.value * residue_inverse(value, self.prime), self.prime)

    def __rtruediv__(self, other: int | Fraction) -> Residue:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return Residue(value * residue_inverse(self.value, self.prime), self.prime)

    def __neg__(self) -> Residue:
        return Residue(-self.value, self.prime)

    def __pow__(self, exponent: int) -> Residue:
        base = self.value if exponent >= 0 else residue_inverse(self.value, self.prime)
        return Residue(pow(base, abs(exponent), self.prime), self.prime)

    def __eq__(self, other: object) -> bool:
        if (value := self._lifted(other)) is None:
            return NotImplemented
        return (self.value - value) % self.prime == 0

    def __bool__(self) -> bool:
        return self.value != 0

    def __repr__(self) -> str:
        return f"Residue({self.value})"

    def _lifted(self, other: object) -> int | None:
        if type(other) is Residue:
            if other.prime != self.prime:
                raise ValueError("residues modulo two primes cannot meet in one operation")
            return other.value
        if isinstance(other, int):
            return other
        if isinstance(other, Fraction):
            return residue_of(other, self.prime)
        return None


class PrimeField:
    """Residues for everything a robot's constants and state may hold, fixed by `seed`, `prime` and name.

    The same seed, prime and name give the same residue in every process. `prime` must be 7 modulo 8.

    >>> s, c = PrimeField(seed=1).joint_sincos(3)
    >>> s * s + c * c
    Residue(1)
    """

    def __init__(self, seed: int | str = 0, prime: int = P) -> None:
        self.seed = seed
        self.prime = prime

    @classmethod
    def drawn(cls, seed: int | str) -> PrimeField:
        """A field whose prime is drawn from the large set, too, by the seed."""
        return cls(seed, prime_of(seed))

    @classmethod
    def fresh(cls) -> PrimeField:
        """A field, and points of it, that nobody could foresee: from the system's randomness."""
        return cls.drawn(secrets.randbits(256))

    def _residue(self, value: int) -> Residue:
        return Residue(value, self.prime)

    def _drawn(self, kind: str, name: str) -> int:
        digest = hashlib.blake2b(f"{self.seed}/0/{kind}/{name}".encode(), digest_size=32).digest()
        # 256 bits make the remainder uniform to one part in 2^193.
        return int.from_bytes(digest, "big") % self.prime

    def _circle_point(self, name: str) -> tuple[Residue, Residue]:
        """A random (sine, cosine), from t: 2t / (1 + t^2), (1 - t^2) / (1 + t^2)."""
        t = self._drawn("angle", name)
        scale = residue_inverse(1 + t * t, self.prime)
        return self._residue(2 * t * scale), self._residue((1 - t * t) * scale)

    def random(self, name: str) -> Residue:
        """A random value of any other quantity, fixed by its name."""
        return self._residue(self._drawn("free", name))

    def number(self, value: Fraction | int) -> Residue:
        """A rational constant."""
        return self._residue(residue_of(Fraction(value), self.prime))

    def symbol(self, name: str) -> Residue:
        """A parameter's random value."""
        return self._residue(self._drawn("parameter", name))

    def sincos(self, angle: Angle) -> tuple[Residue, Residue]:
        """(sine, cosine) of a constant angle: exact for quarters, eighths and twelfths of a turn, else a point.

        The point is fixed by the angle; so it is for twelfths where 3 has no root modulo the prime.
        """
        return sincos_from_pieces(angle, self.number, self._constant_pair)

    def _constant_pair(self, piece: Angle) -> tuple[Residue, Residue]:
        if piece == HALF_RIGHT:
            half = root_of(residue_of(Fraction(1, 2), self.prime), self.prime)
            return self._residue(half), self._residue(half)
        if piece == SIXTH and self.prime % MODULO == REMAINDER:
            root = root_of(residue_of(Fraction(3, 4), self.prime), self.prime)
            return self.number(Fraction(1, 2)), self._residue(root)
        return self._circle_point(f"constant {piece.pi_times} {piece.radians} {piece.symbol}")

    def sqrt(self, value: Residue) -> Residue:
        """The root that is itself a square; UnluckyPoint where there is none: take another random point."""
        return self._residue(root_of(value.value, self.prime))

    def law(self, name: str, argument: int) -> int:
        """A random residue for a function's value at an argument's residue: equal arguments, equal values, no more.

        What two formulas of such values have in common then holds for any function in that place. A sign and a
        hyperbolic tangent are odd.
        """
        turned = name != "exp" and 2 * argument > self.prime
        value = self._drawn(f"law {name}", str(-argument % self.prime if turned else argument))
        return -value % self.prime if turned else value

    def sign(self, value: Residue) -> Residue:
        return self._residue(self.law("sign", value.value))

    def exp(self, value: Residue) -> Residue:
        return self._residue(self.law("exp", value.value))

    def tanh(self, value: Residue) -> Residue:
        return self._residue(self.law("tanh", value.value))

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
        return self._residue(self._drawn("displacement", str(joint)))

    def rate(self, joint: int | str) -> Residue:
        """A joint's random velocity."""
        return self._residue(self._drawn("rate", str(joint)))

    def acceleration(self, joint: int | str) -> Residue:
        """A joint's random acceleration."""
        return self._residue(self._drawn("acceleration", str(joint)))

    def letter(self, generator: Generator) -> Residue:
        """The value of one letter of a formula: `formula.map(field.letter, field.number)`."""
        if generator.kind in ("sine", "cosine"):
            pair = self.sincos(generator.of) if isinstance(generator.of, Angle) else self.joint_sincos(generator.of)
            return pair[generator.kind == "cosine"]
        return self._residue(self._drawn(generator.kind, str(generator.of)))
