"""Short programs of mechanisms with closed loops: inertial parameters left out or moved, and that certified.

A program of the mechanism with fewer base parameters (`changed_robot`) is shorter; that it is the exact one plus what
the change adds is proved, and what that can be is certified over the box (`loop_error`). Another mechanism of the same
geometry, a lumped one for instance, is judged in the same way (`judged_beside`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.changed_robot import NOTHING_LEFT_OUT, fewer_parameters
from emdeg.approximation.loop_error import error_of_parameters
from emdeg.approximation.short_program import ShortProgram
from emdeg.approximation.shortening.steering import MOTION, worst_states
from emdeg.bounds import Bounded
from emdeg.dynamics.parameters import base_parameters, base_values
from emdeg.errors import OverBudget, RobotError
from emdeg.programs import Effort, Program, Progress, count, program
from emdeg.robot import Robot, Workspace
from emdeg.runtime import compile, one_thread

LADDER = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Errors that are tried for a number of operations, parts of the largest efforts."""
POINTS, STARTS = 100_000, 40
"""States that the largest efforts and errors are looked for from."""


@one_thread()
def shortest_of_loops(
    robot: Robot,
    *,
    worst_error: Sequence[float] | float | None = None,
    absolute: bool = False,
    at_most: int | None = None,
    where: Workspace,
    effort: float = 3.0,
    seed: int = 0,
    progress: Progress | None = None,
    time: Effort | None = None,
) -> ShortProgram:
    """The shortest inverse dynamics found with fewer parameters: within errors, or `at_most` so many operations.

    Arguments as of `shortest`; errors are of the motors' efforts. Where nothing can be left out, the exact one stands.
    """
    if (worst_error is None) == (at_most is None):
        raise ValueError("a short program needs a worst error or a number of operations, and not both")
    given = [worst_error] if isinstance(worst_error, int | float) else list(worst_error or ())
    motors = len(robot.driven)
    if at_most is None and (len(given) not in (1, motors) or any(not 0 < x < math.inf for x in given)):
        raise ValueError(f"the worst error needs one number, or {motors}, each above 0")
    time = time or Effort(math.inf)
    exact = program(robot, "inverse_dynamics", otherwise=effort, seed=seed)
    largest = _largest(exact, where, seed)
    if at_most is None:
        each = np.array(given * (motors if len(given) == 1 else 1), dtype=float)
        limits = each if absolute else each * largest * (1 - 1e-15)
        return replace(_within(robot, exact, largest, limits, where, effort, seed, progress, time), cut=time.cut)
    none = np.full(motors, math.inf)
    found = _exact(robot, exact, largest, none, where, "")
    for part in LADDER if count(exact).total > at_most else ():
        found = _within(robot, exact, largest, part * largest, where, effort, seed, progress, time)
        if count(found.program).total <= at_most or time.until(1.0)():
            break
    return replace(found, limits=tuple(none.tolist()), at_most=at_most, cut=time.cut)


def judged_beside(robot: Robot, other: Robot, where: Workspace, *, effort: float = 3.0, seed: int = 0) -> ShortProgram:
    """Another mechanism's inverse dynamics as a short program of this one: same geometry, other inertial parameters.

    RobotError, or `Refuted`, where it is more than the inertial parameters in which they differ.
    """
    after = [value.number for value in base_values(other, base_parameters(robot))]
    exact, short = (program(one, "inverse_dynamics", otherwise=effort, seed=seed) for one in (robot, other))
    error = error_of_parameters(robot, exact, short, after, where)
    found, _ = worst_states(error.errors, where, MOTION, np.random.default_rng(seed), POINTS, STARTS)
    bounds = error.bounds(found.tolist(), enough=[math.inf] * len(found))
    none, largest = (math.inf,) * len(found), tuple(map(float, _largest(exact, where, seed)))
    return ShortProgram(robot, "inverse_dynamics", short, exact, where, bounds, largest, none, parameters=tuple(after))


def _largest(exact: Program, where: Workspace, seed: int) -> Array:
    """The largest efforts found over the box, by motor."""
    call, random = compile(exact), np.random.default_rng(seed)
    return worst_states(lambda states: call(**states), where, MOTION, random, POINTS, STARTS)[0]


def _within(
    robot: Robot,
    exact: Program,
    largest: Array,
    limits: Array,
    where: Workspace,
    effort: float,
    seed: int,
    progress: Progress | None,
    time: Effort,
) -> ShortProgram:
    tell = progress or (lambda phase, best: None)
    tell("leaving parameters out", count(exact).total)
    try:
        made = fewer_parameters(
            robot, limits.tolist(), where, exact=exact, effort=effort, seed=seed, until=time.until(1.0)
        )
    except OverBudget as problem:
        return _exact(robot, exact, largest, limits, where, str(problem))
    except RobotError as problem:
        if problem.rule != NOTHING_LEFT_OUT:
            raise
        return _exact(robot, exact, largest, limits, where, problem.rule)
    if made.operations >= count(exact).total:
        return _exact(robot, exact, largest, limits, where, "no shorter program was found within these errors")
    tell("certified", made.operations)
    peaks, bounds = tuple(map(float, largest)), tuple(map(float, limits))
    return ShortProgram(
        robot, "inverse_dynamics", made.program, exact, where, made.errors, peaks, bounds, parameters=made.after
    )


def _exact(robot: Robot, exact: Program, largest: Array, limits: Array, where: Workspace, why: str) -> ShortProgram:
    nothing = tuple(Bounded(0.0, 0.0, {}) for _ in limits)
    peaks, bounds = tuple(map(float, largest)), tuple(map(float, limits))
    return ShortProgram(robot, "inverse_dynamics", exact, exact, where, nothing, peaks, bounds, why=why)
