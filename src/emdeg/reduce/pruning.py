"""A program with operations left out whose effect on its outputs is small.

What a move (`moves`) does to every output at every state that steers the search follows, to first order, from the
outputs' derivatives in the value that it changes (one sweep backwards through the program gives them all), less what
the numbers that remain can take up of it (`tuning`). Moves that save most operations for the error they add are made,
some at a time; the new program's numbers are tuned and its errors computed as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.programs import Program, count
from emdeg.reduce.moves import Graph, Move, moved
from emdeg.reduce.slopes import backward, forward, outputs
from emdeg.reduce.steering import States, joined, taken
from emdeg.reduce.tuning import Tuning, with_own_numbers

FAR = 100.0
"""Limits beyond which an error is an error: a sixth power of a larger one would not fit single precision."""
TOGETHER = 24
"""Moves made at once."""
PACE, REFUSED = 0.04, 6
"""The part of the aim by which moves made at once may raise what is used of the limits, and how many may be refused
for that."""
ASKED, RETURNS = 2, 12
"""Steps after which the adversary is asked, and how often a search goes back for what it finds."""
PART = 128
"""Moves looked at together: what they take is in the processor's cache."""
TELLING, WORST = 240, 16
"""States at which moves are ranked, about, and of those by output the ones of the largest errors."""
REPAIRS, SURE = 3, 1.03
"""Tunings of a program to the worst states found of it, and the aims that it keeps then unless told otherwise."""
SHARES = (1.0, 0.5, 0.2)
"""Of a best change of numbers to first order, what is tried."""
WORTH = 0.05
"""The part of a limit above which errors are worth tuning."""
ABSORBED = 3.0
"""Aims up to which a move's error may be taken up by numbers."""
HOPE = 1.5
"""Aims up to which the first-order error of a move is worth a trial."""
TRIED = 16
"""Moves tried one by one where no others can be made."""

Adversary = Callable[[Program], States]
"""A program -> states where it errs most."""


