"""Fingerprints: a program's values at a few random points modulo primes.

Two values are the same function if their fingerprints agree (but for a chance of some 2^-120), and one is a number
times the other if their fingerprints are proportional; the number itself follows from its residues modulo many
primes. So what a value equals is looked up, not derived. Whatever a search finds this way is proved again before it
leaves the house.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Angle, add_angles, multiple_angle, sincos_from_pieces
from emdeg.programs.ir import Kind, Op, Program
from emdeg.programs.simplification import retraced
from emdeg.programs.trace import Traced, Tracer
from emdeg.programs.values import angle_atoms

POINTS = 4
"""The first four columns are points modulo one prime; each further column is a point modulo a prime of its own."""
PRIMES = 16
MOST_ROOTS = 6
"""Up to so many square roots a program's points are drawn again until all exist: in half of the cases each."""

Print = NDArray[np.uint64]


@lru_cache(maxsize=1)
def primes() -> tuple[int, ...]:
    """The largest primes below 2^31 that are 7 modulo 8, where 2 has a root and products fit 64 bits."""
    found: list[int] = []
    n = 2**31 - 1
    while len(found) < PRIMES:
        if n % 8 == 7 and all(pow(b, n - 1, n) == 1 for b in (2, 3, 5, 7, 11, 13)):
            found.append(n)
        n -= 2
    return tuple(found)


