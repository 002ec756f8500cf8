"""Evaluate programs modulo primes, at one point or at many at once: there equality is exact.

The sine and cosine of an angle become a point of the circle s^2 + c^2 = 1 over the field. Angles that are
independent (inputs, constant angles, symbols) get independent points; the angle of a sum gets the point that
the addition theorems give, so every identity of trigonometric polynomials holds here as it does for reals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from emdeg.algebra import Angle, PrimeColumns, PrimeField, Residue, Residues, sum_of_angles
from emdeg.errors import Refuted
from emdeg.programs.ir import LAWS, Kind, Op, Program, Ref, Slot

Atom = Slot | Angle
"""An independent angle: an input, or a constant."""
MOST_TURNS = 1000
"""The largest multiple of an angle; emdeg writes no program with a larger one."""
MOST_ROOTS = 6
"""Up to so many square roots a program's points are drawn again until all exist: in half of the cases each."""

Root = Callable[[Any], Any]
"""The chosen root of a radicand's residue; UnluckyPoint where it has none."""


def field_values(program: Program, field: PrimeField, root: Root | None = None) -> list[Any]:
    """Every value of the program modulo the field's prime; ZeroDivisionError where a quotient or a root fails.

    Inputs have the values the field gives to joints, rates, accelerations and symbols, so the mechanics run over the
    same field can be compared. None stands for an angle and what is made of one: it has a sine, but no residue. `root`
    chooses among the two roots, by default the one that is a square itself.
    """
    prime, inverse, root = field.prime, field.inverse, root or field.square_root
    labels = {group.name: group.labels for group in program.inputs}
    in_columns = isinstance(field, PrimeColumns)
    circles: dict[int, tuple[Any, Any]] = {}
    found: list[Any] = []
    for op in program.ops:
        kind = op.kind
        if kind is Kind.SIN or kind is Kind.COS:
            at = op.args[0]
            if at not in circles:
                circles[at] = _circle_of(program, at, found[at], field, labels)
            found.append(circles[at][kind is Kind.COS])
        elif kind is Kind.NUMBER:
            found.append(field.number(op.number).value)
        elif kind is Kind.INPUT:
            named = op.slot[0] == "parameters" and not in_columns
            given = field.symbol(labels["parameters"][op.slot[1]]) if named else input_residue(field, op.slot)
            found.append(given.value)
        elif kind is Kind.ANGLE:
            found.append(field.angle(op.angle))
        else:
            a, b = found[op.args[0]], found[op.args[-1]]
            if a is None or b is None:
                found.append(None)
            elif kind is Kind.MUL:
                found.append(a * b % prime)
            elif kind is Kind.ADD:
                found.append((a + b) % prime)
            elif kind is Kind.SUB:
                found.append((a + (prime - b)) % prime)
            elif kind is Kind.NEG:
                found.append((prime - a) % prime)
            elif kind is Kind.DIV:
                found.append(a * inverse(b) % prime)
            elif kind in LAWS:
                found.append(field.law(kind, a))
            else:
                found.append(root(a))
    return found


def _circle_of(
    program: Program, index: int, value: Any, field: PrimeField, labels: Mapping[str, tuple[str, ...]]
) -> tuple[Any, Any]:
    def pair(atom: Atom) -> tuple[Residue, Residue]:
        if isinstance(atom, Angle):
            return field.sincos(atom)
        if atom[0] == "parameters":
            return field.sincos(Angle(symbol=labels["parameters"][atom[1]]))
        return field.joint_sincos(atom[1] if atom[0] == "q" else f"{atom[0]} {atom[1]}")

    try:
        parts = [(pair(atom), times) for atom, times in angle_atoms(program, index).items()]
        s, c = sum_of_angles(parts, field.number(1), field.number(0))
    except ValueError:  # a search's program may take the sine of anything: that stands for itself
        if not isinstance(field, PrimeColumns):
            raise
        s, c = field.circle_point(str(value.tolist()))
    return s.value, c.value


def evaluate_residues(program: Program, field: PrimeField, root: Root | None = None) -> dict[str, tuple[int, ...]]:
    """The outputs modulo the field's prime, flat, by name; see `field_values` and `output_residues`."""
    return output_residues(program, field_values(program, field, root), field.prime)


def output_residues(program: Program, known: Sequence[int | None], prime: int) -> dict[str, tuple[int, ...]]:
    """The outputs among a program's values, flat, by name; Refuted where one is an angle, which has no residue."""
    return {
        group.name: tuple(_residue(program, known, ref, prime) for ref in group.entries) for group in program.outputs
    }


def _residue(program: Program, known: Sequence[int | None], ref: Ref, prime: int) -> int:
    value = known[ref.value] if ref.sign else 0
    if value is None:
        raise Refuted(f"{program.name}: a constant angle is used outside sines and cosines (operation {ref.value})")
    return ref.sign * value % prime


def input_residue(field: PrimeField, slot: Slot) -> Residue:
    """The residue of one entry of an input array: the same for a program and for its reference."""
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
    """The terms of an angle, one operation deep: values or independent angles, each with its multiple."""
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


def fingerprints(program: Program, points: PrimeColumns) -> list[Residues]:
    """The residues of every value of the program at the points of the columns.

    Points are drawn again until every radicand has a root. Of many roots that takes too long: then a root stands for
    itself, and identities that need its square are not seen.
    """
    roots = [index for index, op in enumerate(program.ops) if op.kind is Kind.SQRT]
    if len(roots) > MOST_ROOTS:
        return field_values(program, points, lambda radicand: points.random(f"root {radicand.tolist()}").value)
    while True:
        values = field_values(program, points)
        pairs = [(values[index], values[program.ops[index].args[0]]) for index in roots]
        bad = np.logical_or.reduce([root * root % points.prime != radicand for root, radicand in pairs])
        if not np.any(bad):
            return values
        points.draw_again(bad)
