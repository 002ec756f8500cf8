"""Short programs: operations of the smallest exact program left out, as many as given errors bear, and that certified.

The search steers by states (`steering`, `pruning`): what it leaves out keeps every error at them below a part of its
limit; the worst states that climbs then find join them, and it runs again. What remains is certified (`program_error`).
Where a certified error is above its limit, that limit is lowered for the search, which starts afresh; where a
certificate takes too long, a program with more room below its limits is tried. If nothing shorter can be certified the
exact program stands, which errs by nothing: a short program is never longer than that one.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.changed_robot import Leaving
from emdeg.approximation.program_error import EFFORTS, ProgramError, degrees_of, written_rates
from emdeg.approximation.short_program import OF_EFFORTS, ShortProgram
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.moves import Move, moved
from emdeg.approximation.shortening.pruning import SURE, Pruning
from emdeg.approximation.shortening.rates import States
from emdeg.approximation.shortening.steering import joined, random_states, worst_states
from emdeg.approximation.shortening.tape import Tape
from emdeg.bounds import Bounded
from emdeg.errors import OverBudget
from emdeg.programs import Effort, Program, Progress, Weights, cost, count, optimise, verify
from emdeg.programs.search import Resubstitution, tidied
from emdeg.robot import Robot, Workspace
from emdeg.runtime import compile

STATES = 600
SEARCHING, LONG_SEARCHING, GOING_ON, CERTIFYING, LONG_CERTIFYING = 0.7, 0.37, 0.72, 0.93, 0.77
"""The shares of the time that may have passed when certification begins, of few operations and of many, when what may
follow a certified program has been looked for, and when a less short one is tried, of few and of many."""
ROUNDS, WORK, LEAST_WORK, NOISE = 12, 2e6, 6e4, 0.4
"""Prunings by different ways at most, their work for a second of effort and at least, and how different they are."""
AIM, LAST_AIM = 0.88, 0.94
"""The part of a limit that errors at states may use, and once one is certified: bounds are above what is found."""
HOPELESS, MEETINGS = 0.05, 3
"""The part of a limit by which errors found may pass the aim: bounds so close take too long, so the search meets the
states of larger ones first; and how often it does."""
LONG, LONG_AIM, LONG_SURE = 700_000, 0.72, 1.03
VAST, VAST_AIM, VAST_SEARCHING = 30_000, 0.59, 0.3
"""Work beyond which less is aimed at, as close bounds of many joints take long, and how many of these aims will do;
products of waves of all joints beyond which still less is, and the search ends sooner."""
HASTY, HASTE = 0.87, 0.07
"""The part of the time below which little is left where the exact program took some, and how much less a long search
aims at then."""
ROOMY_AIM = 0.58
"""What is aimed at where bounds did not come near enough in time."""
BRIEF = 50_000
"""Work up to which a search begins with the exact program: what it can do is done soon."""
LEFT, LONGER, LOOKING = 0.75, 0.4, 0.04
"""The part of what is aimed at that leaving parameters out may use; times the effort, what looking for a program of
them takes, and of the time left at most."""
WORTHWHILE = 0.87
"""The part of the exact program's cost below which a long search begins with fewer parameters instead."""
DEAR = 1 << 22
"""Values that a certificate took beyond which it is not asked for again for the sake of another move."""
GUESSED = ((0.9, 0.005), (0.75, 0.02), (0.65, 0.05), (0.5, 0.15), (0.35, 0.4))
"""Of a long program: (parts of its length that are asked for at least, the parts of the largest outputs that errors may
be at first)."""
ATTEMPTS = 4
"""Searches until one is certified within its limits."""
TABLES = 1e-6
"""Seconds that a search for equal values spends on its tables, per square of a program's length; without it, none."""
POINTS, CLIMBS, SWEEPS = 6_000, 9, 2
"""States that the search's adversary looks at, how many of each output it climbs from, and how often."""
WORST, NEAR, BESIDES = 2, 1, 10
"""Worst states of each output that join the search, states near each of them, and others that are bad."""
LEAST_SEARCH = 0.5
"""Seconds below which looking for a program takes longer by its beginning and its proof than by the search."""


