"""Approximate programs: operations of the smallest exact program left out within given errors, and that certified.

The search steers by states (`adversary`, `pruning`): what it leaves out keeps every error at them below a part of its
limit; the worst states that climbs then find join them, and it runs again. What remains is certified (`program_error`).
Where a certified error is above its limit, that limit is lowered for the search, which starts afresh; where a
certificate takes too long, a program with more room below its limits is tried. If nothing shorter can be certified the
exact program stands, which errs by nothing: an approximate program is never longer than that one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.approximation import OF_TORQUES, Approximation, SearchOptions
from emdeg.approximation.parameter_elimination import ParameterElimination
from emdeg.approximation.program_error import TORQUE_DEGREES, ProgramError, degrees_of, written_rates
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.adversary import Climbs, joined, random_states, worst_states
from emdeg.approximation.shortening.pruning import SURE, Pruning
from emdeg.approximation.shortening.rates import States
from emdeg.approximation.shortening.rewrites import Rewrite, rewritten
from emdeg.approximation.shortening.tape import Tape
from emdeg.bounds import CertifiedExtremum
from emdeg.errors import OverBudget
from emdeg.programs import Effort, Program, cost, count, optimise, verify
from emdeg.programs.search import Resubstitution, tidied
from emdeg.robot import Robot
from emdeg.runtime import compile


@dataclass(frozen=True)
class SearchTuning:
    """What a search weighs: found by trials on library robots, the same for all."""

    states: int = 600
    searching: float = 0.7
    long_searching: float = 0.37
    vast_searching: float = 0.3
    """Fractions of the time that may have passed when certification begins: few operations, many, of many joints."""
    going_on: float = 0.72
    """When what may follow a certified program has been searched for."""
    certifying: float = 0.93
    long_certifying: float = 0.77
    """When a less short program is tried: few operations, many."""
    rounds: int = 12
    work: float = 2e6
    least_work: float = 6e4
    """Prunings at most, their work for a second of effort, and at least."""
    noise: float = 0.4
    """How different prunings are."""
    aim: float = 0.88
    last_aim: float = 0.94
    """The fraction of a limit that errors at states may use, and once one is certified: bounds are above what is
    found."""
    hopeless: float = 0.05
    meetings: int = 3
    """The fraction of a limit by which errors found may pass the aim, and how often states of larger ones are met
    first: bounds so close would take too long."""
    long: int = 700_000
    long_aim: float = 0.72
    long_sure: float = 1.03
    """Work beyond which less is aimed at, as close bounds of many joints take long, and how many of these aims will
    do."""
    vast: int = 30_000
    vast_aim: float = 0.59
    """Products of Fourier terms of all joints beyond which still less is aimed at."""
    hasty: float = 0.87
    haste: float = 0.07
    """The fraction of the time below which little is left where the exact program took some, and how much less a long
    search aims at then."""
    roomy_aim: float = 0.58
    """What is aimed at where bounds did not come near enough in time."""
    brief: int = 50_000
    """Work up to which a search begins with the exact program: what it can do is done soon."""
    left: float = 0.75
    """The fraction of what is aimed at that leaving parameters out may use."""
    longer: float = 0.4
    looking: float = 0.04
    """What searching for a program of fewer parameters takes: times the effort, and of the time left at most."""
    worthwhile: float = 0.87
    """The fraction of the exact program's cost below which a long search begins with fewer parameters instead."""
    dear: int = 1 << 22
    """Values that a certificate took beyond which it is not asked for again for the sake of another rewrite."""
    guessed: tuple[tuple[float, float], ...] = ((0.9, 0.005), (0.75, 0.02), (0.65, 0.05), (0.5, 0.15), (0.35, 0.4))
    """Of a long program: (fractions of its length that are asked for at least, the fractions of the largest outputs
    that errors may be at first)."""
    attempts: int = 4
    """Searches until one is certified within its limits."""
    tables: float = 1e-6
    """Seconds that a search for equal values spends on its tables, per square of a program's length."""
    near: int = 1
    """States near each of the worst that join the search."""
    adversary: Climbs = Climbs(points=6_000, starts=9, kept=2, sweeps=2, besides=10)
    final: Climbs = Climbs(points=100_000, starts=40, sweeps=4)
    """What is looked at where a program errs most: while searching, and before it is certified."""


DEFAULT_TUNING = SearchTuning()


