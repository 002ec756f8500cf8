"""The states a sample is looked at in: number k of them is the same whoever computes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis import SampledMotion, point_to_point
from emdeg.runtime import UniformRows, stream_key
from emdeg.sweeps.plan import Case, Plan, StateBox
from emdeg.sweeps.study import States

if TYPE_CHECKING:
    from emdeg.runtime.cuda import StateRule

Arrays = Mapping[str, Array]
"""q, qd, qdd, tau -> (states, n)."""


class Source(Protocol):
    """Makes states first..first+count."""

    def __call__(self, first: int, count: int) -> Arrays: ...


def state_source(plan: Plan, case: Case, box: StateBox) -> Source:
    """What makes the states of a case in a workspace."""
    kinds = {"random": _Random, "grid": _Grid, "motions": _Motions}
    return kinds[plan.study.states.kind](plan, case, box)


def states_key(plan: Plan) -> int:
    """The stream that random numbers of states are from."""
    return stream_key(plan.study.seed, "motions" if plan.study.states.kind == "motions" else "states")


def states_on_device(plan: Plan, case: Case) -> StateRule:
    """The same states, as a GPU makes them."""
    from emdeg.runtime.cuda import GridStates, MotionStates, RandomStates  # needs llvmlite

    states, columns = plan.study.states, tuple((group, case.n) for group in case.groups)
    if states.kind == "random":
        return RandomStates(columns)
    if states.kind == "grid":
        return GridStates(columns, states.points)
    unit = _unit_motion(states)
    return MotionStates(columns, np.stack([unit.q[:, 0], unit.qd[:, 0], unit.qdd[:, 0]]))


def _unit_motion(states: States) -> SampledMotion:
    return point_to_point([0.0], [1.0], states.duration, states.points)


class _Random:
    def __init__(self, plan: Plan, case: Case, box: StateBox) -> None:
        self._rows = UniformRows(states_key(plan), box.low, box.high)
        self._case = case

    def __call__(self, first: int, count: int) -> Arrays:
        rows, n = self._rows.rows(first, count), self._case.n
        return {group: rows[:, k * n : (k + 1) * n] for k, group in enumerate(self._case.groups)}


class _Grid:
    """Every combination of `points` values a joint from end to end, the last joint fastest; at rest."""

    def __init__(self, plan: Plan, case: Case, box: StateBox) -> None:
        self._points, self._case = plan.study.states.points, case
        self._low, self._high = np.array(box.low), np.array(box.high)

    def __call__(self, first: int, count: int) -> Arrays:
        n, points = self._case.n, self._points
        numbers = np.arange(first, first + count) % points**n
        digits = np.stack(np.unravel_index(numbers, (points,) * n), axis=1)
        share = digits / (points - 1) if points > 1 else np.full(digits.shape, 0.5)
        rest = np.zeros((count, n))
        return dict.fromkeys(self._case.groups, rest) | {"q": self._low + (self._high - self._low) * share}


class _Motions:
    """Point-to-point motions between random configurations, `points` states along each."""

    def __init__(self, plan: Plan, case: Case, box: StateBox) -> None:
        states = plan.study.states
        self._rows = UniformRows(states_key(plan), box.low, box.high)
        self._points, self._n = states.points, case.n
        self._unit = _unit_motion(states)

    def __call__(self, first: int, count: int) -> Arrays:
        start = first // self._points
        stop = -(-(first + count) // self._points)
        ends = self._rows.rows(start, stop - start)
        numbers = np.arange(first, first + count)
        motion, point = numbers // self._points - start, numbers % self._points
        begin, way = ends[:, : self._n], ends[:, self._n :] - ends[:, : self._n]
        along = way[motion]
        unit = self._unit
        return {
            "q": begin[motion] + along * unit.q[point],
            "qd": along * unit.qd[point],
            "qdd": along * unit.qdd[point],
        }