@dataclass(frozen=True)
class Pruning:
    """The search: states, what the outputs are (states -> (states, outputs)), and how far each may be from that."""

    states: States
    truth: Callable[[States], Array]
    limits: Array
    """By output; positive."""
    adversary: Adversary | None = None
    until: Callable[[], bool] = lambda: False
    """Whether the search is to end: it does so with what it has."""
    noise: float = 0.0
    """How far prices are changed at random (the deviation of their logarithms): another way through the moves."""
    seed: int = 0
    sure: float = SURE
    """Aims that a program keeps against the adversary."""

    @cached_property
    def exact(self) -> Array:
        """(outputs, states)."""
        return self.truth(self.states).T

    def errors(self, program: Program) -> Array:
        """(outputs, states): errors over limits."""
        return (outputs(program, forward(program, self.states)) - self.exact) / self.limits[:, None]

    def worst(self, program: Program) -> float:
        """The largest error at the states, over its limit."""
        return float(np.abs(self.errors(program)).max(initial=0.0))

    def run(self, program: Program, aim: float, below: float = math.inf) -> tuple[list[Program], Pruning]:
        """(programs from the given one on, each shorter than the one before; the search with the states it has met).

        No error of the last is above `aim` of its limit at the states, nor where the adversary finds it largest: if the
        shortest cannot be tuned to be so, the shortest on the way that can is the last. Where it is not shorter than
        `below` operations the adversary is not asked, and the way has no end.
        """
        path, here = self._shorter_and_shorter(moved(program, {}), aim)
        return here.held(path, aim) if count(path[-1]).total < below else ([], here)

    def back(self, path: Sequence[Program], place: int, aim: float) -> int:
        """The place of a path, from a given one backwards by halves, where errors at the states are below the aim."""
        while place and self.worst(path[place]) > aim:
            place //= 2
        return place

    def _shorter_and_shorter(self, program: Program, aim: float) -> tuple[list[Program], Pruning]:
        """(programs, each shorter than the one before, until no move can be made; the search with the states it met).

        The adversary is asked on the way: numbers that are tuned to few states are wrong at others.
        """
        path, here, stuck, steps, returns = [program], self, False, 0, 0
        random = np.random.default_rng(self.seed)
        while returns < RETURNS and not self.until():
            shorter = here._step(program, aim, random)
            if shorter is None:
                if stuck:
                    break
                program, stuck = here.repaired(program), True
                continue
            program, stuck, steps = shorter, False, steps + 1
            path.append(program)
            if self.adversary is not None and steps % ASKED == 0:
                here = replace(here, states=joined(here.states, self.adversary(program)))
                if here.worst(program) > aim:
                    path, gone = here._mended(path, aim), len(path)
                    program, returns = path[-1], returns + (len(path) < gone)
        return path, here

    def _mended(self, path: Sequence[Program], aim: float) -> list[Program]:
        """The path up to a place near its end where moved numbers keep errors at the states within the aim."""
        back = 1
        while back < len(path):
            tried = self.repaired(path[-back])
            if self.worst(tried) <= aim:
                return [*path[:-back], tried]
            back *= 2
        return [path[0]]

    def held(self, path: Sequence[Program], aim: float) -> tuple[list[Program], Pruning]:
        """(the path up to a program near its end that holds against the adversary, the search with the states found).

        The first of the path is known to hold.
        """
        here, back = self, 1
        while back < len(path):
            here, found = here.challenged(path[-back], aim)
            if found is not None:
                return [*path[:-back], found], here
            back = max(back + 1, back * 3 // 2)
        return [path[0]], here

    def challenged(self, program: Program, aim: float) -> tuple[Pruning, Program | None]:
        """(the search with the adversary's states, the program tuned to them); None where that does not help."""
        if self.adversary is None:
            return self, program
        here = self
        for _ in range(REPAIRS):
            grown = replace(here, states=joined(here.states, self.adversary(program)))
            if grown.worst(program) <= self.sure * aim:
                return here, program
            here, program = grown, grown.repaired(program)
            if here.worst(program) > max(1.0, self.sure / SURE) * aim:
                return here, None
        return here, None

    def _swept(
        self, program: Program, some: NDArray[np.intp] | slice = slice(None)
    ) -> tuple[Array, NDArray[np.float32], NDArray[np.float32]]:
        """(values, errors over limits, slopes over limits) of a program, at some of the states."""
        values = forward(program, taken(self.states, some))
        error = ((outputs(program, values) - self.exact[:, some]) / self.limits[:, None]).astype(np.float32)
        return values, error, backward(program, values, 1 / self.limits)

    def repaired(self, program: Program) -> Program:
        """The program with its numbers moved to where its largest errors are smaller."""
        return moved(self.tuned(program, 10, 10), {})

    def tuned(self, program: Program, steps: int = 1, power: int = 4) -> Program:
        """The program with its numbers moved to where its errors at the states are smaller, by some steps."""
        program = with_own_numbers(program)
        best = _mean_power(self.errors(program), power)
        for _ in range(steps):
            _, error, slopes = self._swept(program)
            tuning = Tuning(program, slopes, error, power)
            for share in SHARES:
                tried = tuning.changed(error, share)
                mean = _mean_power(self.errors(tried), power)
                if mean < 0.995 * best:
                    program, best = tried, mean
                    break
            else:
                break
        return program

    def _step(self, program: Program, aim: float, random: np.random.Generator) -> Program | None:
        program = with_own_numbers(program)
        error = self.errors(program)
        if np.abs(error).max() > WORTH:
            program = self.tuned(program)
        values, error, slopes = self._swept(program, _telling(error))
        absorbed = Tuning(program, slopes, error).absorbed
        graph = Graph(program)
        moves = graph.moves(values) + graph.stand_ins(values, slopes)
        if not moves:
            return None
        used = float(_used(absorbed(error[None]))[0])
        ranked = []
        for first in range(0, len(moves), PART):
            part = moves[first : first + PART]
            changes = np.array([change for _, change in part], np.float32)
            after = slopes[[move.at for move, _ in part]]
            after *= changes[:, None, :]
            after += error
            hopeful = np.flatnonzero(np.abs(after).max(axis=(1, 2)) <= ABSORBED * aim)
            if not len(hopeful):
                continue
            after = absorbed(after[hopeful])
            worst = np.abs(after).max(axis=(1, 2))
            price = (_used(after) - used) / np.array([part[k][0].saves for k in hopeful])
            if self.noise:
                price *= np.exp(self.noise * random.normal(size=len(price)))
            some = np.flatnonzero(worst <= HOPE * aim)
            ranked += [(float(price[k]), first + int(hopeful[k]), bool(worst[k] <= aim)) for k in some]
        ranked.sort()
        safe = [moves[place] for _, place, safe in ranked if safe]
        chosen = _together(graph, safe, slopes, error, absorbed, used ** (1 / 6) + PACE * aim)
        return self._made(program, chosen, [moves[place][0] for _, place, _ in ranked[:TRIED]], aim)

    def _made(self, program: Program, chosen: list[Move], others: Sequence[Move], aim: float) -> Program | None:
        """The program after the chosen moves, or as many of them as the limits bear; else after another one."""
        before = count(program).total
        while chosen:
            if (shorter := self._within(program, chosen, before, aim)) is not None:
                return shorter
            chosen = chosen[: len(chosen) // 2]
        for move in others:
            if (shorter := self._within(program, [move], before, aim)) is not None:
                return shorter
        return None

    def _within(self, program: Program, chosen: Sequence[Move], before: int, aim: float) -> Program | None:
        """The program after some moves, its numbers tuned if they must be; None if it is too wrong or no shorter."""
        shorter = moved(program, {move.at: move for move in chosen})
        if count(shorter).total >= before:
            return None
        worst = np.abs(self.errors(shorter)).max()
        if worst <= aim:
            return shorter
        if len(chosen) > 1 or worst > HOPE * aim:
            return None
        shorter = moved(self.tuned(shorter, 3, 8), {})
        return shorter if np.abs(self.errors(shorter)).max() <= aim else None


def _together(
    graph: Graph,
    ranked: Sequence[tuple[Move, Array]],
    slopes: NDArray[np.float32],
    error: NDArray[np.float32],
    absorbed: Callable[[NDArray[np.float32]], NDArray[np.float32]],
    most: float,
) -> list[Move]:
    """The best moves that do not touch each other and whose errors together, to first order, stay below a level."""
    chosen: list[Move] = []
    touched: set[int] = set()
    refused = 0
    for move, change in ranked:
        if move.at in touched:
            continue
        after = error + slopes[move.at] * change.astype(np.float32)
        if chosen and float(_used(absorbed(after[None]))[0]) > most**6:
            refused += 1
            if refused > REFUSED:
                break
            continue
        error = after
        chosen.append(move)
        touched |= {move.at, *graph.program.ops[move.at].args, *graph.readers[move.at]}
        if len(chosen) >= TOGETHER:
            break
    return chosen


def _telling(errors: Array) -> NDArray[np.intp]:
    """Some of the states (outputs, states): every few of them, and those where errors are largest."""
    every = np.arange(0, errors.shape[1], max(1, errors.shape[1] // TELLING))
    most = max(1, min(WORST, TELLING // len(errors)))
    return np.unique(np.concatenate([every, np.argsort(-np.abs(errors), axis=1)[:, :most].reshape(-1)]))


def _used(errors: NDArray) -> NDArray:
    """How much of the limits errors (..., outputs, states) use: the mean of the sixth power, the largest count."""
    squares = np.square(np.clip(errors, -FAR, FAR))
    return (squares * squares * squares).mean(axis=(1, 2))


def _mean_power(errors: Array, power: int) -> float:
    """The mean of a power of errors, over the largest's: what tuning makes small."""
    return float(np.mean(np.abs(np.clip(errors, -FAR, FAR)) ** (power + 2)))
