"""The shortest programs of one function within given errors, or of a given length.

Operations of the exact program are left out (`shortening`); other kinds of mechanisms have their own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation.approximation import APPROXIMATED, Approximation, SearchOptions
from emdeg.approximation.shortening import ProgramSearch, work
from emdeg.programs import Effort, count, program
from emdeg.robot import Robot, RobotLike, as_robot, by_kind, need_numbers, workspace
from emdeg.runtime import one_thread

EXACT_EFFORT = 3.0
"""Nominal seconds for the exact program where none is cached: what `emdeg count` searches for, its start left out."""
LADDER = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Errors that are tried of a mechanism for a number of operations, parts of the largest torques."""


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
    if function not in approximated(robot):
        raise ValueError(f"approximate programs of this robot are known of {', '.join(approximated(robot))}")
    if (worst_error is None) == (at_most is None):
        raise ValueError("a short program needs a worst error or a number of operations, and not both")
    given = [worst_error] if isinstance(worst_error, int | float) else list(worst_error or ())
    n = len(robot.driven)
    if at_most is None and (len(given) not in (1, n) or any(not 0 < x < math.inf for x in given)):
        raise ValueError(f"the worst error needs one number, or {n}, each above 0")
    time = how.time or Effort(math.inf)
    exact = how.exact or program(
        robot, function, otherwise=effort_for_exact(robot, how.effort, time), seed=how.seed, weights=how.weights
    )
    how = replace(how, where=how.where or workspace(robot), exact=exact, time=time)

    def limits(largest: Array) -> Array:
        each = np.array(given * (n if len(given) == 1 else 1), dtype=float)
        if function == "mass_matrix":
            each = np.sqrt(np.outer(each, each)).reshape(-1)
        # A few roundings lower, so that the fraction that comes out of a division is not above what was asked for.
        return each if absolute else each * largest * (1 - 1e-15)

    return replace(searched(robot, function, how, limits, at_most, ladder), cut=time.cut)


@by_kind
def approximated(robot: Robot) -> tuple[str, ...]:
    """The functions of the robot that have approximate programs."""
    return APPROXIMATED


@by_kind
def effort_for_exact(robot: Robot, effort: float, time: Effort) -> Effort | float:
    """What a search for the exact program may take of the time; 0: the unoptimized program will do."""
    return _for_exact(effort, time)


@by_kind
def searched(
    robot: Robot,
    function: str,
    how: SearchOptions,
    limits: Callable[[Array], Array],
    at_most: int | None,
    ladder: Sequence[float],
) -> Approximation:
    """The shortest program found within the limits, a function of the largest magnitudes, or of so many operations."""
    search = ProgramSearch(robot, function, how)
    return search.within(limits(search.largest)) if at_most is None else search.of_length(at_most)


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
    return searched_each(robot, sorted(worst_errors), function, tell, search)


@by_kind
def searched_each(
    robot: Robot, worst_errors: Sequence[float], function: str, tell: Callable[[str], None], search: Mapping[str, Any]
) -> tuple[Approximation, ...]:
    """The approximate programs within each of the rising errors."""
    how = SearchOptions(**{"effort": 1.0, **search})
    time = how.time or Effort(math.inf)
    exact = how.exact or program(robot, function, otherwise=_for_exact(EXACT_EFFORT, time), seed=how.seed)
    how = replace(how, where=how.where or workspace(robot), exact=exact)
    found: list[Approximation] = []
    for place, part in enumerate(worst_errors):
        tell(f"within {100 * part:g} %")
        mine = time.part(1 / (len(worst_errors) - place))
        each = ProgramSearch(robot, function, replace(how, time=mine))
        start = min((one.program() for one in found), key=lambda one: count(one).total, default=None)
        found.append(replace(each.within(part * each.largest, start), cut=mine.cut))
    return tuple(found)


def _for_exact(effort: float, time: Effort) -> Effort | float:
    """What a search for the exact program may take of the time; 0: the unoptimized program will do."""
    found = time.at_most(min(effort, 0.3 * time.rest), work.SEARCHING)
    return found if found.seconds > work.LEAST_SEARCH else 0.0
