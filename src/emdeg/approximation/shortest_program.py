"""The shortest programs within given errors, or of a given length: of one robot's function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from emdeg.approximation.short_program import SHORT_FUNCTIONS, ShortProgram
from emdeg.approximation.shortening import LEAST_SEARCH, Shortening, work
from emdeg.programs import OPERATIONS, Effort, Program, Progress, Weights, count, program
from emdeg.robot import RobotLike, Workspace, as_robot, need_numbers, workspace
from emdeg.runtime import one_thread

EXACT_EFFORT = 3.0
"""Nominal seconds for the exact program where none is on file: what `emdeg count` searches for, its start left out."""


@one_thread()
def shortest(
    robot: RobotLike,
    function: str = "inverse_dynamics",
    *,
    worst_error: Sequence[float] | float | None = None,
    absolute: bool = False,
    at_most: int | None = None,
    where: Workspace | None = None,
    exact: Program | None = None,
    effort: float = 5.0,
    seed: int = 0,
    weights: Weights = OPERATIONS,
    progress: Progress | None = None,
    time: Effort | None = None,
) -> ShortProgram:
    """The shortest program found with a certified error within `worst_error`, or with `at_most` so many operations.

    `worst_error`: one number or one an output, parts of the largest magnitude over the box, or `absolute` [N m, N].
    `at_most`: the least certified error found with so many operations. `effort`: nominal seconds for the exact program,
    where none is on file or given, and as much for the short one; the same effort and seed give the same program if
    `time`, a budget on the processor's clock, suffices: when it ends the shortest that was certified stands.

    >>> short = shortest("planar2r", worst_error=0.05, effort=0.2)
    >>> short.missed, max(short.relative) <= 0.05
    ((), True)
    """
    robot = as_robot(robot)
    need_numbers(robot)
    if function not in SHORT_FUNCTIONS or not robot.is_tree:
        raise ValueError(f"short programs are known of {', '.join(SHORT_FUNCTIONS)} of robots without closed loops")
    if (worst_error is None) == (at_most is None):
        raise ValueError("a short program needs a worst error or a number of operations, and not both")
    given = [worst_error] if isinstance(worst_error, int | float) else list(worst_error or ())
    n = robot.freedoms
    if at_most is None and (len(given) not in (1, n) or any(not 0 < x < math.inf for x in given)):
        raise ValueError(f"the worst error needs one number, or {n}, each above 0")
    where = where or workspace(robot)
    time = time or Effort(math.inf)
    exact = exact or program(robot, function, otherwise=_for_exact(effort, time), seed=seed, weights=weights)
    tell = progress or (lambda phase, best: None)
    search = Shortening(robot, function, exact, where, effort, seed, weights, tell, time)
    if at_most is not None:
        return replace(search.of_length(at_most), cut=time.cut)
    each = np.array(given * (n if len(given) == 1 else 1), dtype=float)
    if function == "mass_matrix":
        each = np.sqrt(np.outer(each, each)).reshape(-1)
    # A few roundings lower, so that the share that comes out of a division is not above what was asked for.
    found = search.within(each if absolute else each * search.largest * (1 - 1e-15))
    return replace(found, cut=time.cut)


@one_thread()
def shortest_within_each(
    robot: RobotLike,
    worst_errors: Sequence[float],
    function: str = "inverse_dynamics",
    *,
    where: Workspace | None = None,
    effort: float = 1.0,
    seed: int = 0,
    time: Effort | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> tuple[ShortProgram, ...]:
    """Short programs within rising errors, parts of the largest magnitude: each begins where the one before ended.

    `effort`, `seed`, `time` as in `shortest`; where the time is over before one is certified, the exact one stands.
    """
    robot = as_robot(robot)
    need_numbers(robot)
    time = time or Effort(math.inf)
    where = where or workspace(robot)
    exact = program(robot, function, otherwise=_for_exact(EXACT_EFFORT, time), seed=seed)
    found: list[ShortProgram] = []
    for place, part in enumerate(sorted(worst_errors)):
        tell(f"within {100 * part:g} %")
        mine = time.part(1 / (len(worst_errors) - place))
        search = Shortening(robot, function, exact, where, effort, seed, OPERATIONS, lambda phase, best: None, mine)
        start = min((one.program for one in found), key=lambda one: count(one).total, default=None)
        found.append(replace(search.within(part * search.largest, start), cut=mine.cut))
    return tuple(found)


def _for_exact(effort: float, time: Effort) -> Effort | float:
    """What a search for the exact program may take of the time; 0: the plain program will do."""
    found = time.at_most(min(effort, 0.3 * time.rest), work.SEARCHING)
    return found if found.seconds > LEAST_SEARCH else 0.0
