"""Every value of a program at many states, and how its outputs depend on each: one sweep forwards, one backwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.programs import Kind, Program, constants
from emdeg.reduce.steering import States


def forward(program: Program, states: States) -> Array:
    """Every value of the program (values, states)."""
    numbers = constants(program)
    found = np.empty((program.size, len(states["q"])))
    apply = {Kind.ADD: np.add, Kind.SUB: np.subtract, Kind.MUL: np.multiply, Kind.DIV: np.divide}
    apply |= {Kind.NEG: np.negative, Kind.SIN: np.sin, Kind.COS: np.cos, Kind.SQRT: np.sqrt}
    for index, op in enumerate(program.ops):
        if index in numbers:
            found[index] = float(numbers[index])
        elif op.kind is Kind.INPUT:
            found[index] = states[op.slot[0]][:, op.slot[1]]
        elif op.kind is Kind.ANGLE:
            found[index] = float(op.angle)
        else:
            apply[op.kind](*(found[arg] for arg in op.args), out=found[index])
    return found


def outputs(program: Program, values: Array) -> Array:
    """(outputs, states) from every value."""
    entries = [ref for group in program.outputs for ref in group.entries]
    return np.stack([ref.sign * values[ref.value] if ref.sign else 0 * values[0] for ref in entries])


def backward(program: Program, values: Array, weights: Array) -> NDArray[np.float32]:
    """The outputs' derivatives in every value, times their weights (values, outputs, states); angles left out."""
    entries = [ref for group in program.outputs for ref in group.entries]
    slopes = np.zeros((program.size, len(entries), values.shape[1]), np.float32)
    for place, ref in enumerate(entries):
        if ref.sign:
            slopes[ref.value, place] += ref.sign * weights[place]
    single = values.astype(np.float32)
    for index in range(program.size - 1, -1, -1):
        op, slope = program.ops[index], slopes[index]
        match op.kind:
            case Kind.ADD:
                slopes[op.args[0]] += slope
                slopes[op.args[1]] += slope
            case Kind.SUB:
                slopes[op.args[0]] += slope
                slopes[op.args[1]] -= slope
            case Kind.NEG:
                slopes[op.args[0]] -= slope
            case Kind.MUL:
                first, second = op.args
                slopes[first] += slope * single[second]
                slopes[second] += slope * single[first]
    return slopes
