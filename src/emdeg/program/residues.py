"""A program's values modulo the prime 2^61 - 1, where equality is exact and costs nothing.

The sine and cosine of an angle become a point of the circle s^2 + c^2 = 1 over the field. Angles that are
independent (inputs, constant angles, symbols) get independent points; the angle of a sum gets the point that
the addition theorems give, so every identity of trigonometric polynomials holds here as it does for reals.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from emdeg.algebra.angle import Angle
from emdeg.program.evaluate import Functions, values
from emdeg.program.ir import Kind, Op, Program, Slot

PRIME = 2**61 - 1

Circle = tuple[int, int]
"""(sine, cosine) modulo the prime."""


class UnluckyPoint(ArithmeticError):
    """At this point of the field a divisor is zero or a radicand has no root: draw another."""


@dataclass
class Point:
    """A random assignment of residues and circle points, drawn on demand and then fixed.

    The same seed gives the same assignment to the same name, whichever program asks first.
    """

    seed: int
    residues: dict[Slot, int] = field(default_factory=dict)
    circles: dict[object, Circle] = field(default_factory=dict)

    def residue(self, slot: Slot) -> int:
        if slot not in self.residues:
            self.residues[slot] = random.Random(f"{self.seed} value {slot}").randrange(PRIME)
        return self.residues[slot]

    def circle(self, atom: Slot | Angle) -> Circle:
        if atom not in self.circles:
            # 1 + t^2 has no zero, because the prime is 3 modulo 4.
            t = random.Random(f"{self.seed} angle {atom}").randrange(PRIME)
            inverse = pow(1 + t * t, -1, PRIME)
            self.circles[atom] = 2 * t * inverse % PRIME, (1 - t * t) * inverse % PRIME
        return self.circles[atom]


def residue_of(number: Fraction) -> int:
    return number.numerator * pow(number.denominator, -1, PRIME) % PRIME


def evaluate_residues(program: Program, point: Point) -> dict[str, tuple[int, ...]]:
    """The outputs modulo the prime, flat, by name; UnluckyPoint where a quotient or a root fails."""

    def leaf(index: int) -> int | None:
        op = program.ops[index]
        if op.kind is Kind.NUMBER:
            return residue_of(op.number)
        if op.kind is Kind.INPUT:
            return point.residue(op.slot)
        if op.kind is Kind.ANGLE:
            return 0  # no program reads an angle but for its sine and cosine
        if op.kind in (Kind.SIN, Kind.COS):
            return _circle_of(program, op.args[0], point)[op.kind is Kind.COS]
        return None

    results = values(program, leaf, _FIELD)
    return {
        group.name: tuple(ref.sign * results[ref.value] % PRIME if ref.sign else 0 for ref in group.entries)
        for group in program.outputs
    }


def angle_atoms(program: Program, value: int) -> Mapping[Slot | Angle, int]:
    """An angle as a sum of independent angles with whole coefficients."""
    atoms: dict[Slot | Angle, int] = {}
    stack = [(value, 1)]
    while stack:
        index, times = stack.pop()
        op: Op = program.ops[index]
        atom: Slot | Angle
        if op.kind in (Kind.ADD, Kind.SUB):
            stack += [(op.args[0], times), (op.args[1], times if op.kind is Kind.ADD else -times)]
            continue
        if op.kind is Kind.NEG:
            stack.append((op.args[0], -times))
            continue
        if op.kind is Kind.MUL:
            whole = [i for i in op.args if program.ops[i].kind is Kind.NUMBER]
            if len(whole) == 1 and program.ops[whole[0]].number.denominator == 1:
                other = op.args[0] if whole[0] == op.args[1] else op.args[1]
                stack.append((other, times * int(program.ops[whole[0]].number)))
                continue
        if op.kind is Kind.INPUT:
            atom = op.slot
        elif op.kind is Kind.ANGLE:
            atom = op.angle
        elif op.kind is Kind.NUMBER:
            atom = Angle(radians=op.number)
        else:
            raise ValueError(
                f"{program.name}: a sine is taken of something that is no sum of angles (operation {index})"
            )
        atoms[atom] = atoms.get(atom, 0) + times
    return {atom: times for atom, times in atoms.items() if times}


def _circle_of(program: Program, value: int, point: Point) -> Circle:
    s, c = 0, 1
    for atom, times in angle_atoms(program, value).items():
        s1, c1 = point.circle(atom)
        for _ in range(abs(times)):
            s, c = _turned(s, c, s1 if times > 0 else -s1, c1)
    return s, c


def _turned(s: int, c: int, s1: int, c1: int) -> Circle:
    return (s * c1 + c * s1) % PRIME, (c * c1 - s * s1) % PRIME


def _divide(a: int, b: int) -> int:
    if not b:
        raise UnluckyPoint("a divisor is zero here")
    return a * pow(b, -1, PRIME) % PRIME


def _root(a: int) -> int:
    root = pow(a, (PRIME + 1) // 4, PRIME)
    if root * root % PRIME != a:
        raise UnluckyPoint("a radicand has no root here")
    return root


_FIELD: Functions = {
    Kind.ADD: lambda a, b: (a + b) % PRIME,
    Kind.SUB: lambda a, b: (a - b) % PRIME,
    Kind.MUL: lambda a, b: a * b % PRIME,
    Kind.NEG: lambda a: -a % PRIME,
    Kind.DIV: _divide,
    Kind.SQRT: _root,
}
