"""A program's values modulo a prime, where equality is exact and costs nothing, and as balls of many digits.

The sine and cosine of an angle become a point of the circle s^2 + c^2 = 1 over the field. Angles that are
independent (inputs, constant angles, symbols) get independent points; the angle of a sum gets the point that
the addition theorems give, so every identity of trigonometric polynomials holds here as it does for reals. A ball is
certain to hold the exact value: arithmetic that cannot err.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import (
    Angle,
    PrimeField,
    Residue,
    add_angles,
    angle_ball,
    ball,
    multiple_angle,
    residue_inverse,
    residue_of,
    root_of,
    square_root,
)
from emdeg.errors import Refuted
from emdeg.programs.ir import LAWS, Kind, Op, Program, Ref, Slot

Atom = Slot | Angle
"""An independent angle: an input, or a constant."""


MOST_TURNS = 1000
"""An angle may stand in a sum so many times; a program that says more was not made by emdeg."""


Root = Callable[[int], int]
"""The chosen root of a radicand's residue; UnluckyPoint where it has none."""


def field_values(program: Program, field: PrimeField, root: Root | None = None) -> list[int | None]:
    """Every value of the program modulo the field's prime; ZeroDivisionError where a quotient or a root fails.

    Inputs have the values the field gives to joints, rates, accelerations and symbols, so the mechanics run over the
    same field can be compared. None stands for an angle and what is made of one: it has a sine, but no residue. `root`
    chooses among the two roots, by default the one that is a square itself.
    """
    prime = field.prime
    labels = {group.name: group.labels for group in program.inputs}
    circles: dict[int, tuple[int, int]] = {}
    found: list[int | None] = []
    for op in program.ops:
        kind = op.kind
        if kind is Kind.SIN or kind is Kind.COS:
            at = op.args[0]
            if at not in circles:
                circles[at] = _circle_of(program, at, field, labels)
            found.append(circles[at][kind is Kind.COS])
        elif kind is Kind.NUMBER:
            found.append(residue_of(op.number, prime))
        elif kind is Kind.INPUT:
            found.append(_input(field, op.slot, labels))
        elif kind is Kind.ANGLE:
            found.append(None)
        else:
            a, b = found[op.args[0]], found[op.args[-1]]
            if a is None or b is None:
                found.append(None)
            elif kind is Kind.MUL:
                found.append(a * b % prime)
            elif kind is Kind.ADD:
                found.append((a + b) % prime)
            elif kind is Kind.SUB:
                found.append((a - b) % prime)
            elif kind is Kind.NEG:
                found.append(-a % prime)
            elif kind is Kind.DIV:
                found.append(a * residue_inverse(b, prime) % prime)
            elif kind in LAWS:
                found.append(field.law(kind, a))
            else:
                found.append(root_of(a, prime) if root is None else root(a))
    return found


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
        total = total[0] % field.prime, total[1] % field.prime
    return total


Functions = Mapping[Kind, Callable[..., Any]]

ARITHMETIC: Functions = {
    Kind.ADD: operator.add,
    Kind.SUB: operator.sub,
    Kind.MUL: operator.mul,
    Kind.DIV: operator.truediv,
    Kind.NEG: operator.neg,
}


def array_functions(xp: Any) -> Functions:
    """Operations on the arrays of a library that has NumPy's names."""
    waves = {Kind.SIN: xp.sin, Kind.COS: xp.cos, Kind.SQRT: xp.sqrt}
    return {**ARITHMETIC, **waves, Kind.SIGN: xp.sign, Kind.EXP: xp.exp, Kind.TANH: xp.tanh}


def every_value(program: Program, leaf: Callable[[int], Any], functions: Functions) -> list[Any]:
    """Every value of the program in some algebra.

    `leaf` is asked first, by index, and must answer for operations without arguments; where it answers None
    the operation is applied to its arguments' values.
    """
    result: list[Any] = []
    for index, op in enumerate(program.ops):
        value = leaf(index)
        result.append(functions[op.kind](*(result[arg] for arg in op.args)) if value is None else value)
    return result


LONGEST_CONSTANT = 50_000
"""Bits of a numerator or a denominator: far more than any robot's, far less than repeated squaring yields."""


def constants(program: Program) -> dict[int, Fraction]:
    """The values that are numbers whatever the inputs, exact or good to 60 digits, by index."""
    functions = {**ARITHMETIC, Kind.SQRT: square_root}
    known: dict[int, Fraction] = {}
    for index, op in enumerate(program.ops):
        if op.kind is Kind.NUMBER:
            known[index] = op.number
        elif op.kind in (Kind.SIN, Kind.COS):
            if program.ops[op.args[0]].kind is Kind.ANGLE:
                known[index] = program.ops[op.args[0]].angle.sincos()[op.kind is Kind.COS]
        elif op.args and op.kind in functions and all(arg in known for arg in op.args):
            known[index] = functions[op.kind](*(known[arg] for arg in op.args))
            if max(known[index].numerator.bit_length(), known[index].denominator.bit_length()) > LONGEST_CONSTANT:
                raise ValueError(f"{program.name}: the constant of operation {index} has too many digits")
    return known


