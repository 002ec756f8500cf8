"""How large the difference of two programs can be, as a polynomial: its degree, and how many bits its numbers have.

Every value is N / D. D is a product of divisors' numerators and of a power of Q, the least common denominator of the
program's numbers, so a divisor that two terms share counts once in their sum. N is a polynomial over the integers in
the inputs and in the parameters t of the circles, where s = 2 t / (1 + t^2) and c = (1 - t^2) / (1 + t^2): an angle
that occurs to the degree 2 k stands over (1 + t^2)^k. `bits` bounds log2 |N| where every variable has the absolute
value one; so it bounds every coefficient too (Cauchy), adds up in products and grows by one in sums.

A root r of u = N / D is sqrt(N D) / D, whose numerator is no polynomial but integral over them; its degree and its
absolute value are half those of N D. What contains m roots becomes a polynomial by its norm, the product of 2^m
conjugates (docs/verification.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from emdeg.algebra import HALF_RIGHT, SIXTH, Angle, angle_pieces
from emdeg.programs.ir import LAWS, Kind, Program, live
from emdeg.programs.residues import Atom, angle_atoms

Degrees = Counter[object]
"""The degree in each independent variable."""
Powers = Counter[object]
"""A product: a divisor's number, or NUMBERS -> its exponent."""

NUMBERS = "numbers"
"""Stands for Q among the divisors."""
CIRCLE = "circle"
MOST_BITS = 1_000_000
"""Of Q: far more than any robot's, far less than takes long."""


@dataclass(frozen=True, slots=True)
class Size:
    """A polynomial's degrees, and log2 of its largest absolute value on the unit circles."""

    degrees: Degrees
    bits: float

    def __mul__(self, other: Size) -> Size:
        return Size(self.degrees + other.degrees, self.bits + other.bits)

    def __pow__(self, power: int) -> Size:
        if power == 1:
            return self
        return Size(Counter({key: power * degree for key, degree in self.degrees.items()}), power * self.bits)

    @property
    def degree(self) -> int:
        return self.degrees.total()


ONE = Size(Counter(), 0.0)


@dataclass(frozen=True, slots=True)
class Rational:
    """A numerator's size over a product of divisors."""

    over: Size
    under: Powers = field(default_factory=Counter)


def difference_size(program: Program, other: Program) -> tuple[int, int]:
    """(degree, bits) of the norm of f - g's numerator, f and g any two values of these that a proof compares.

    Those are outputs, divisors and radicands. ValueError where they are beyond any robot's.
    """
    roots = max(sum(op.kind is Kind.SQRT for op in one.ops) for one in (program, other))
    degree, bits = 0, 1.0
    for one in (program, other):
        worst = _worst(one)
        degree += worst.degree
        # Where two angles have different degrees, one side takes another (1 + t^2), which is at most 2.
        bits += worst.bits + worst.degree / 2
    # Four times: the numbers lie in Q(sqrt 2, sqrt 3), where a norm has four factors; a little for rounding `bits`.
    return degree << roots, math.ceil(_finite(bits * 2**roots * 4 * (1 + 1e-6)))


def degree_bound(program: Program) -> int:
    """A bound on the degree of any output's numerator and denominator together, roots taken as variables."""
    return _worst(program).degree


