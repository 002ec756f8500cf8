"""Arithmetic modulo primes: identity tests at random points, modulo one prime or several at once.

Two formulas that differ as polynomials of degree d agree at a random point with a chance of at most d / p (Schwartz and
Zippel), unless p divides every coefficient of their difference: hence primes are drawn from a set that no file can
know (`docs/verification.md`). Sines and cosines are random points of the circle, from its rational parametrisation, so
that s^2 + c^2 = 1 holds exactly and nothing else does.

A `PrimeField` is one point modulo one prime of 60 bits or more, in Python's integers: for identity tests.
`PrimeColumns` are many points modulo primes below 2^31, in NumPy's: for searches that look values up by their residues.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice
from typing import Any

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from emdeg.algebra.angle import HALF_RIGHT, SIXTH, Angle
from emdeg.algebra.scalar import sincos_from_pieces
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


def rational_of(value: int, modulus: int, most_above: int, most_below: int) -> Fraction | None:
    """The fraction of such a numerator and denominator at most that has this residue; None where there is none.

    There is one at most where 2 * most_above * most_below < modulus. Euclid's algorithm, stopped half way, finds it
    (Wang, 1981).
    """
    old, new = (modulus, 0), (value, 1)
    while new[0] > most_above:
        quotient = old[0] // new[0]
        old, new = new, (old[0] - quotient * new[0], old[1] - quotient * new[1])
    return Fraction(new[0], new[1]) if 0 < abs(new[1]) <= most_below else None


class Residue:
    """An integer modulo a prime; immutable. +, -, * and / take residues of the same prime, int and Fraction.

    Equality with numbers is meant modulo the prime, hence there is no hash that would agree with theirs. An array of
    integers modulo an array of primes (`PrimeColumns`) takes +, - and * with its own kind.

    >>> Residue(3) / 2 * 2 - Fraction(1, 2) == Fraction(5, 2)
    True
    """

    __slots__ = ("prime", "value")
    __hash__ = None  # type: ignore[assignment]

    value: Any
    prime: Any

    def __init__(self, value: Any, prime: Any = P) -> None:
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
        return Residue(self.value + (self.prime - value), self.prime)

    def __rsub__(self, other: int | Fraction) -> Residue:
        return -self + other

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
        return other * self**-1

    def __neg__(self) -> Residue:
        return Residue(self.prime - self.value, self.prime)

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

    def _lifted(self, other: object) -> Any:
        if type(other) is Residue:
            if other.prime is not self.prime and other.prime != self.prime:
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

    def _residue(self, value: Any) -> Residue:
        return Residue(value, self.prime)

    def _drawn(self, kind: str, name: str) -> Any:
        digest = hashlib.blake2b(f"{self.seed}/0/{kind}/{name}".encode(), digest_size=32).digest()
        # 256 bits make the remainder uniform to one part in 2^193.
        return int.from_bytes(digest, "big") % self.prime

    def circle_point(self, name: str) -> tuple[Residue, Residue]:
        """A random (sine, cosine), from t: 2t / (1 + t^2), (1 - t^2) / (1 + t^2)."""
        t = self._drawn("angle", name)
        square = t * t % self.prime
        scale = self.inverse(1 + square)
        return self._residue(2 * t * scale), self._residue((1 + self.prime - square) * scale)

    def inverse(self, value: Any) -> Any:
        """1 / value; ZeroDivisionError for zero."""
        return residue_inverse(value, self.prime)

    def square_root(self, value: Any) -> Any:
        """The root that is itself a square; UnluckyPoint where there is none: take another random point."""
        return root_of(value, self.prime)

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
            half = self._residue(self.square_root(self.number(Fraction(1, 2)).value))
            return half, half
        if piece == SIXTH and np.all(self.prime % MODULO == REMAINDER):
            root = self.square_root(self.number(Fraction(3, 4)).value)
            return self.number(Fraction(1, 2)), self._residue(root)
        return self.circle_point(self._name_of(piece))

    def _name_of(self, piece: Angle) -> str:
        return f"constant {piece.pi_times} {piece.radians} {piece.symbol}"

    def angle(self, angle: Angle) -> Any:
        """What an angle is itself: None, for it has a sine and a cosine but no residue."""

    def sqrt(self, value: Residue) -> Residue:
        """The root that is itself a square; UnluckyPoint where there is none: take another random point."""
        return self._residue(self.square_root(value.value))

    def law(self, name: str, argument: Any) -> Any:
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
        return self.circle_point(f"joint {joint}")

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
        """The value of one symbol of a formula: `formula.map(field.letter, field.number)`."""
        if generator.kind in ("sine", "cosine"):
            pair = self.sincos(generator.of) if isinstance(generator.of, Angle) else self.joint_sincos(generator.of)
            return pair[generator.kind == "cosine"]
        return self._residue(self._drawn(generator.kind, str(generator.of)))


class PrimeColumns(PrimeField):
    """Random points in columns: `POINTS` of them modulo one prime, each further one modulo a prime of its own.

    Values that agree in every column are the same function but for a chance of some 2^-120; if they are proportional,
    their ratio follows from its residues modulo many primes. Values are arrays of one residue per column. Where a prime
    divides a number's denominator, the number has random residues of its own; 1 / 0 is 0.
    """

    POINTS, PRIMES = 4, 16

    def __init__(self, seed: int | str) -> None:
        primes = _short_primes(self.PRIMES)
        self.columns = (primes[0],) * (self.POINTS - 1) + primes
        super().__init__(seed, np.array(self.columns, dtype=np.uint64))  # type: ignore[arg-type]
        self._drawn_again = [0] * len(self.columns)

    def draw_again(self, columns: NDArray[np.bool_]) -> None:
        """Other points in these columns: where a radicand has no root."""
        self._drawn_again = [times + int(bad) for times, bad in zip(self._drawn_again, columns)]

    def _drawn(self, kind: str, name: str) -> Residues:
        name = f"{_KINDS.get(kind, kind)} {name}".lstrip()
        rng = random.Random(f"{self.seed} {name}")
        values = [rng.randrange(1, p) for p in self.columns]
        for k, times in enumerate(self._drawn_again):
            if times:
                values[k] = random.Random(f"{self.seed} {name} {k} {times}").randrange(1, self.columns[k])
        return np.array(values, dtype=np.uint64)

    def _each(self, of: Callable[[int, int], int], values: Residues) -> Residues:
        return np.array([of(value, p) for value, p in zip(values.tolist(), self.columns)], dtype=np.uint64)

    def number(self, value: Fraction | int) -> Residue:
        n, d = value.numerator, value.denominator
        if any(d % p == 0 for p in self.columns):
            return self.random(f"number {value}")
        return self._residue(np.array([n % p * pow(d, -1, p) % p for p in self.columns], dtype=np.uint64))

    def inverse(self, value: Residues) -> Residues:
        return self._each(lambda v, p: pow(v, -1, p) if v % p else 0, value)

    def square_root(self, value: Residues) -> Residues:
        """The root that is a square itself; wrong where a value has none."""
        return self._each(lambda v, p: pow(v, (p + 1) // 4, p), value)

    def law(self, name: str, argument: Residues) -> Residues:
        turned = name != "exp" and bool(2 * int(argument[0]) > self.columns[0])
        value = self._drawn(name, str(((self.prime - argument) % self.prime if turned else argument).tolist()))
        return (self.prime - value) % self.prime if turned else value

    def joint_sincos(self, joint: int | str) -> tuple[Residue, Residue]:
        return self.circle_point(joint if isinstance(joint, str) else f"q {joint}")

    def angle(self, angle: Angle) -> Residues:
        return self._drawn("free", f"angle {angle}")

    def _name_of(self, piece: Angle) -> str:
        return str(piece)

    def ratio(self, above: Residues, below: Residues) -> Fraction | None:
        """The rational number above / below if there is a plausible one: small beside the product of the primes."""
        modulus, value = 1, 0
        for p, a, b in zip(*(values[self.POINTS - 1 :] for values in (self.columns, above.tolist(), below.tolist()))):
            if not b:
                return None
            r = a * pow(b, -1, p) % p
            value += modulus * ((r - value) * pow(modulus, -1, p) % p)
            modulus *= p
        bound = 1 << (modulus.bit_length() // 2 - 24)
        return rational_of(value, modulus, bound, bound)


Residues = NDArray[np.uint64]
"""One residue per column."""
_KINDS = {"angle": "circle", "free": "", "displacement": "q", "rate": "qd", "acceleration": "qdd"}
"""What a column's draw of each kind is named after."""


@lru_cache(maxsize=1)
def _short_primes(many: int) -> tuple[int, ...]:
    """The largest primes below 2^31 that are 7 modulo 8, where 2 has a root and products fit 64 bits."""
    candidates = (n for n in range(2**31 - 1, 0, -8) if fmpz(n).is_prime())
    return tuple(islice(candidates, many))
