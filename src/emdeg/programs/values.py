"""A program's values in floating point, as exact constants, and as balls of many digits.

A ball certainly contains the exact value (interval arithmetic). Values modulo primes are in `residues`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import angle_ball, ball, square_root
from emdeg.programs.ir import Kind, Op, Program, Ref, Slot

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


def numbers_with(program: Program, wanted: Sequence[int], holds: Callable[[arb], bool]) -> set[int]:
    """Which of these values are numbers, whatever the inputs, of which `holds` is certainly true."""
    known = ball_values(program, {}) if wanted else []
    return {index for index in wanted if known[index].is_finite() and holds(known[index])}