def _worst(program: Program) -> Size:
    Q = _common_denominator(program)
    known: list[Rational] = []
    divisor: dict[object, Size] = {NUMBERS: Size(Counter(), math.log2(Q))}

    def size(product: Powers) -> Size:
        total = ONE
        for index, power in product.items():
            total = total * divisor[index] ** power
        return total

    def whole(value: Rational) -> Size:
        return value.over * size(value.under)

    for index, op in enumerate(program.ops):
        args = [known[arg] for arg in op.args]
        match op.kind:
            case Kind.ANGLE:
                value = Rational(ONE)
            case Kind.NUMBER:
                n, d = abs(op.number.numerator), op.number.denominator
                bits = math.log2(n) if n else 0.0
                whole_number = Rational(Size(Counter(), bits))
                over_q = Size(Counter(), bits + math.log2(Q) - math.log2(d))
                value = whole_number if d == 1 else Rational(over_q, Counter({NUMBERS: 1}))
            case Kind.INPUT:
                value = Rational(Size(Counter({op.slot: 1}), 0.0))
            case Kind.SIN | Kind.COS:
                value = _of_circle(angle_atoms(program, op.args[0]))
            case Kind.ADD | Kind.SUB:
                a, b = args
                common = a.under if a.under == b.under else a.under | b.under
                a, b = (x.over if x.under == common else x.over * size(common - x.under) for x in args)
                value = Rational(_added(a, b), common)
            case Kind.MUL:
                a, b = args
                value = Rational(a.over * b.over, a.under + b.under)
            case Kind.DIV:
                a, b = args
                divisor[op.args[1]] = b.over
                over = a.over * size(b.under - a.under)
                value = Rational(over, (a.under - b.under) + Counter({op.args[1]: 1}))
            case Kind.SQRT:
                (a,) = args
                full = whole(a)
                value = Rational(Size(full.degrees, full.bits + full.degree), a.under)
            case Kind.SIGN | Kind.EXP | Kind.TANH:
                value = Rational(Size(Counter({(op.kind, index): 1}), 0.0))  # a value of its own, whatever it is of
            case _:
                value = args[0]
        if value.over.bits > 1e15 or value.over.degree > 2**62:
            raise ValueError(f"{program.name}: operation {index} is too large a number or of too high a degree")
        known.append(value)
    compared = {*program.roots()}
    for op, alive in zip(program.ops, live(program)):
        if alive and op.kind in (Kind.DIV, Kind.SQRT, *LAWS):
            compared.add(op.args[-1])
    sizes = [whole(known[index]) for index in compared]
    degree = max((one.degree for one in sizes), default=0)
    return Size(Counter({"all": degree}), _finite(max((one.bits for one in sizes), default=0.0)))


def _common_denominator(program: Program) -> int:
    """Q; even where a sine of 45 or 60 degrees, sqrt(2) / 2 or sqrt(3) / 2, may stand."""
    found = 2 if any(op.kind is Kind.ANGLE for op in program.ops) else 1
    for d in {op.number.denominator for op in program.ops if op.kind is Kind.NUMBER}:
        found = math.lcm(found, d)
        if found.bit_length() > MOST_BITS:
            raise ValueError(f"{program.name}: its numbers have too many digits")
    return found


def _of_circle(atoms: Mapping[Atom, int]) -> Rational:
    """The sine and cosine of a sum of angles: e^(i n q) is (1 + i t)^(2 n) over (1 + t^2)^n, at most 4^n."""
    degrees: Degrees = Counter()
    bits, halves = 0.0, 0
    for atom, times in atoms.items():
        for piece in angle_pieces(atom) if isinstance(atom, Angle) else (atom,):
            if piece in (HALF_RIGHT, SIXTH):  # both parts of e^(i q) are integers of Q(sqrt 2, sqrt 3) over 2
                halves += abs(times)
                bits += abs(times)
            else:
                degrees[CIRCLE, piece] += 2 * abs(times)
                bits += 2 * abs(times)
    return Rational(Size(degrees, bits), Counter({NUMBERS: halves} if halves else {}))


def _added(a: Size, b: Size) -> Size:
    degrees = a.degrees | b.degrees
    return Size(degrees, 1 + max(a.bits + _padding(a.degrees, degrees), b.bits + _padding(b.degrees, degrees)))


def _padding(own: Degrees, wanted: Degrees) -> float:
    """The bits of the factors (1 + t^2) that bring an angle's degree up to what is wanted."""
    if own is wanted or own == wanted:
        return 0.0
    return sum((n - own[key]) / 2 for key, n in wanted.items() if isinstance(key, tuple) and key[0] == CIRCLE)


def _finite(bits: float) -> float:
    if not bits < 1e15:
        raise ValueError("numbers of more than 10^15 bits are no robot's")
    return bits