class Points:
    """Values of every input at the columns' points, fixed by the seed."""

    def __init__(self, seed: int) -> None:
        self.p = primes()[0]
        self.columns: Sequence[int] = (self.p,) * (POINTS - 1) + primes()
        self.moduli = np.array(self.columns, dtype=np.uint64)
        self._seed = seed
        self._drawn_again = [0] * len(self.columns)

    def draw_again(self, columns: NDArray[np.bool_]) -> None:
        """Other points in these columns: where a radicand has no root."""
        self._drawn_again = [times + int(bad) for times, bad in zip(self._drawn_again, columns)]

    def number(self, value: Fraction) -> Print:
        """Its residues; where a prime divides its denominator, random ones that are its own."""
        n, d = value.numerator, value.denominator
        if any(d % p == 0 for p in self.columns):
            return self.free(f"number {value}")
        return np.array([n % p * pow(d, -1, p) % p for p in self.columns], dtype=np.uint64)

    def free(self, name: str) -> Print:
        """Independent random residues, the same for the same name."""
        rng = random.Random(f"{self._seed} {name}")
        values = [rng.randrange(1, p) for p in self.columns]
        for k, times in enumerate(self._drawn_again):
            if times:
                values[k] = random.Random(f"{self._seed} {name} {k} {times}").randrange(1, self.columns[k])
        return np.array(values, dtype=np.uint64)

    def circle(self, name: str) -> tuple[Print, Print]:
        """(sine, cosine) of an independent angle, by the rational parametrisation of the circle."""
        sines, cosines = [], []
        for t, p in zip(self.free(f"circle {name}").tolist(), self.columns):
            inverse = pow(1 + t * t, -1, p)  # -1 is no square modulo p
            sines.append(2 * t * inverse % p)
            cosines.append((1 - t * t) * inverse % p)
        return np.array(sines, dtype=np.uint64), np.array(cosines, dtype=np.uint64)

    def constant(self, angle: Angle) -> tuple[Print, Print]:
        s, c = sincos_from_pieces(angle, lambda v: Residues(self.number(v), self.moduli), self._piece)
        return s.value, c.value

    def _piece(self, piece: Angle) -> tuple[Residues, Residues]:
        if piece.symbol is None and piece.pi_times == Fraction(1, 4) and not piece.radians:
            roots = [pow(pow(2, -1, p), (p + 1) // 4, p) for p in self.columns]  # of 1/2
            both = Residues(np.array(roots, dtype=np.uint64), self.moduli)
            return both, both
        s, c = self.circle(str(piece))
        return Residues(s, self.moduli), Residues(c, self.moduli)

    def root(self, values: Print) -> Print:
        """The root that is a square itself; wrong where a value has none."""
        return np.array([pow(v, (p + 1) // 4, p) for v, p in zip(values.tolist(), self.columns)], dtype=np.uint64)

    def inverse(self, values: Print) -> Print:
        """1 / values; zero where a value is zero."""
        return np.array([pow(v, -1, p) if v else 0 for v, p in zip(values.tolist(), self.columns)], dtype=np.uint64)


class Residues:
    """Residues with operators, for the formulas that serve every algebra."""

    def __init__(self, value: Print, moduli: Print) -> None:
        self.value, self.moduli = value, moduli

    def __add__(self, other: Residues) -> Residues:
        return Residues((self.value + other.value) % self.moduli, self.moduli)

    def __sub__(self, other: Residues) -> Residues:
        return Residues((self.value + (self.moduli - other.value)) % self.moduli, self.moduli)

    def __mul__(self, other: Residues) -> Residues:
        return Residues(self.value * other.value % self.moduli, self.moduli)

    def __neg__(self) -> Residues:
        return Residues((self.moduli - self.value) % self.moduli, self.moduli)


def fingerprints(program: Program, points: Points) -> list[Print]:
    """The residues of every value of the program.

    Points are drawn again until every radicand has a root. Of many roots that takes too long: then a root stands for
    itself, and identities that need its square are not seen.
    """
    roots = [index for index, op in enumerate(program.ops) if op.kind is Kind.SQRT]
    if not roots or len(roots) > MOST_ROOTS:
        return _fingerprints(program, points, taken=False)
    while True:
        prints = _fingerprints(program, points, taken=True)
        pairs = [(prints[index], prints[program.ops[index].args[0]]) for index in roots]
        squares = [root * root % points.moduli != radicand for root, radicand in pairs]
        bad = np.logical_or.reduce(squares)
        if not bad.any():
            return prints
        points.draw_again(bad)


def _fingerprints(program: Program, points: Points, taken: bool) -> list[Print]:
    labels = {group.name: group.labels for group in program.inputs}
    prints: list[Print] = []
    circles: dict[int, tuple[Print, Print]] = {}
    zero, one = (Residues(points.number(Fraction(v)), points.moduli) for v in (0, 1))

    def circle(value: int) -> tuple[Print, Print]:
        if value not in circles:
            try:
                atoms = angle_atoms(program, value)
            except ValueError:  # an angle that is no sum of inputs stands for itself
                return points.circle(str(prints[value].tolist()))
            total = zero, one
            for atom, times in atoms.items():
                if isinstance(atom, Angle):
                    s, c = points.constant(atom)
                elif atom[0] == "parameters":
                    s, c = points.circle(str(Angle(symbol=labels["parameters"][atom[1]])))
                else:
                    s, c = points.circle(f"{atom[0]} {atom[1]}")
                pair = Residues(s, points.moduli), Residues(c, points.moduli)
                total = add_angles(total, multiple_angle(pair, times, one, zero))
            circles[value] = total[0].value, total[1].value
        return circles[value]

    for op in program.ops:
        if op.kind is Kind.SIN:
            prints.append(circle(op.args[0])[0])
        elif op.kind is Kind.COS:
            prints.append(circle(op.args[0])[1])
        else:
            prints.append(_value(op, [prints[arg] for arg in op.args], points, taken))
    return prints


def _value(op: Op, args: list[Print], points: Points, taken: bool) -> Print:
    m = points.moduli
    match op.kind:
        case Kind.NUMBER:
            return points.number(op.number)
        case Kind.INPUT:
            return points.free(f"{op.slot[0]} {op.slot[1]}")
        case Kind.ANGLE:
            return points.free(f"angle {op.angle}")
        case Kind.SQRT:
            return points.root(args[0]) if taken else points.free(f"root {args[0].tolist()}")
        case Kind.SIGN | Kind.EXP | Kind.TANH:
            return _law(op.kind, args[0], points)
        case Kind.ADD:
            return (args[0] + args[1]) % m
        case Kind.SUB:
            return (args[0] + (m - args[1])) % m
        case Kind.MUL:
            return args[0] * args[1] % m
        case Kind.NEG:
            return (m - args[0]) % m
        case Kind.DIV:
            return args[0] * points.inverse(args[1]) % m
    raise ValueError(f"{op.kind} has no fingerprint")


def _law(kind: Kind, argument: Print, points: Points) -> Print:
    """A residue for a function of which only its argument is known; odd functions have odd residues."""
    m = points.moduli
    turned = kind is not Kind.EXP and bool(2 * int(argument[0]) > int(m[0]))
    value = points.free(f"{kind} {((m - argument) % m if turned else argument).tolist()}")
    return (m - value) % m if turned else value


def merged(program: Program, seed: int = 0) -> Program:
    """The program with one value, the first, for all that are equal up to sign at random points.

    Kane's speeds are inputs: what a recursion makes of the rates that were made of them is one of them again.
    """
    points = Points(seed)
    tracer = Tracer.like(program)
    first: dict[bytes, Traced] = {}
    values: list[Traced] = []
    for op, residues in zip(program.ops, fingerprints(program, points)):
        key, negative = residues.tobytes(), ((points.moduli - residues) % points.moduli).tobytes()
        if key in first:
            values.append(first[key])
        elif negative in first:
            values.append(-first[negative])
        else:
            values.append(tracer.apply(op, [values[arg] for arg in op.args]))
            first[key] = values[-1]
    return retraced(program, tracer, values)


def ratio(above: Print, below: Print, points: Points) -> Fraction | None:
    """The rational number above / below if there is a plausible one: small beside the product of the primes."""
    modulus, value = 1, 0
    for p, a, b in zip(points.columns[POINTS - 1 :], above[POINTS - 1 :].tolist(), below[POINTS - 1 :].tolist()):
        if not b:
            return None
        r = a * pow(b, -1, p) % p
        value += modulus * ((r - value) * pow(modulus, -1, p) % p)
        modulus *= p
    # Euclid's algorithm, stopped half way, finds numerator and denominator (Wang, 1981).
    bound = 1 << (modulus.bit_length() // 2 - 24)
    old, new = (modulus, 0), (value, 1)
    while new[0] > bound:
        quotient = old[0] // new[0]
        old, new = new, (old[0] - quotient * new[0], old[1] - quotient * new[1])
    if new[1] == 0 or abs(new[1]) > bound:
        return None
    return Fraction(new[0], new[1])
