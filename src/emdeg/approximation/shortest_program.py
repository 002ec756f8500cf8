"""The shortest programs of one function within given errors, or of a given length.

Of robots without closed loops operations are left out (`shortening`). Of closed-loop mechanisms inertial parameters are
left out or moved (`fewer_parameters`): that the program is the exact one plus what this change adds is verified, and
what that can be is certified (`loop_error`). Another mechanism of the same geometry, a lumped one for instance, is
assessed in the same way (`lumped_approximation`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.approximation import APPROXIMATED, Approximation, SearchOptions
from emdeg.approximation.loop_error import torque_error
from emdeg.approximation.parameter_elimination import NOTHING_LEFT_OUT, fewer_parameters
from emdeg.approximation.shortening import ProgramSearch, work
from emdeg.approximation.shortening.adversary import MOTION, Climbs, worst_states
from emdeg.bounds import CertifiedExtremum
from emdeg.dynamics.parameters import base_parameters, base_values
from emdeg.errors import OverBudget, RobotError
from emdeg.programs import Effort, Program, count, program
from emdeg.robot import Robot, RobotLike, Workspace, as_robot, need_numbers, workspace
from emdeg.runtime import compile, one_thread

EXACT_EFFORT = 3.0
"""Nominal seconds for the exact program where none is cached: what `emdeg count` searches for, its start left out."""
LADDER = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Errors that are tried of a mechanism for a number of operations, parts of the largest torques."""
MANY = Climbs(points=100_000, starts=40)
"""Where a mechanism's largest torques and errors are searched for."""


@one_thread()
def shortest(
    robot: RobotLike,
    function: str = "inverse_dynamics",
    *,
    worst_error: Sequence[float] | float | None = None,
    absolute: bool = False,
    at_most: int | None = None,
    ladder: Sequence[float] = LADDER,
    **search: Any,
) -> Approximation:
    """The shortest program found with a certified error within `worst_error`, or with `at_most` so many operations.

    `worst_error`: one number or one an output, parts of the largest magnitude over the box, or `absolute` [N m, N].
    `at_most`: the least certified error found with so many operations; of a mechanism the errors of `ladder` are tried.
    `search`: fields of `SearchOptions`.

    >>> short = shortest("planar2r", worst_error=0.05, effort=0.2)
    >>> short.missed, max(short.certified_error) <= 0.05
    ((), True)
    """
    how, robot = SearchOptions(**search), as_robot(robot)
    need_numbers(robot)
    if function not in (APPROXIMATED if robot.is_tree else ("inverse_dynamics",)):
        raise ValueError(
            f"approximate programs are known of {', '.join(APPROXIMATED)} of robots without closed loops, "
            "and of inverse_dynamics of mechanisms with closed loops"
        )
    if (worst_error is None) == (at_most is None):
        raise ValueError("a short program needs a worst error or a number of operations, and not both")
    given = [worst_error] if isinstance(worst_error, int | float) else list(worst_error or ())
    n = robot.freedoms if robot.is_tree else len(robot.driven)
    if at_most is None and (len(given) not in (1, n) or any(not 0 < x < math.inf for x in given)):
        raise ValueError(f"the worst error needs one number, or {n}, each above 0")
    time = how.time or Effort(math.inf)
    spare = _for_exact(how.effort, time) if robot.is_tree else how.effort
    exact = how.exact or program(robot, function, otherwise=spare, seed=how.seed, weights=how.weights)
    how = replace(how, where=how.where or workspace(robot), exact=exact, time=time)

    def limits(largest: Array) -> Array:
        each = np.array(given * (n if len(given) == 1 else 1), dtype=float)
        if function == "mass_matrix":
            each = np.sqrt(np.outer(each, each)).reshape(-1)
        # A few roundings lower, so that the fraction that comes out of a division is not above what was asked for.
        return each if absolute else each * largest * (1 - 1e-15)

    if robot.is_tree:
        search_ = ProgramSearch(robot, function, how)
        found = search_.of_length(at_most) if at_most is not None else search_.within(limits(search_.largest))
    else:
        mechanism = _Mechanism(robot, how)
        found = (
            mechanism.of_length(at_most, ladder) if at_most is not None else mechanism.within(limits(mechanism.largest))
        )
    return replace(found, cut=time.cut)


@one_thread()
def shortest_within_each(
    robot: RobotLike,
    worst_errors: Sequence[float],
    function: str = "inverse_dynamics",
    *,
    tell: Callable[[str], None] = lambda text: None,
    **search: Any,
) -> tuple[Approximation, ...]:
    """Approximate programs within rising errors, parts of the largest magnitude: each begins where the last one ended.

    `search`: fields of `SearchOptions`; where the time is over before one is certified, the exact one is the result.
    """
    robot = as_robot(robot)
    need_numbers(robot)
    how = SearchOptions(**{"effort": 1.0, **search})
    time = how.time or Effort(math.inf)
    if robot.is_tree:
        exact = how.exact or program(robot, function, otherwise=_for_exact(EXACT_EFFORT, time), seed=how.seed)
        how = replace(how, where=how.where or workspace(robot), exact=exact)
    found: list[Approximation] = []
    for place, part in enumerate(sorted(worst_errors)):
        tell(f"within {100 * part:g} %")
        mine = time.part(1 / (len(worst_errors) - place))
        if robot.is_tree:
            each = ProgramSearch(robot, function, replace(how, time=mine))
            start = min((one.program() for one in found), key=lambda one: count(one).total, default=None)
            found.append(replace(each.within(part * each.largest, start), cut=mine.cut))
        else:
            given = {"effort": 3.0, **search, "time": mine}
            found.append(shortest(robot, function, worst_error=part, **given))
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
    mechanism = _Mechanism(robot, SearchOptions(where, exact, seed=seed))
    return mechanism.result(short, bounds, np.full(len(found), math.inf), parameters=tuple(after))


class _Mechanism:
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


def _for_exact(effort: float, time: Effort) -> Effort | float:
    """What a search for the exact program may take of the time; 0: the unoptimized program will do."""
    found = time.at_most(min(effort, 0.3 * time.rest), work.SEARCHING)
    return found if found.seconds > work.LEAST_SEARCH else 0.0
