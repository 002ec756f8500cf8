"""Approximate programs of closed-loop mechanisms: inertial parameters are left out or moved.

That the program is the exact one plus what this change adds is verified, and what that can be is certified
(`loop_error`). Another mechanism of the same geometry, a lumped one for instance, is assessed in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.approximation import Approximation, SearchOptions
from emdeg.approximation.loop_error import torque_error
from emdeg.approximation.parameter_elimination import NOTHING_LEFT_OUT, fewer_parameters
from emdeg.approximation.shortening.adversary import MOTION, Climbs, worst_states
from emdeg.approximation.shortest_program import shortest
from emdeg.bounds import CertifiedExtremum
from emdeg.dynamics.parameters import base_parameters, base_values
from emdeg.errors import OverBudget, RobotError
from emdeg.programs import Effort, Program, count, program
from emdeg.robot import Robot, Workspace
from emdeg.runtime import compile

MANY = Climbs(points=100_000, starts=40)
"""Where a mechanism's largest torques and errors are searched for."""


def approximated(robot: Robot) -> tuple[str, ...]:
    """The functions that have approximate programs."""
    return ("inverse_dynamics",)


def effort_for_exact(robot: Robot, effort: float, time: Effort) -> Effort | float:
    """The whole effort: leaving parameters out takes the least of it."""
    return effort


def searched(
    robot: Robot,
    function: str,
    how: SearchOptions,
    limits: Callable[[Array], Array],
    at_most: int | None,
    ladder: Sequence[float],
) -> Approximation:
    """The shortest program found within the limits, or the first within the ladder's errors of so many operations."""
    search = MechanismSearch(robot, how)
    return search.within(limits(search.largest)) if at_most is None else search.of_length(at_most, ladder)


def searched_each(
    robot: Robot, worst_errors: Sequence[float], function: str, tell: Callable[[str], None], search: Mapping[str, Any]
) -> tuple[Approximation, ...]:
    """The approximate programs within each of the rising errors."""
    time = search.get("time") or Effort(math.inf)
    found = []
    for place, part in enumerate(worst_errors):
        tell(f"within {100 * part:g} %")
        mine = {"effort": 3.0, **search, "time": time.part(1 / (len(worst_errors) - place))}
        found.append(shortest(robot, function, worst_error=part, **mine))
    return tuple(found)


def lumped_approximation(
    robot: Robot, other: Robot, where: Workspace, *, effort: float = 3.0, seed: int = 0
) -> Approximation:
    """Another mechanism's inverse dynamics as an approximation of this one's: same geometry, other inertial parameters.

    RobotError, or `Refuted`, where they differ in more than the inertial parameters.
    """
    after = [value.number for value in base_values(other, base_parameters(robot))]
    exact, short = (program(one, "inverse_dynamics", otherwise=effort, seed=seed) for one in (robot, other))
    error = torque_error(robot, exact, short, where, after)
    found, _ = worst_states(error.errors, where, MOTION, np.random.default_rng(seed), MANY)
    bounds = error.bounds(found.tolist(), enough=[math.inf] * len(found))
    mechanism = MechanismSearch(robot, SearchOptions(where, exact, seed=seed))
    return mechanism.result(short, bounds, np.full(len(found), math.inf), parameters=tuple(after))


class MechanismSearch:
    """The inverse dynamics of a closed-loop mechanism with fewer base parameters."""

    def __init__(self, robot: Robot, how: SearchOptions) -> None:
        assert how.exact is not None
        assert how.where is not None
        self.robot, self.how, self.exact, self.where = robot, how, how.exact, how.where
        call, random = compile(self.exact), np.random.default_rng(how.seed)
        self.largest, _ = worst_states(lambda states: call(**states), self.where, MOTION, random, MANY)

    def result(
        self, short: Program, errors: tuple[CertifiedExtremum, ...], limits: Array, **more: Any
    ) -> Approximation:
        """An approximation with this program; without errors it is the exact one."""
        errors = errors or tuple(CertifiedExtremum(0.0, 0.0, {}) for _ in limits)
        peaks, bounds = tuple(map(float, self.largest)), tuple(map(float, limits))
        return Approximation(
            self.robot, "inverse_dynamics", short, self.exact, self.where, errors, peaks, bounds, **more
        )

    def within(self, limits: Array) -> Approximation:
        """The shortest found within the limits; where nothing can be left out, the exact one."""
        how, length = self.how, count(self.exact).total
        time = how.time or Effort(math.inf)
        how.tell("leaving parameters out", length)
        try:
            made = fewer_parameters(
                self.robot,
                limits.tolist(),
                self.where,
                exact=self.exact,
                effort=how.effort,
                seed=how.seed,
                until=time.until(1.0),
            )
        except OverBudget as problem:
            return self.result(self.exact, (), limits, why=str(problem))
        except RobotError as problem:
            if problem.rule != NOTHING_LEFT_OUT:
                raise
            return self.result(self.exact, (), limits, why=problem.rule)
        if made.operations >= length:
            return self.result(self.exact, (), limits, why="no shorter program was found within these errors")
        how.tell("certified", made.operations)
        return self.result(made.program, made.errors, limits, parameters=made.after)

    def of_length(self, at_most: int, ladder: Sequence[float]) -> Approximation:
        """The first within rising errors that has so few operations; the last one tried if none has."""
        none = np.full(len(self.largest), math.inf)
        found = self.result(self.exact, (), none)
        over = (self.how.time or Effort(math.inf)).until(1.0)
        for part in ladder if count(self.exact).total > at_most else ():
            found = self.within(part * self.largest)
            if found.operations.total <= at_most or over():
                break
        return replace(found, limits=tuple(none.tolist()), at_most=at_most)
