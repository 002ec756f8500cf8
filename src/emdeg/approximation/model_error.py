"""How wrong a short model of terms can be at each joint, certified; and the largest efforts it is compared with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from emdeg.algebra import TrigPoly
from emdeg.approximation.row_error import RowObjective, largest_error, row, search
from emdeg.approximation.short_model import FullModel, ShortModel
from emdeg.bounds import Bounded
from emdeg.robot import Workspace


def largest_efforts(
    full: FullModel, where: Workspace, starts: int = 12, until: Callable[[], bool] = lambda: False
) -> tuple[float, ...]:
    """The largest effort found at each joint over the workspace, by multistart maximisation."""
    return tuple(_largest(full.entries, j, where, starts, until) for j in range(1, full.robot.n + 1))


def certified(
    short: ShortModel,
    where: Workspace,
    *,
    seconds: float = 8.0,
    enough: Sequence[float] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> tuple[Bounded, ...]:
    """The certified largest error at each joint, beside the largest found; `enough`: bounds that need no betterment.

    `seconds` for each joint; what one leaves, others may use, those with the most variables last.
    """
    n = short.full.robot.n
    parts = {j: row(j, short.row_difference(j), where) for j in range(1, n + 1)}
    found = {j: Bounded(0.0, 0.0, {}) for j, part in parts.items() if part is None}
    todo = sorted((part.formulas.coefficients.size, j, part) for j, part in parts.items() if part is not None)
    end = clock() + seconds * len(todo)
    for place, (_, j, part) in enumerate(todo):
        share = (end - clock()) / (len(todo) - place)
        limit = -np.inf if enough is None else enough[j - 1]
        found[j] = largest_error(part, seconds=share, enough=limit, clock=clock)
    return tuple(found[j] for j in range(1, n + 1))


def _largest(
    entries: Mapping[str, TrigPoly], joint: int, where: Workspace, starts: int, until: Callable[[], bool]
) -> float:
    part = row(joint, entries, where)
    return 0.0 if part is None else search(RowObjective(part), count=starts, until=until)[0]