def evaluate(
    program: Program, inputs: Mapping[str, ArrayLike], dtype: Any = np.float64, xp: Any = np
) -> dict[str, NDArray]:
    """The outputs at `inputs`, arrays of shape (..., size) by name; outputs have shape (..., *shape).

    Every operation is one NumPy operation in `dtype`; nothing is fused or reordered. `xp`: another library that has
    NumPy's names, such as `jax.numpy`.
    """
    arrays = {group.name: xp.asarray(inputs[group.name], dtype) for group in program.inputs}
    for group in program.inputs:
        shape = arrays[group.name].shape
        if not shape or shape[-1] != group.size:
            raise ValueError(f"{program.name}: {group.name} has shape {shape}, expected (..., {group.size})")
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    # The sine of a constant angle is rounded once, from its 60 digits.
    fixed = {index: dtype(value) for index, value in constants(program).items()}

    def leaf(index: int) -> Any:
        op = program.ops[index]
        if op.kind is Kind.INPUT:
            return arrays[op.slot[0]][..., op.slot[1]]
        return dtype(float(op.angle)) if op.kind is Kind.ANGLE else fixed.get(index)

    results = every_value(program, leaf, array_functions(xp))
    zero = dtype(0)

    def gathered(entries: Sequence[Ref]) -> Any:
        columns = [results[r.value] if r.sign > 0 else -results[r.value] if r.sign else zero for r in entries]
        if not columns:
            return xp.zeros((*batch, 0), dtype)
        return xp.stack([xp.broadcast_to(column, batch) for column in columns], axis=-1)

    return {group.name: gathered(group.entries).reshape((*batch, *group.shape)) for group in program.outputs}


BITS = 256
"""The working precision."""


Given = Mapping[Slot, Fraction | float | arb]
"""Inputs, exact or all of a ball."""


def ball_values(program: Program, inputs: Given, bits: int = BITS) -> list[arb]:
    """Every value at exact inputs, or for all inputs in balls; not finite where an operation fails, or may fail.

    What depends on an input that is not given is not finite either.
    """
    return ball_run(program, bits)(inputs)


def ball_run(program: Program, bits: int = BITS) -> Callable[[Given], list[arb]]:
    """`ball_values` of a program, for many inputs: what they have in common is computed once."""
    with ctx.workprec(bits):
        numbers = [_number_ball(op) for op in program.ops]
    slots = [(index, op.slot) for index, op in enumerate(program.ops) if op.kind is Kind.INPUT]
    steps = [(index, _BALLS[op.kind], op.args) for index, op in enumerate(program.ops) if op.args]

    def run(inputs: Given) -> list[arb]:
        found = list(numbers)
        with ctx.workprec(bits):
            for index, slot in slots:
                x = inputs.get(slot)
                if x is not None:
                    found[index] = x if isinstance(x, arb) else ball(Fraction(x))
            for index, step, args in steps:
                found[index] = step(*[found[arg] for arg in args])
        return found

    return run


def _number_ball(op: Op) -> arb:
    """A number or an angle as a ball; not finite what is neither."""
    if op.kind is Kind.NUMBER:
        return ball(op.number)
    known = op.kind is Kind.ANGLE and op.angle.symbol is None
    return angle_ball(op.angle.pi_times, op.angle.radians) if known else arb.nan()


_BALLS = {
    **ARITHMETIC,
    Kind.SIN: arb.sin,
    Kind.COS: arb.cos,
    Kind.SQRT: arb.sqrt,
    Kind.SIGN: arb.sgn,
    Kind.EXP: arb.exp,
    Kind.TANH: arb.tanh,
}


def numbers_not_zero(program: Program, wanted: Sequence[int]) -> set[int]:
    """Which of these values, whatever the inputs, are numbers that are certainly not zero."""
    if not wanted:
        return set()
    known = ball_values(program, {})
    return {index for index in wanted if known[index].is_finite() and not known[index].contains(0)}


def positive_numbers(program: Program, wanted: Sequence[int]) -> set[int]:
    """Which of these values, whatever the inputs, are numbers that are certainly positive."""
    if not wanted:
        return set()
    known = ball_values(program, {})
    return {index for index in wanted if known[index].is_finite() and known[index] > 0}