class Shortening:
    """Everything that stays the same while limits change."""

    def __init__(
        self,
        robot: Robot,
        function: str,
        exact: Program,
        where: Workspace,
        effort: float,
        seed: int,
        weights: Weights,
        tell: Progress,
        time: Effort,
    ) -> None:
        self.robot, self.function, self.exact, self.where = robot, function, exact, where
        self.effort, self.seed, self.weights, self.tell = effort, seed, weights, tell
        self.time, self.over = time, time.until(1.0)
        self._hasty = time.rest < HASTY * time.seconds
        self.names = [group.name for group in exact.inputs]
        self.revolute = tuple(joint.kind == "revolute" for joint in robot.coordinates)
        self.random = np.random.default_rng(seed)
        self._call = compile(exact)
        time.spend(work.compiling(exact))
        self.largest, peaks = worst_states(self.outputs, where, self.names, self.random)
        if function == "mass_matrix":
            diagonal = np.sqrt(np.diag(self.largest.reshape(robot.freedoms, -1)))
            self.largest = np.outer(diagonal, diagonal).reshape(-1)
        self.states = joined(random_states(where, self.names, STATES, self.random), peaks)

    def outputs(self, states: States) -> Array:
        """(states, outputs) of the exact program."""
        self.time.spend(work.calls(self.exact, len(states["q"])))
        return self._call(**{name: states[name] for name in self.names}).reshape(len(states["q"]), -1)

    def within(self, limits: Array, start: Program | None = None) -> ShortProgram:
        """The shortest that is certified within the limits; the exact one if none is, and why.

        `start`: a program known to be within them, from which the search begins.
        """
        best = self._made(self.exact, tuple(Bounded(0.0, 0.0, {}) for _ in limits), limits)
        if not self._bounded():
            return replace(best, why="errors of a program of this kind are not bounded")
        path, search = self.pruned(limits, start)
        path, search = self._met(path, search, limits)
        aim, why, roomy = self._aim, "no shorter program was found within these errors", False
        for _ in range(ATTEMPTS):
            short = self._compacted(path[-1], searching=not roomy)
            if cost(short, self.weights) >= cost(best.program, self.weights):
                break
            if self.over():
                why = "the time was over before a shorter program was certified"
                break
            error = self._error(short)
            found, _ = self._found(error)
            try:
                until = self.over if roomy else self.time.until(LONG_CERTIFYING if self._long else CERTIFYING)
                errors = self._bounds(error, found, limits, until)
            except OverBudget as problem:
                why = str(problem)
                if roomy or best.program != self.exact or self.over():
                    break
                # Bounds far above the errors are shown sooner: a program that has room for them is tried.
                least = 1 if cost(path[0], self.weights) < cost(self.exact, self.weights) else 2
                roomy, path = True, path[: max(least, bisect_right(path, ROOMY_AIM, key=search.worst))]
                continue
            # An output that is always zero, as the first joint's gravity often is, has no error and none allowed.
            over = np.array([e.bound / limit if e.bound else 0.0 for e, limit in zip(errors, limits)])
            self.tell("certified" if (over <= 1).all() else "not certified", cost(short, self.weights))
            if (over <= 1).all():
                best = self._made(short, errors, limits)
                if sum(e.boxes for e in errors) > DEAR:
                    break
                # What its errors leave of their limits may bear another move or two.
                aim = LAST_AIM * self._aim / AIM
                going_on = replace(search, until=self.time.until(GOING_ON))
                further, search = going_on.run(path[-1], aim)
                path = [*path[:-1], *further]
            else:
                why = "shorter programs were found, but none that is certified within these errors"
                goal = search.limits * np.where(over > 1, 0.985 / over, 1.0)
                path, search = replace(search, limits=goal, until=self.over).held(path, aim)
        return best if best.program != self.exact else replace(best, why=why)

    def _met(self, path: list[Program], search: Pruning, limits: Array) -> tuple[list[Program], Pruning]:
        """The path up to a program that is near its aim where many climbs end too: close bounds would take too long."""
        for _ in range(MEETINGS):
            found, at = self._found(self._error(path[-1]))
            if self.over() or len(path) == 1 or not (found > (self._aim + HOPELESS) * limits).any():
                break
            meeting = replace(search, states=joined(search.states, at), until=self.time.until(GOING_ON))
            path, search = meeting.held(path, self._aim)
        return path, search

    def of_length(self, at_most: int) -> ShortProgram:
        """The least certified error found with so many operations; the shortest found if none is short enough."""
        none = np.full(len(self.largest), math.inf)
        if count(self.exact).total <= at_most:
            zero = tuple(Bounded(0.0, 0.0, {}) for _ in none)
            return replace(self._made(self.exact, zero, none), at_most=at_most)
        short = self._on_the_way_to(at_most) if self._long else self._halving_to(at_most)
        found = replace(self._made(short, self.certified(short), none), at_most=at_most)
        if at_most < 1 or (not found.missed and max(found.relative, default=0.0) <= 1):
            return found
        # A program that computes nothing errs by the whole, and no more; it is shorter than any.
        nothing = moved(self.exact, {root: Move(root, Fraction(0)) for root in self.exact.roots()})
        other = replace(self._made(nothing, self.certified(nothing), none), at_most=at_most)
        return other if found.missed else min(found, other, key=lambda one: max(one.relative, default=0.0))

    def _on_the_way_to(self, at_most: int) -> Program:
        """The first program so short on one way of prunings, with limits that rise until it comes there."""
        share = at_most / count(self.exact).total
        part = next((part for least, part in GUESSED if share >= least), 1.0)
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

    def _made(self, short: Program, errors: tuple[Bounded, ...], limits: Array) -> ShortProgram:
        largest, bounds = tuple(map(float, self.largest)), tuple(map(float, limits))
        return ShortProgram(self.robot, self.function, short, self.exact, self.where, errors, largest, bounds)

    def _bounded(self) -> bool:
        """Whether errors can be certified at all."""
        return written_rates(self.exact) <= EFFORTS

    def pruned(self, limits: Array, start: Program | None = None) -> tuple[list[Program], Pruning]:
        """(programs, each shorter than the one before, the last the shortest found by steering alone; its search).

        The last one's errors at states and climbs are within an aim of the limits. Each round but the first begins at
        a place of the shortest path so far, with prices that are a little different.
        """
        floor = 1e-9 * max(float(self.largest.max()), 1e-12)
        limits = np.maximum(limits, floor)
        searching, sure = (LONG_SEARCHING, LONG_SURE) if self._long else (SEARCHING, SURE)
        until = self.time.until(VAST_SEARCHING if self._vast else searching)
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
            search = replace(search, noise=NOISE, seed=self.seed + round_)
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
        looking = min(LONGER * self.effort, LOOKING * self.time.rest)
        if self.function not in OF_EFFORTS or self._work <= BRIEF or not self.effort or looking < LEAST_SEARCH:
            return [self.exact]
        spend = self.time.spend
        leaving = Leaving(self.robot, [float(x) for x in limits], self.where, self.seed, self.names, spend)
        changed = leaving.changed(leaving.run(np.full(len(limits), LEFT * self._aim)))
        if changed is None:
            return [self.exact]
        found = optimise(
            changed, self.function, self.time.at_most(looking, work.SEARCHING), seed=self.seed, weights=self.weights
        ).program
        self.tell("fewer parameters", cost(found, self.weights))
        if cost(found, self.weights) >= cost(self.exact, self.weights) or not written_rates(found) <= EFFORTS:
            return [self.exact]
        if not self._long:
            return [self.exact, found]
        return [found if cost(found, self.weights) < WORTHWHILE * cost(self.exact, self.weights) else self.exact]

    def _rounds(self) -> int:
        """How many prunings the effort allows for: the work of one grows with the square of the program's length."""
        return int(np.clip(self.effort * WORK / (LEAST_WORK + self._work), 1, ROUNDS))

    @property
    def _work(self) -> int:
        return count(self.exact).total ** 2 * len(self.largest)

    @property
    def _long(self) -> bool:
        """Whether a search and its certificates take as long as there is time."""
        return self._vast or self._work > LONG

    @cached_property
    def _vast(self) -> bool:
        """Whether bounds take long however few operations there are: as many joints' waves enter an output."""
        self.time.spend(work.degrees(self.exact))
        degrees = degrees_of((self.exact,), self.revolute)
        return int((2 * degrees + 1).prod(axis=1).max(initial=1)) > VAST

    @property
    def _aim(self) -> float:
        if not self._long:
            return AIM
        return (VAST_AIM if self._vast else LONG_AIM) - HASTE * self._hasty

    def _worst(self, program: Program, known: States) -> dict[str, Array]:
        """States where a program errs most, and some near the worst of them; `known`: where it does so as far as known,
        equally many an output.
        """
        short = Tape(program, self.time.spend)

        def errors(states: States) -> Array:
            return self.outputs(states) - short.call(states)

        ways = {"points": POINTS, "starts": CLIMBS, "kept": WORST, "sweeps": SWEEPS, "also": known, "besides": BESIDES}
        _, at = worst_states(errors, self.where, self.names, self.random, **ways)
        return joined(at, *(self._near(at) for _ in range(NEAR)))

    def _near(self, at: dict[str, Array]) -> dict[str, Array]:
        lower, upper = np.array(self.where.ranges).T
        moved = at["q"] + 0.04 * (upper - lower) * self.random.normal(size=at["q"].shape)
        return {**at, "q": np.clip(moved, lower, upper)}

    def _compacted(self, short: Program, searching: bool = True) -> Program:
        """The same function in fewer operations, if some effort finds it."""
        candidates = [tidied(short, self.weights)]
        share = 0.3 * self.time.rest
        self.time.spend(4 * work.rewriting(short) + TABLES * short.size**2)
        if searching and self.effort > 0 and share > TABLES * candidates[0].size ** 2:
            effort = self.time.at_most(min(self.effort / 4, share), work.SEARCHING)
            search = Resubstitution(candidates[0], self.seed, self.weights, effort.spend)
            candidates.append(tidied(search.run(effort.until(1.0)), self.weights))
        for candidate in sorted(candidates, key=lambda one: cost(one, self.weights)):
            if written_rates(candidate) <= EFFORTS:
                verify(candidate, short)
                self.tell("compacted", cost(candidate, self.weights))
                return candidate
        return short

    def certified(self, short: Program) -> tuple[Bounded, ...]:
        """Each output's certified error, and the largest found; OverBudget where the time says stop."""
        error = self._error(short)
        found, _ = self._found(error)
        return self._bounds(error, found, np.full(len(found), math.inf), self.over)

    def _bounds(
        self, error: ProgramError, found: Array, enough: Array, until: Callable[[], bool]
    ) -> tuple[Bounded, ...]:
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

        return worst_states(errors, self.where, self.names, self.random, points=100_000, starts=40, sweeps=4)
