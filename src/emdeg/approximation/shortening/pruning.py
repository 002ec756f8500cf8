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
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.adversary import joined, taken
from emdeg.approximation.shortening.propagation import ConstantPropagation
from emdeg.approximation.shortening.rates import States
from emdeg.approximation.shortening.rewrites import Graph, Rewrite, rewritten
from emdeg.approximation.shortening.tape import Tape
from emdeg.approximation.shortening.tuning import Tuning, with_own_numbers
from emdeg.programs import Program, count

FAR = 100.0
"""Limits beyond which an error is an error: a sixth power of a larger one would not fit single precision."""
TOGETHER = 60
"""Moves made at once."""
PRICE = 1 / 3
"""The power of what is used that a price is of."""
PACE, LEAST_PACE, REFUSED = 0.1, 0.015, 12
"""The part of the aim by which moves made at once may raise what is used of the limits, and how many may be refused
for that."""
FAILURES = 6
"""How often in turn what was found does not hold against the adversary before a search ends."""
PART = 128
"""Moves looked at together: what they take is in the processor's cache."""
TELLING, WORST = 240, 16
"""States at which moves are ranked, about, and of those by output the ones of the largest errors."""
ENOUGH = 0.97
"""The part of the aim to which a program is repaired."""
KNOWN = 3
"""States of an output's largest errors that the adversary is told."""
REPAIRS, SURE = 6, 1.03
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

