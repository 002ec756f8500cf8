"""Every value of a program at many states, and how its outputs depend on each: one sweep forwards, one backwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.rates import States
from emdeg.programs import Kind, Op, Program, constants

FUNCTIONS = {Kind.ADD: np.add, Kind.SUB: np.subtract, Kind.MUL: np.multiply, Kind.DIV: np.divide}
FUNCTIONS |= {Kind.NEG: np.negative, Kind.SIN: np.sin, Kind.COS: np.cos, Kind.SQRT: np.sqrt}
CHUNK = 1000
"""States swept at once: a value at all of them stays in the processor's nearest cache."""
DIGITS = 8
"""Of a number that was moved."""


class Tape:
    """A program made ready to be swept many times, with its own numbers or others in their places.

    `spend` is told the nominal seconds of each sweep.
    """

    def __init__(self, program: Program, spend: Callable[[float], None] = lambda seconds: None) -> None:
        self.program, self._spend = program, spend
        spend(work.rewriting(program))
        self._known = constants(program)
        self._inputs = [(k, op.slot) for k, op in enumerate(program.ops) if op.kind is Kind.INPUT]
        self._angles = [(k, float(op.angle)) for k, op in enumerate(program.ops) if op.kind is Kind.ANGLE]
        self._steps = [
            (FUNCTIONS[op.kind], op.args, k)
            for k, op in enumerate(program.ops)
            if op.kind in FUNCTIONS and k not in self._known
        ]
        self.entries = [ref for group in program.outputs for ref in group.entries]

    @cached_property
    def numbers(self) -> list[int]:
        """The places of numbers."""
        return [k for k, op in enumerate(self.program.ops) if op.kind is Kind.NUMBER and op.number]

    @property
    def sizes(self) -> Array:
        """The program's own numbers."""
        return np.array([float(self.program.ops[k].number) for k in self.numbers])

    def forward(self, states: States, sizes: Array | None = None) -> Array:
        """Every value (values, states), with other numbers for the program's own if given.

        Other numbers stand where operations read them: there must be no arithmetic of numbers alone.
        """
        found = np.empty((self.program.size, len(states["q"])))
        self._spend(work.sweep(*found.shape))
        for k, number in self._known.items():
            found[k] = float(number)
        for k, (name, place) in self._inputs:
            found[k] = states[name][:, place]
        for k, angle in self._angles:
            found[k] = angle
        if sizes is not None:
            found[self.numbers] = sizes[:, None]
        for apply, args, k in self._steps:
            if len(args) == 2:
                apply(found[args[0]], found[args[1]], found[k])
            else:
                apply(found[args[0]], found[k])
        return found

    def outputs(self, values: Array) -> Array:
        """(outputs, states) from every value."""
        zero = np.zeros(values.shape[1:], values.dtype)
        return np.stack([ref.sign * values[ref.value] if ref.sign else zero for ref in self.entries])

    def call(self, states: States) -> Array:
        """(states, outputs), some of the states at a time."""
        count = len(states["q"])
        parts = ({name: array[k : k + CHUNK] for name, array in states.items()} for k in range(0, count, CHUNK))
        return np.concatenate([self.outputs(self.forward(part)) for part in parts], axis=1).T

    def backward(self, values: Array, weights: Array) -> NDArray[np.float32]:
        """The outputs' derivatives in every value, times their weights (values, outputs, states); angles left out."""
        slopes = np.zeros((self.program.size, len(self.entries), values.shape[1]), np.float32)
        self._spend(work.slopes(*slopes.shape))
        for place, ref in enumerate(self.entries):
            if ref.sign:
                slopes[ref.value, place] += ref.sign * weights[place]
        single = values.astype(np.float32)
        for apply, args, k in reversed(self._steps):
            slope = slopes[k]
            if apply is np.multiply:
                first, second = args
                slopes[first] += slope * single[second]
                slopes[second] += slope * single[first]
            elif apply is np.add:
                slopes[args[0]] += slope
                slopes[args[1]] += slope
            elif apply is np.subtract:
                slopes[args[0]] += slope
                slopes[args[1]] -= slope
            elif apply is np.negative:
                slopes[args[0]] -= slope
        return slopes

    def with_numbers(self, sizes: Sequence[float] | Array) -> Program:
        """The program with other numbers in the places of its own."""
        ops = list(self.program.ops)
        for k, size in zip(self.numbers, sizes):
            ops[k] = Op(Kind.NUMBER, payload=Fraction(f"{size:.{DIGITS}g}"))
        return Program(self.program.name, self.program.inputs, tuple(ops), self.program.outputs)
