"""A program with operations left out whose effect on its outputs is small.

A move gives one value another: nothing, its mean (of the configuration alone), or one of the two that it is made of.
What that does to every output at every state that steers the search follows, to first order, from the outputs'
derivatives in that value (one sweep backwards through the program gives them all). Moves that save most operations
for the error they add are made, some at a time, and the new program's errors are computed as they are.

Rates stay what they are: no value that depends on rates becomes a number, and no factor that does is left out. So the
short program still is gravity, plus a linear function of the accelerations, plus a quadratic one of the speeds, which
is what its certified error rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.programs import (
    Dependence,
    Kind,
    OutputGroup,
    Program,
    Tracer,
    constants,
    count,
    dependences,
    prune,
    signed,
    uses,
)
from emdeg.reduce.steering import States

FAR = 100.0
"""Limits beyond which an error is an error: a sixth power of a larger one would not fit single precision."""
TOGETHER = 10
"""Moves made at once."""
GREED = 0.08
"""The share by which moves made at once may raise that mean; the programs between are looked at anew."""
PART = 128
"""Moves looked at together: what they take is in the processor's cache."""
COUNTED = (Kind.ADD, Kind.SUB, Kind.MUL)


@dataclass(frozen=True)
class Move:
    """Value `at` becomes a number, or (`keeps`) the first or the second of its two arguments."""

    at: int
    saves: int
    number: Fraction | None = None
    keeps: int | None = None


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