class ProgramSearch:
    """Everything that stays the same while limits change."""

    def __init__(self, robot: Robot, function: str, how: SearchOptions, tuning: SearchTuning = DEFAULT_TUNING) -> None:
        assert how.exact is not None
        assert how.where is not None
        self.robot, self.function, self.exact, self.where, self.tuning = robot, function, how.exact, how.where, tuning
        self.effort, self.seed, self.weights, self.tell = how.effort, how.seed, how.weights, how.tell
        exact, time = how.exact, how.time or Effort(math.inf)
        self.time, self.over = time, time.until(1.0)
        self._hasty = time.rest < self.tuning.hasty * time.seconds
        self.names = [group.name for group in exact.inputs]
        self.revolute = tuple(joint.kind == "revolute" for joint in robot.coordinates)
        self.random = np.random.default_rng(how.seed)
        self._call = compile(exact)
        time.spend(work.compiling(exact))
        self.largest, peaks = worst_states(self.outputs, self.where, self.names, self.random)
        if function == "mass_matrix":
            diagonal = np.sqrt(np.diag(self.largest.reshape(robot.freedoms, -1)))
            self.largest = np.outer(diagonal, diagonal).reshape(-1)
        self.states = joined(random_states(self.where, self.names, self.tuning.states, self.random), peaks)

    def outputs(self, states: States) -> Array:
        """(states, outputs) of the exact program."""
        self.time.spend(work.calls(self.exact, len(states["q"])))
        return self._call(**{name: states[name] for name in self.names}).reshape(len(states["q"]), -1)

    def within(self, limits: Array, start: Program | None = None) -> Approximation:
        """The shortest that is certified within the limits; the exact one if none is, and why.

        `start`: a program known to be within them, from which the search begins.
        """
        best = self._made(self.exact, tuple(CertifiedExtremum(0.0, 0.0, {}) for _ in limits), limits)
        if not self._bounded():
            return replace(best, why="errors of a program of this kind are not bounded")
        path, search = self.pruned(limits, start)
        path, search = self._met(path, search, limits)
        aim, why, roomy = self._aim, "no shorter program was found within these errors", False
        for _ in range(self.tuning.attempts):
            short = self._compacted(path[-1], searching=not roomy)
            if cost(short, self.weights) >= cost(best.program(), self.weights):
                break
            if self.over():
                why = "the time was over before a shorter program was certified"
                break
            error = self._error(short)
            found, _ = self._found(error)
            try:
                until = (
                    self.over
                    if roomy
                    else self.time.until(self.tuning.long_certifying if self._long else self.tuning.certifying)
                )
                errors = self._bounds(error, found, limits, until)
            except OverBudget as problem:
                why = str(problem)
                if roomy or not best.is_exact or self.over():
                    break
                # Bounds far above the errors are shown sooner: a program that has room for them is tried.
                least = 1 if cost(path[0], self.weights) < cost(self.exact, self.weights) else 2
                roomy, path = True, path[: max(least, bisect_right(path, self.tuning.roomy_aim, key=search.worst))]
                continue
            # An output that is always zero, as the first joint's gravity often is, has no error and none allowed.
            over = np.array([e.bound / limit if e.bound else 0.0 for e, limit in zip(errors, limits)])
            self.tell("certified" if (over <= 1).all() else "not certified", cost(short, self.weights))
            if (over <= 1).all():
                best = self._made(short, errors, limits)
                if sum(e.boxes for e in errors) > self.tuning.dear:
                    break
                # What its errors leave of their limits may bear another move or two.
                aim = self.tuning.last_aim * self._aim / self.tuning.aim
                going_on = replace(search, until=self.time.until(self.tuning.going_on))
                further, search = going_on.run(path[-1], aim)
                path = [*path[:-1], *further]
            else:
                why = "shorter programs were found, but none that is certified within these errors"
                goal = search.limits * np.where(over > 1, 0.985 / over, 1.0)
                path, search = replace(search, limits=goal, until=self.over).held(path, aim)
        return replace(best, why=why) if best.is_exact else best

    def _met(self, path: list[Program], search: Pruning, limits: Array) -> tuple[list[Program], Pruning]:
        """The path up to a program that is near its aim where many climbs end too: close bounds would take too long."""
        for _ in range(self.tuning.meetings):
            found, at = self._found(self._error(path[-1]))
            if self.over() or len(path) == 1 or not (found > (self._aim + self.tuning.hopeless) * limits).any():
                break
            meeting = replace(search, states=joined(search.states, at), until=self.time.until(self.tuning.going_on))
            path, search = meeting.held(path, self._aim)
        return path, search

    def of_length(self, at_most: int) -> Approximation:
        """The least certified error found with so many operations; the shortest found if none is short enough."""
        none = np.full(len(self.largest), math.inf)
        if count(self.exact).total <= at_most:
            zero = tuple(CertifiedExtremum(0.0, 0.0, {}) for _ in none)
            return replace(self._made(self.exact, zero, none), at_most=at_most)
        short = self._on_the_way_to(at_most) if self._long else self._halving_to(at_most)
        found = replace(self._made(short, self.certified(short), none), at_most=at_most)
        if at_most < 1 or (not found.missed and max(found.certified_error, default=0.0) <= 1):
            return found
        # A program that computes nothing errs by the whole, and no more; it is shorter than any.
        nothing = rewritten(self.exact, {root: Rewrite(root, Fraction(0)) for root in self.exact.roots()})
        other = replace(self._made(nothing, self.certified(nothing), none), at_most=at_most)
        return other if found.missed else min(found, other, key=lambda one: max(one.certified_error, default=0.0))

    def _on_the_way_to(self, at_most: int) -> Program:
        """The first program so short on one way of prunings, with limits that rise until it comes there."""
        share = at_most / count(self.exact).total
        part = next((part for least, part in self.tuning.guessed if share >= least), 1.0)
        path, _ = self.pruned(part * self.largest)
        while count(path[-1]).total > at_most and part < 1:
            part = min(1.0, 3 * part)
            path, _ = self.pruned(part * self.largest, path[-1])
        return self._compacted(next((one for one in path if count(one).total <= at_most), path[-1]))

    def _halving_to(self, at_most: int) -> Program:
        """The program of the smallest limits found whose shortest is so short."""
        low, high = 1e-4, 1.0
        short = self._pruned_and_compact(high * self.largest)
        half = self.time.until(0.5)
        while count(short).total <= at_most and high / low > 1.15 and not half():
            middle = math.sqrt(low * high)
            tried = self._pruned_and_compact(middle * self.largest)
            if count(tried).total <= at_most:
                short, high = tried, middle
            else:
                low = middle
        return short

    def _pruned_and_compact(self, limits: Array) -> Program:
        return self._compacted(self.pruned(limits)[0][-1])

    def _made(self, short: Program, errors: tuple[CertifiedExtremum, ...], limits: Array) -> Approximation:
        largest, bounds = tuple(map(float, self.largest)), tuple(map(float, limits))
        return Approximation(self.robot, self.function, short, self.exact, self.where, errors, largest, bounds)

    def _bounded(self) -> bool:
        """Whether errors can be certified at all."""
        return written_rates(self.exact) <= TORQUE_DEGREES

    def pruned(self, limits: Array, start: Program | None = None) -> tuple[list[Program], Pruning]:
        """(programs, each shorter than the one before, the last the shortest found by steering alone; its search).

        The last one's errors at states and climbs are within an aim of the limits. Each round but the first begins at
        a place of the shortest path so far, with prices that are a little different.
        """
        floor = 1e-9 * max(float(self.largest.max()), 1e-12)
        limits = np.maximum(limits, floor)
        searching, sure = (
            (self.tuning.long_searching, self.tuning.long_sure) if self._long else (self.tuning.searching, SURE)
        )
        until = self.time.until(self.tuning.vast_searching if self._vast else searching)
        search = Pruning(self.states, self.outputs, limits, self._worst, until, sure=sure, spend=self.time.spend)
        path: list[Program] = []
        for first in [start] if start else self._starts(limits):
            found, search = search.run(first, self._aim)
            if not path or count(found[-1]).total < count(path[-1]).total:
                path = found
        random = np.random.default_rng(self.seed)
        for round_ in range(1, self._rounds()):
            if search.until():
                break
            self.tell(f"pruned {round_} x", cost(path[-1], self.weights))
            first = search.back(path, int(random.uniform() * len(path)), self._aim)
            search = replace(search, noise=self.tuning.noise, seed=self.seed + round_)
            found, search = search.run(path[first], self._aim)
            if count(found[-1]).total < count(path[-1]).total:
                path = [*path[:first], *found]
        self.tell("pruned", cost(path[-1], self.weights))
        return path, replace(search, noise=0.0)

    def _starts(self, limits: Array) -> list[Program]:
        """What a search begins with: the exact program, and that of the robot with fewer parameters if it is shorter.

        A parameter left out of the equations takes with it what many moves would have to find one by one. Where the
        search takes long it begins with the shorter alone; where little time is left, with the exact one.
        """
        looking = min(self.tuning.longer * self.effort, self.tuning.looking * self.time.rest)
        if (
            self.function not in OF_TORQUES
            or self._work <= self.tuning.brief
            or not self.effort
            or looking < work.LEAST_SEARCH
        ):
            return [self.exact]
        spend = self.time.spend
        leaving = ParameterElimination(self.robot, [float(x) for x in limits], self.where, self.seed, self.names, spend)
        changed = leaving.changed(leaving.run(np.full(len(limits), self.tuning.left * self._aim)))
        if changed is None:
            return [self.exact]
        found = optimise(
            changed, self.function, self.time.at_most(looking, work.SEARCHING), seed=self.seed, weights=self.weights
        ).program
        self.tell("fewer parameters", cost(found, self.weights))
        if cost(found, self.weights) >= cost(self.exact, self.weights) or not written_rates(found) <= TORQUE_DEGREES:
            return [self.exact]
        if not self._long:
            return [self.exact, found]
        return [
            found if cost(found, self.weights) < self.tuning.worthwhile * cost(self.exact, self.weights) else self.exact
        ]

    def _rounds(self) -> int:
        """How many prunings the effort allows for: the work of one grows with the square of the program's length."""
        return int(
            np.clip(self.effort * self.tuning.work / (self.tuning.least_work + self._work), 1, self.tuning.rounds)
        )

    @property
    def _work(self) -> int:
        return count(self.exact).total ** 2 * len(self.largest)

    @property
    def _long(self) -> bool:
        """Whether a search and its certificates take as long as there is time."""
        return self._vast or self._work > self.tuning.long

    @cached_property
    def _vast(self) -> bool:
        """Whether bounds take long however few operations there are: as many joints' waves enter an output."""
        self.time.spend(work.degrees(self.exact))
        degrees = degrees_of((self.exact,), self.revolute)
        return int((2 * degrees + 1).prod(axis=1).max(initial=1)) > self.tuning.vast

    @property
    def _aim(self) -> float:
        if not self._long:
            return self.tuning.aim
        return (self.tuning.vast_aim if self._vast else self.tuning.long_aim) - self.tuning.haste * self._hasty

    def _worst(self, program: Program, known: States) -> dict[str, Array]:
        """States where a program errs most, and some near the worst of them; `known`: where it does so as far as known,
        equally many an output.
        """
        short = Tape(program, self.time.spend)

        def errors(states: States) -> Array:
            return self.outputs(states) - short.call(states)

        _, at = worst_states(errors, self.where, self.names, self.random, self.tuning.adversary, known)
        return joined(at, *(self._near(at) for _ in range(self.tuning.near)))

    def _near(self, at: dict[str, Array]) -> dict[str, Array]:
        lower, upper = np.array(self.where.ranges).T
        moved = at["q"] + 0.04 * (upper - lower) * self.random.normal(size=at["q"].shape)
        return {**at, "q": np.clip(moved, lower, upper)}

    def _compacted(self, short: Program, searching: bool = True) -> Program:
        """The same function in fewer operations, if some effort finds it."""
        candidates = [tidied(short, self.weights)]
        share = 0.3 * self.time.rest
        self.time.spend(4 * work.rewriting(short) + self.tuning.tables * short.size**2)
        if searching and self.effort > 0 and share > self.tuning.tables * candidates[0].size ** 2:
            effort = self.time.at_most(min(self.effort / 4, share), work.SEARCHING)
            search = Resubstitution(candidates[0], self.seed, self.weights, effort.spend)
            candidates.append(tidied(search.run(effort.until(1.0)), self.weights))
        for candidate in sorted(candidates, key=lambda one: cost(one, self.weights)):
            if written_rates(candidate) <= TORQUE_DEGREES:
                verify(candidate, short)
                self.tell("compacted", cost(candidate, self.weights))
                return candidate
        return short

    def certified(self, short: Program) -> tuple[CertifiedExtremum, ...]:
        """Each output's certified error, and the largest found; OverBudget where the time says stop."""
        error = self._error(short)
        found, _ = self._found(error)
        return self._bounds(error, found, np.full(len(found), math.inf), self.over)

    def _bounds(
        self, error: ProgramError, found: Array, enough: Array, until: Callable[[], bool]
    ) -> tuple[CertifiedExtremum, ...]:
        spend = self.time.spend
        return error.bounds(found.tolist(), enough=enough.tolist(), until=until, over=self.over, spend=spend)

    def _error(self, short: Program) -> ProgramError:
        self.time.spend(work.compiling(short))
        return ProgramError(self.exact, short, self.where, self.revolute)

    def _found(self, error: ProgramError) -> tuple[Array, dict[str, Array]]:
        """(the largest error of each output found by many climbs, the states where)."""

        def errors(states: States) -> Array:
            self.time.spend(work.calls(error.exact, len(states["q"])) + work.calls(error.short, len(states["q"])))
            return error.errors(states)

        return worst_states(errors, self.where, self.names, self.random, self.tuning.final)
