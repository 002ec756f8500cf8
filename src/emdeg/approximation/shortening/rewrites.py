"""Moves that make a program shorter and wrong by a little: one value becomes another that is cheaper.

A value may become nothing, its mean (of the configuration alone), one of the two that it is made of, or a multiple of
another value that varies as it does. Rates stay what they are: no value that depends on rates becomes a number, no
factor that does is left out, and a value's stand-in is of its kind in the rates. So what remains still is gravity, plus
a linear function of the accelerations, plus a quadratic one of the speeds, which is what its certified error rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.programs import (
    Dependence,
    Kind,
    Program,
    Tracer,
    dependences,
    retraced,
)

RateTerms = frozenset[tuple[int, int]]
"""Degrees in (speeds, accelerations) of the terms that a value is written in."""
COUNTED = (Kind.ADD, Kind.SUB, Kind.MUL)


@dataclass(frozen=True)
class Rewrite:
    """Value `at` becomes a number, or (`keeps`) one of its two arguments, or `number` times the value `like`."""

    at: int
    number: Fraction | None = None
    keeps: int | None = None
    like: int | None = None


Changes = list[tuple[Rewrite, Array]]
"""Moves, and by how much each changes its value (states,)."""


class Graph:
    """Who reads whom in a program, and which of its values may become others."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.depends = dependences(program)
        self.readers: list[list[int]] = [[] for _ in program.ops]
        in_angle = [False] * program.size
        for index in range(program.size - 1, -1, -1):
            op = program.ops[index]
            for arg in op.args:
                self.readers[arg].append(index)
                in_angle[arg] |= op.kind in (Kind.SIN, Kind.COS) or in_angle[index]
        self.counted = [
            op.kind in COUNTED and depends is not Dependence.CONSTANTS for op, depends in zip(program.ops, self.depends)
        ]
        self.rates = rate_terms(program)
        self.movable = [counted and not angle for counted, angle in zip(self.counted, in_angle)]

    def rewrites(self, values: Array) -> Changes:
        """Every move to nothing, to a mean or to an argument."""
        found: Changes = []
        for index, op in enumerate(self.program.ops):
            if not self.movable[index]:
                continue
            mine = values[index]
            found.append((Rewrite(index, Fraction(0)), -mine))
            if self.depends[index] is not Dependence.RATES:
                mean = _short_number(float(mine.mean()))
                if abs(float(mean)) > 1e-3 * np.abs(mine).max():
                    found.append((Rewrite(index, mean), float(mean) - mine))
            for keeps, (kept, left) in enumerate((op.args, op.args[::-1])):
                if op.kind is Kind.MUL and self.depends[left] is Dependence.RATES:
                    continue
                sign = -1.0 if op.kind is Kind.SUB and keeps else 1.0
                found.append((Rewrite(index, keeps=keeps), sign * values[kept] - mine))
        return found

    def substitutions(self, values: Array, slopes: NDArray[np.float32]) -> Changes:
        """For each value the multiple of an earlier one that is most like it.

        Likeness is weighed at some of the states by how the outputs depend on the value there.
        """
        found: Changes = []
        some = slice(None, None, max(1, values.shape[1] // LIKENESS))
        sample = values[:, some]
        moving = [k for k, depends in enumerate(self.depends) if depends is not Dependence.CONSTANTS]
        of_kind = {rates: np.array([k for k in moving if self.rates[k] <= rates], int) for rates in {*self.rates}}
        for index, movable in enumerate(self.movable):
            if not movable:
                continue
            alike = of_kind[self.rates[index]]
            alike = alike[: np.searchsorted(alike, index)]
            if not len(alike):
                continue
            weights = np.square(slopes[index][:, some]).sum(axis=0)
            mine, others = sample[index], sample[alike]
            weighted = others * weights
            sizes = np.maximum((weighted * others).sum(axis=1), 1e-300)
            along = weighted @ mine
            best = int(np.argmax(along * along / sizes))
            factor = float(along[best] / sizes[best])
            other = int(alike[best])
            for number in dict.fromkeys((_short_number(factor), Fraction(1 if factor > 0 else -1))):
                if number:
                    found.append((Rewrite(index, number, like=other), float(number) * values[other] - values[index]))
        return found


LIKENESS = 160
"""States at which values are compared, about."""


def _short_number(value: float) -> Fraction:
    return Fraction(f"{value:.6g}")


def rate_terms(program: Program) -> list[RateTerms]:
    """By value: the degrees in the rates of its terms."""
    found: list[RateTerms] = []
    for op in program.ops:
        if op.kind is Kind.INPUT:
            mine = frozenset({(int(op.slot[0] == "qd"), int(op.slot[0] == "qdd"))})
        elif op.kind is Kind.MUL:
            first, second = (found[arg] for arg in op.args)
            mine = frozenset((a + c, b + d) for a, b in first for c, d in second)
        else:
            mine = frozenset().union(*(found[arg] for arg in op.args)) if op.args else frozenset({(0, 0)})
        found.append(mine)
    return found


def rewritten(program: Program, moves: Mapping[int, Rewrite]) -> Program:
    """The program after some moves, equal values merged and numbers folded."""
    tracer = Tracer.like(program)
    values = []
    for index, op in enumerate(program.ops):
        move = moves.get(index)
        if move is None:
            values.append(tracer.apply(op, [values[arg] for arg in op.args]))
        elif move.like is not None:
            values.append(values[move.like] * (move.number or Fraction(0)))
        elif move.keeps is None:
            values.append(tracer.number(move.number or Fraction(0)))
        else:
            kept = values[op.args[move.keeps]]
            values.append(-kept if op.kind is Kind.SUB and move.keeps else kept)
    return retraced(program, tracer, values)
