"""A program's values modulo the prime 2^61 - 1, where equality is exact and costs nothing.

The sine and cosine of an angle become a point of the circle s^2 + c^2 = 1 over the field. Angles that are
independent (inputs, constant angles, symbols) get independent points; the angle of a sum gets the point that
the addition theorems give, so every identity of trigonometric polynomials holds here as it does for reals.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from emdeg.algebra import Angle, P, PrimeField, Residue, add_angles, multiple_angle, residue_inverse, residue_of
from emdeg.errors import UnluckyPoint
from emdeg.programs.evaluate import Functions, values
from emdeg.programs.ir import Kind, Op, Program, Slot

Atom = Slot | Angle
"""An independent angle: an input, or a constant."""


MOST_TURNS = 1000
"""An angle may stand in a sum so many times; a program that says more was not made by emdeg."""


def evaluate_residues(program: Program, field: PrimeField) -> dict[str, tuple[int, ...]]:
    """The outputs modulo the prime, flat, by name; ZeroDivisionError where a quotient or a root fails.

    Inputs have the values the field gives to joints, rates, accelerations and symbols, so the mechanics run
    over the same field can be compared.
    """
    labels = {group.name: group.labels for group in program.inputs}

    def leaf(index: int) -> int | None:
        op = program.ops[index]
        if op.kind is Kind.NUMBER:
            return residue_of(op.number)
        if op.kind is Kind.INPUT:
            return _input(field, op.slot, labels)
        if op.kind is Kind.ANGLE:
            return 0  # no program reads an angle but for its sine and cosine
        if op.kind in (Kind.SIN, Kind.COS):
            return _circle_of(program, op.args[0], field, labels)[op.kind is Kind.COS]
        return None

    results = values(program, leaf, _FIELD)
    return {
        group.name: tuple(ref.sign * results[ref.value] % P if ref.sign else 0 for ref in group.entries)
        for group in program.outputs
    }


def _input(field: PrimeField, slot: Slot, labels: Mapping[str, tuple[str, ...]]) -> int:
    name, place = slot
    return (field.symbol(labels[name][place]) if name == "parameters" else input_residue(field, slot)).value


def input_residue(field: PrimeField, slot: Slot) -> Residue:
    """The value that the field gives to one entry of an input array, whoever asks: a program, or its reference."""
    name, place = slot
    match name:
        case "q":
            return field.displacement(place)
        case "qd":
            return field.rate(place)
        case "qdd":
            return field.acceleration(place)
        case _:
            return field.random(f"{name} {place}")


def _atom_pair(field: PrimeField, atom: Atom, labels: Mapping[str, tuple[str, ...]]) -> tuple[int, int]:
    if isinstance(atom, Angle):
        s, c = field.sincos(atom)
    elif atom[0] == "parameters":
        s, c = field.sincos(Angle(symbol=labels["parameters"][atom[1]]))
    else:
        s, c = field.joint_sincos(atom[1] if atom[0] == "q" else f"{atom[0]} {atom[1]}")
    return s.value, c.value


def angle_atoms(program: Program, value: int) -> Mapping[Atom, int]:
    """An angle as a sum of independent angles with whole coefficients; each operation is looked at once."""
    atoms: dict[Atom, int] = {}
    times: dict[int, int] = {value: 1}
    waiting = [-value]  # the latest first: by then all that read it have been seen
    while waiting:
        index = -heappop(waiting)
        many = times[index]
        if abs(many) > MOST_TURNS:
            raise ValueError(f"{program.name}: a sine is taken of more than {MOST_TURNS} times an angle")
        op: Op = program.ops[index]
        for part, factor in _summands(program, op, index):
            if isinstance(part, int):
                if part not in times:
                    heappush(waiting, -part)
                times[part] = times.get(part, 0) + factor * many
            else:
                atoms[part] = atoms.get(part, 0) + factor * many
    return {atom: many for atom, many in atoms.items() if many}


def _summands(program: Program, op: Op, index: int) -> list[tuple[int | Atom, int]]:
    """What an angle is made of, one operation deep: values or independent angles, each so many times."""
    if op.kind in (Kind.ADD, Kind.SUB):
        return [(op.args[0], 1), (op.args[1], 1 if op.kind is Kind.ADD else -1)]
    if op.kind is Kind.NEG:
        return [(op.args[0], -1)]
    if op.kind is Kind.INPUT:
        return [(op.slot, 1)]
    if op.kind is Kind.ANGLE:
        return [(op.angle, 1)]
    if op.kind is Kind.NUMBER:
        return [(Angle(radians=op.number), 1)]
    if op.kind is Kind.MUL:
        whole = [i for i in op.args if program.ops[i].kind is Kind.NUMBER]
        if len(whole) == 1 and program.ops[whole[0]].number.denominator == 1:
            other = op.args[0] if whole[0] == op.args[1] else op.args[1]
            return [(other, int(program.ops[whole[0]].number))]
    raise ValueError(f"{program.name}: a sine is taken of something that is no sum of angles (operation {index})")


def _circle_of(
    program: Program, value: int, field: PrimeField, labels: Mapping[str, tuple[str, ...]]
) -> tuple[int, int]:
    total = 0, 1
    for atom, times in angle_atoms(program, value).items():
        total = add_angles(total, multiple_angle(_atom_pair(field, atom, labels), times, 1, 0))
        total = total[0] % P, total[1] % P
    return total


def root(a: int) -> int:
    """A square root modulo the prime, the one that is a square itself; UnluckyPoint where there is none."""
    found = pow(a, (P + 1) // 4, P)
    if found * found % P != a:
        raise UnluckyPoint("a radicand has no root here")
    return found


_FIELD: Functions = {
    Kind.ADD: lambda a, b: (a + b) % P,
    Kind.SUB: lambda a, b: (a - b) % P,
    Kind.MUL: lambda a, b: a * b % P,
    Kind.NEG: lambda a: -a % P,
    Kind.DIV: lambda a, b: a * residue_inverse(b) % P,
    Kind.SQRT: root,
}