Adversary = Callable[[Program, States], States]
"""(a program, states where it errs most as far as known) -> states where it errs most."""


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
    spend: Callable[[float], None] = lambda seconds: None
    """Told the nominal seconds of what is done (`work`)."""

    @cached_property
    def exact(self) -> Array:
        """(outputs, states)."""
        return self.truth(self.states).T

    def errors(self, program: Program) -> Array:
        """(outputs, states): errors over limits."""
        return self._errors(self._tape(program))

    def _tape(self, program: Program) -> Tape:
        return Tape(program, self.spend)

    def _errors(self, tape: Tape, sizes: Array | None = None) -> Array:
        """The same, with other numbers in the program if given."""
        return (tape.outputs(tape.forward(self.states, sizes)) - self.exact) / self.limits[:, None]

    def worst(self, program: Program) -> float:
        """The largest error at the states, over its limit."""
        return float(np.abs(self.errors(program)).max(initial=0.0))

    def run(self, program: Program, aim: float) -> tuple[list[Program], Pruning]:
        """(programs from the given one on, each shorter than the one before; the search with the states it has met).

        No error of the last is above `aim` of its limit at the states, nor where the adversary finds it largest: if the
        shortest cannot be tuned to be so, the shortest on the way that can is the last.
        """
        return self._shorter_and_shorter(rewritten(program, {}), aim)

    def back(self, path: Sequence[Program], place: int, aim: float) -> int:
        """The place of a path, from a given one backwards by halves, where errors at the states are below the aim."""
        while place and self.worst(path[place]) > aim:
            place //= 2
        return place

    def _shorter_and_shorter(self, program: Program, aim: float) -> tuple[list[Program], Pruning]:
        """(programs, each shorter than the one before, until no move can be made; the search with the states it met).

        Each holds against the adversary: numbers that are tuned to few states are wrong at others. Where one does not,
        fewer moves are made at once, with the states in mind that showed it.
        """
        path, here, failed, pace = [program], self, 0, 1.0
        random = np.random.default_rng(self.seed)
        while failed < FAILURES and not self.until():
            shorter = here._step(path[-1], aim, random, pace)
            if shorter is None:
                break
            here, held = here.challenged(shorter, aim)
            if held is None:
                failed, pace = failed + 1, max(0.5 * pace, LEAST_PACE)
            else:
                path.append(held)
                failed, pace = 0, min(2 * pace, 1.0)
        return path, here

    def held(self, path: Sequence[Program], aim: float) -> tuple[list[Program], Pruning]:
        """(the path up to a program near its end that holds against the adversary, the search with the states found).

        The first of the path is known to hold.
        """
        here, back = self, 1
        while back < len(path):
            here, found = here.challenged(path[-back], aim)
            if found is not None:
                return [*path[:-back], found], here
            back += 1
        return [path[0]], here

    def challenged(self, program: Program, aim: float) -> tuple[Pruning, Program | None]:
        """(the search with the adversary's states, the program tuned to them); None where that does not help."""
        if self.adversary is None:
            return self, program
        here = self
        for _ in range(REPAIRS):
            known = np.argsort(-np.abs(here.errors(program)), axis=1)[:, :KNOWN].reshape(-1)
            grown = replace(here, states=joined(here.states, self.adversary(program, taken(here.states, known))))
            if grown.worst(program) <= self.sure * aim:
                return here, program
            here, program = grown, grown.repaired(program, ENOUGH * aim)
            if here.worst(program) > max(1.0, self.sure / SURE) * aim:
                return here, None
        return here, None

    def repaired(self, program: Program, enough: float = 0.0) -> Program:
        """The program with its numbers moved to where its largest errors are smaller, or `enough` so."""
        return rewritten(self.tuned(program, 10, 4, enough), {})

    def tuned(self, program: Program, steps: int = 1, power: int = 4, enough: float = 0.0) -> Program:
        """The program with its numbers moved to where its errors at the states are smaller, by some steps.

        No more steps are made than are `enough`: numbers that move far fit the states, and others less.
        """
        tape = self._tape(with_own_numbers(program))
        sizes = tape.sizes
        errors = self._errors(tape, sizes)
        best = _mean_power(errors, power)
        for _ in range(steps):
            if np.abs(errors).max() <= enough:
                break
            some = _telling(errors)
            tuning, error = self._tuning(tape, some, sizes, power)
            goal = tuning.moved(error)
            for share in SHARES:
                tried = sizes + share * (goal - sizes)
                errors = self._errors(tape, tried)
                mean = _mean_power(errors, power)
                if mean < 0.995 * best:
                    sizes, best = tried, mean
                    break
            else:
                break
        return tape.with_numbers(sizes)

    def _swept(
        self, tape: Tape, some: NDArray[np.intp], sizes: Array | None = None
    ) -> tuple[Array, NDArray[np.float32], NDArray[np.float32]]:
        """(values, errors over limits, slopes over limits) of a program, at some of the states."""
        values = tape.forward(taken(self.states, some), sizes)
        error = ((tape.outputs(values) - self.exact[:, some]) / self.limits[:, None]).astype(np.float32)
        return values, error, tape.backward(values, 1 / self.limits)

    def _tuning(
        self, tape: Tape, some: NDArray[np.intp], sizes: Array, power: int
    ) -> tuple[Tuning, NDArray[np.float32]]:
        _, error, slopes = self._swept(tape, some, sizes)
        self.spend(work.fit(len(sizes), error.size))
        return Tuning(tape, slopes, error, sizes, power), error

    def _step(self, program: Program, aim: float, random: np.random.Generator, pace: float) -> Program | None:
        """The program after the best moves that its limits bear; None where there is none."""
        program = with_own_numbers(program)
        error = self.errors(program)
        if np.abs(error).max() > WORTH:
            program = self.tuned(program)
        tape = self._tape(program)
        values, error, slopes = self._swept(tape, _telling(error))
        graph = Graph(program)
        folding = ConstantPropagation(graph)
        tuning = Tuning(tape, slopes, error)
        moves = graph.rewrites(values) + graph.substitutions(values, slopes)
        used = float(_used(tuning.absorbed(error[None]))[0])
        self.spend(work.fit(len(tape.numbers), error.size) + work.ranking(len(moves), len(tape.numbers), error.size))
        ranked: list[tuple[float, int, bool]] = []
        for first in range(0, len(moves), PART):
            part = moves[first : first + PART]
            after = slopes[[move.at for move, _ in part]]
            after *= np.array([change for _, change in part], np.float32)[:, None, :]
            after += error
            hopeful = np.flatnonzero(np.abs(after).max(axis=(1, 2)) <= ABSORBED * aim)
            effects = [folding.of([part[k][0]]) for k in hopeful]
            some = [place for place, (saves, _) in enumerate(effects) if saves > 0]
            if not some:
                continue
            after = tuning.absorbed(after[hopeful[some]], [effects[place][1] for place in some])
            worst = np.abs(after).max(axis=(1, 2))
            price = (_used(after) ** PRICE - used**PRICE) / np.array([effects[place][0] for place in some])
            if self.noise:
                price *= np.exp(self.noise * random.normal(size=len(price)))
            for k, place in enumerate(some):
                if worst[k] <= HOPE * aim:
                    ranked.append((float(price[k]), first + int(hopeful[place]), bool(worst[k] <= aim)))
        ranked.sort()
        safe = [moves[place] for _, place, safe in ranked if safe]
        made = _Making(graph, folding, tape, tuning, slopes, error)
        made.choose(safe, used ** (1 / 6) + pace * PACE * aim, aim, math.ceil(pace * TOGETHER))
        return self._made(made, [moves[place] for _, place, _ in ranked[:TRIED]], aim)

    def _made(self, made: _Making, others: Sequence[tuple[Rewrite, Array]], aim: float) -> Program | None:
        """The program after the chosen moves, or as many of them as the limits bear; else after another one."""
        while made.chosen:
            if (shorter := self._within(made, aim)) is not None:
                return shorter
            made.chosen = made.chosen[: len(made.chosen) // 2]
        for move in others:
            made.chosen = [move]
            if (shorter := self._within(made, aim)) is not None:
                return shorter
        return None

    def _within(self, made: _Making, aim: float) -> Program | None:
        """The program after chosen moves, its numbers tuned if they must be; None if it is too wrong or no shorter."""
        shorter = made.program
        self.spend(work.rewriting(shorter))
        if count(shorter).total >= count(made.graph.program).total:
            return None
        worst = np.abs(self.errors(shorter)).max()
        if worst <= aim:
            return shorter
        if worst > HOPE * aim:
            return None
        shorter = rewritten(self.tuned(shorter, 3, 8), {})
        return shorter if np.abs(self.errors(shorter)).max() <= aim else None


class _Making:
    """Moves that are made at once: what they do together, to first order, and the program after them."""

    def __init__(
        self,
        graph: Graph,
        folding: ConstantPropagation,
        tape: Tape,
        tuning: Tuning,
        slopes: NDArray[np.float32],
        error: NDArray[np.float32],
    ) -> None:
        self.graph, self.folding, self.tape, self.tuning = graph, folding, tape, tuning
        self.slopes, self.error = slopes, error
        self.chosen: list[tuple[Rewrite, Array]] = []

    def choose(self, ranked: Sequence[tuple[Rewrite, Array]], most: float, aim: float, together: int) -> None:
        """The best moves that do not touch each other and whose errors together, to first order, stay below a level."""
        error, saved, refused = self.error, 0, 0
        gone: set[int] = set()
        touched: set[int] = set()
        for move, change in ranked:
            if move.at in touched or move.at in gone or (move.like is not None and move.like in gone):
                continue
            more, away = self.folding.of([*(one for one, _ in self.chosen), move])
            if more <= saved:
                continue
            after = error + self.slopes[move.at] * change.astype(np.float32)
            left = self.tuning.absorbed(after[None], [away])
            if self.chosen and (float(_used(left)[0]) > most**6 or np.abs(left).max() > aim):
                refused += 1
                if refused > REFUSED:
                    break
                continue
            error, saved, gone = after, more, set(away)
            self.chosen.append((move, change))
            touched |= {move.at, *self.graph.program.ops[move.at].args, *self.graph.readers[move.at]}
            if len(self.chosen) >= together:
                break

    @property
    def program(self) -> Program:
        """The program after the chosen moves, its other numbers where they take up most of what these do."""
        error = self.error
        for move, change in self.chosen:
            error = error + self.slopes[move.at] * change.astype(np.float32)
        _, gone = self.folding.of(move for move, _ in self.chosen)
        sizes = self.tuning.moved(error, gone)
        return rewritten(self.tape.with_numbers(sizes), {move.at: move for move, _ in self.chosen})


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
