"""Fingerprints: a program's values at a few random points modulo small primes.

Two values of a program are the same function if their fingerprints agree (but for a chance of about 2^-120); a
value is a number times another if their fingerprints are proportional. So what a value equals is looked up, not
derived.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra.angle import Angle
from emdeg.algebra.scalar import add_angles, multiple_angle, sincos_from_pieces
from emdeg.program.ir import Kind, Op, Program
from emdeg.program.residues import angle_atoms

P = 2**31 - 1
POINTS = 4
Print = NDArray[np.uint64]


class Points:
    """Random values of every input at `count` points modulo the prime `p` (p = 7 modulo 8)."""

    def __init__(self, seed: int, p: int = P, count: int = POINTS) -> None:
        self.p, self.count, self._seed = p, count, seed

    def number(self, value: Fraction) -> Print:
        residue = value.numerator % self.p * pow(value.denominator, -1, self.p) % self.p
        return np.full(self.count, residue, dtype=np.uint64)

    def free(self, name: str) -> Print:
        """Independent random residues, the same for the same name."""
        rng = random.Random(f"{self._seed} {self.p} {name}")
        return np.array([rng.randrange(1, self.p) for _ in range(self.count)], dtype=np.uint64)

    def circle(self, name: str) -> tuple[Print, Print]:
        """(sine, cosine): points of the unit circle, the same for the same name."""
        rng = random.Random(f"{self._seed} {self.p} circle {name}")
        pairs = []
        while len(pairs) < self.count:
            t = rng.randrange(1, self.p)
            below = (1 + t * t) % self.p
            if below:
                inverse = pow(below, -1, self.p)
                pairs.append((2 * t * inverse % self.p, (1 - t * t) * inverse % self.p))
        s, c = zip(*pairs)
        return np.array(s, dtype=np.uint64), np.array(c, dtype=np.uint64)

    def constant(self, angle: Angle) -> tuple[Print, Print]:
        s, c = sincos_from_pieces(angle, lambda v: _Mod(self.number(v), self.p), self._piece)
        return s.value, c.value

    def _piece(self, piece: Angle) -> tuple[_Mod, _Mod]:
        if piece.symbol is None and piece.pi_times == Fraction(1, 4) and not piece.radians:
            root = pow(pow(2, -1, self.p), (self.p + 1) // 4, self.p)  # of 1/2: its own complement
            both = _Mod(np.full(self.count, root, dtype=np.uint64), self.p)
            return both, both
        s, c = self.circle(str(piece))
        return _Mod(s, self.p), _Mod(c, self.p)

    def inverse(self, values: Print) -> Print:
        return np.array([pow(int(v), -1, self.p) for v in values], dtype=np.uint64)


class _Mod:
    """Residues with operators, for the few formulas shared with other algebras."""

    def __init__(self, value: Print, p: int) -> None:
        self.value, self.p = value, p

    def __add__(self, other: _Mod) -> _Mod:
        return _Mod((self.value + other.value) % self.p, self.p)

    def __sub__(self, other: _Mod) -> _Mod:
        return _Mod((self.value + (self.p - other.value)) % self.p, self.p)

    def __mul__(self, other: _Mod) -> _Mod:
        return _Mod(self.value * other.value % self.p, self.p)

    def __neg__(self) -> _Mod:
        return _Mod((self.p - self.value) % self.p, self.p)


def fingerprints(program: Program, points: Points) -> list[Print]:
    """The residues of every value; ZeroDivisionError where a divisor vanishes at a point."""
    labels = {group.name: group.labels for group in program.inputs}
    p = np.uint64(points.p)
    prints: list[Print] = []
    circles: dict[int, tuple[Print, Print]] = {}

    def circle(value: int) -> tuple[Print, Print]:
        if value not in circles:
            total = _Mod(points.number(Fraction(0)), points.p), _Mod(points.number(Fraction(1)), points.p)
            for atom, times in angle_atoms(program, value).items():
                if isinstance(atom, Angle):
                    s, c = points.constant(atom)
                elif atom[0] == "parameters":
                    s, c = points.circle(str(Angle(symbol=labels["parameters"][atom[1]])))
                else:
                    s, c = points.circle(f"{atom[0]} {atom[1]}")
                pair = _Mod(s, points.p), _Mod(c, points.p)
                zero, one = (_Mod(points.number(Fraction(v)), points.p) for v in (0, 1))
                total = add_angles(total, multiple_angle(pair, times, one, zero))
            circles[value] = total[0].value, total[1].value
        return circles[value]

    for op in program.ops:
        prints.append(_value(op, prints, points, circle, p))
    return prints


def _value(op: Op, prints, points: Points, circle, p) -> Print:
    match op.kind:
        case Kind.NUMBER:
            return points.number(op.number)
        case Kind.INPUT:
            return points.free(f"{op.slot[0]} {op.slot[1]}")
        case Kind.ANGLE:
            return points.free(str(op.angle))
        case Kind.SIN:
            return circle(op.args[0])[0]
        case Kind.COS:
            return circle(op.args[0])[1]
    args = [prints[arg] for arg in op.args]
    match op.kind:
        case Kind.ADD:
            return (args[0] + args[1]) % p
        case Kind.SUB:
            return (args[0] + (p - args[1])) % p
        case Kind.MUL:
            return args[0] * args[1] % p
        case Kind.NEG:
            return (p - args[0]) % p
        case Kind.DIV:
            return args[0] * points.inverse(args[1]) % p
    raise ValueError(f"{op.kind} has no fingerprint")


def rational(residues: dict[int, int]) -> Fraction | None:
    """The rational number with these residues (prime -> residue), if a small one exists."""
    modulus, value = 1, 0
    for p, r in residues.items():
        value += modulus * ((r - value) * pow(modulus, -1, p) % p)
        modulus *= p
    # Lattice reduction in two dimensions: Euclid, stopped half way.
    bound = 1 << (modulus.bit_length() // 2 - 24)
    old, new = (modulus, 0), (value, 1)
    while new[0] > bound:
        q = old[0] // new[0]
        old, new = new, (old[0] - q * new[0], old[1] - q * new[1])
    if new[1] == 0 or abs(new[1]) > bound:
        return None
    return Fraction(new[0], new[1])
