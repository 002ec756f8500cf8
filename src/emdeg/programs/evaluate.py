"""A program's values over any scalars and over NumPy arrays: plain, slow, the reference."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import square_root
from emdeg.programs.ir import Kind, Program

Functions = Mapping[Kind, Callable[..., Any]]

ARITHMETIC: Functions = {
    Kind.ADD: operator.add,
    Kind.SUB: operator.sub,
    Kind.MUL: operator.mul,
    Kind.DIV: operator.truediv,
    Kind.NEG: operator.neg,
}
NUMPY: Functions = {**ARITHMETIC, Kind.SIN: np.sin, Kind.COS: np.cos, Kind.SQRT: np.sqrt}


def values(program: Program, leaf: Callable[[int], Any], functions: Functions) -> list[Any]:
    """Every value of the program in some algebra.

    `leaf` is asked first, by index, and must answer for operations without arguments; where it answers None
    the operation is applied to its arguments' values.
    """
    result: list[Any] = []
    for index, op in enumerate(program.ops):
        value = leaf(index)
        result.append(functions[op.kind](*(result[arg] for arg in op.args)) if value is None else value)
    return result


LONGEST_CONSTANT = 1_000_000
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
        elif op.args and all(arg in known for arg in op.args):
            known[index] = functions[op.kind](*(known[arg] for arg in op.args))
            if max(known[index].numerator.bit_length(), known[index].denominator.bit_length()) > LONGEST_CONSTANT:
                raise ValueError(f"{program.name}: the constant of operation {index} has too many digits")
    return known


def evaluate(program: Program, inputs: Mapping[str, ArrayLike], dtype: Any = np.float64) -> dict[str, NDArray]:
    """The outputs at `inputs`, arrays of shape (..., size) by name; outputs have shape (..., *shape).

    Every operation is one NumPy operation in `dtype`; nothing is fused or reordered.
    """
    arrays = {group.name: np.asarray(inputs[group.name], dtype) for group in program.inputs}
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

    results = values(program, leaf, NUMPY)
    outputs = {}
    for group in program.outputs:
        array = np.zeros((*batch, len(group.entries)), dtype)
        for position, ref in enumerate(group.entries):
            if ref.sign:
                array[..., position] = results[ref.value] if ref.sign > 0 else -results[ref.value]
        outputs[group.name] = array.reshape((*batch, *group.shape))
    return outputs