class Graph:
    """Who reads whom in a program, and what goes when a value is no longer needed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.depends = dependences(program)
        self.uses = uses(program)
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
        self.movable = [counted and not angle for counted, angle in zip(self.counted, in_angle)]

    def cone(self, index: int) -> int:
        """How many operations only this value needs, its own among them."""
        left: dict[int, int] = {}
        total, waiting = 0, [index]
        while waiting:
            here = waiting.pop()
            total += self.counted[here]
            for arg in self.program.ops[here].args:
                left[arg] = left.get(arg, self.uses[arg]) - 1
                if not left[arg]:
                    waiting.append(arg)
        return total

    def folded(self, index: int) -> int:
        """How many operations fold with a value that is nothing: sums with it, products with it and what they enter."""
        total = 0
        for reader in self.readers[index]:
            total += 1
            if self.program.ops[reader].kind is Kind.MUL:
                total += len(self.readers[reader])
        return total

    def moves(self, values: Array) -> list[tuple[Move, Array]]:
        """Every move, and by how much it changes its value (states,)."""
        found: list[tuple[Move, Array]] = []
        cones = [self.cone(index) if movable else 0 for index, movable in enumerate(self.movable)]
        for index, op in enumerate(self.program.ops):
            if not self.movable[index]:
                continue
            mine = values[index]
            found.append((Move(index, cones[index] + self.folded(index), Fraction(0)), -mine))
            if self.depends[index] is not Dependence.RATES:
                mean = _short_number(float(mine.mean()))
                if abs(float(mean)) > 1e-3 * np.abs(mine).max():
                    found.append((Move(index, cones[index], mean), float(mean) - mine))
            for keeps, (kept, left) in enumerate((op.args, op.args[::-1])):
                if op.kind is Kind.MUL and self.depends[left] is Dependence.RATES:
                    continue
                sign = -1.0 if op.kind is Kind.SUB and keeps else 1.0
                saves = 1 if self.uses[left] > 1 else max(1, cones[index] - (self.uses[kept] == 1) * cones[kept])
                found.append((Move(index, saves, keeps=keeps), sign * values[kept] - mine))
        return found


def _short_number(value: float) -> Fraction:
    return Fraction(f"{value:.6g}")


def moved(program: Program, moves: Mapping[int, Move]) -> Program:
    """The program after some moves, equal values merged and numbers folded."""
    tracer = Tracer.like(program)
    values = []
    for index, op in enumerate(program.ops):
        move = moves.get(index)
        if move is None:
            values.append(tracer.apply(op, [values[arg] for arg in op.args]))
        elif move.keeps is None:
            values.append(tracer.number(move.number or Fraction(0)))
        else:
            kept = values[op.args[move.keeps]]
            values.append(-kept if op.kind is Kind.SUB and move.keeps else kept)
    groups = []
    for group in program.outputs:
        entries = [signed(values[ref.value], ref.sign).ref if ref.sign else ref for ref in group.entries]
        groups.append(OutputGroup(group.name, group.shape, tuple(entries)))
    return prune(Program(program.name, program.inputs, tuple(tracer.ops), tuple(groups)))


@dataclass(frozen=True)
class Pruning:
    """The search: states, what the outputs are there (outputs, states), and how far each may be from that."""

    states: States
    exact: Array
    limits: Array
    """By output; positive."""

    def errors(self, program: Program) -> Array:
        """(outputs, states): errors over limits."""
        return (outputs(program, forward(program, self.states)) - self.exact) / self.limits[:, None]

    def run(
        self, program: Program, aim: float, rounds: int = 400, until: Callable[[], bool] = lambda: False
    ) -> Program:
        """The program with as few operations as moves get it to, no error at the states above `aim` of its limit."""
        program = moved(program, {})
        for _ in range(rounds):
            if until():
                break
            shorter = self._step(program, aim)
            if shorter is None:
                break
            program = shorter
        return program

    def _step(self, program: Program, aim: float) -> Program | None:
        values = forward(program, self.states)
        error = ((outputs(program, values) - self.exact) / self.limits[:, None]).astype(np.float32)
        graph = Graph(program)
        moves = graph.moves(values)
        if not moves:
            return None
        used = float(_used(error[None])[0])
        slopes = backward(program, values, 1 / self.limits)
        ranked = []
        for first in range(0, len(moves), PART):
            part = moves[first : first + PART]
            changes = np.array([change for _, change in part], np.float32)
            after = slopes[[move.at for move, _ in part]]
            after *= changes[:, None, :]
            after += error
            worst = np.abs(after).max(axis=(1, 2))
            price = (_used(after) - used) / np.array([move.saves for move, _ in part])
            ranked += [(float(price[k]), first + k) for k in np.flatnonzero(worst <= aim)]
        ranked.sort()
        chosen = self._apart(graph, [(price, moves[place][0]) for price, place in ranked], used)
        return self._made(program, chosen, [moves[place][0] for _, place in ranked[:40]], aim)

    def _apart(self, graph: Graph, ranked: Sequence[tuple[float, Move]], used: float) -> list[Move]:
        """The best moves that do not touch each other and together use little of what is left."""
        chosen: list[Move] = []
        touched: set[int] = set()
        spent = 0.0
        for price, move in ranked:
            if move.at in touched:
                continue
            spent += max(price, 0.0) * move.saves
            if chosen and (len(chosen) >= TOGETHER or spent > GREED * (used + 1e-7)):
                break
            chosen.append(move)
            touched |= {move.at, *graph.program.ops[move.at].args, *graph.readers[move.at]}
        return chosen

    def _made(self, program: Program, chosen: list[Move], others: Sequence[Move], aim: float) -> Program | None:
        """The program after the chosen moves, or as many of them as the limits bear; else after another one."""
        before = count(program).total
        while chosen:
            shorter = moved(program, {move.at: move for move in chosen})
            if count(shorter).total < before and np.abs(self.errors(shorter)).max() <= aim:
                return shorter
            chosen = chosen[: len(chosen) // 2]
        for move in others:
            shorter = moved(program, {move.at: move})
            if count(shorter).total < before and np.abs(self.errors(shorter)).max() <= aim:
                return shorter
        return None


def _used(errors: NDArray[np.float32]) -> NDArray[np.float32]:
    """How much of the limits errors (..., outputs, states) use: the mean of the sixth power, the largest count."""
    squares = np.square(np.clip(errors, -FAR, FAR))
    return (squares * squares * squares).mean(axis=(1, 2))
