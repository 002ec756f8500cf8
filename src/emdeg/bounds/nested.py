"""The supremum of a family in many variables: one variable on a grid after the other, each as fine as it must be there.

With a variable at a node, what is left is a family in the others. If the supremum over these is at most g at every
node, that over the variable too is at most g over cos Dh on a circle whose nodes are 2h apart (M. Riesz), and anywhere
at most g plus what the second derivative can do within h: at a maximum the slope is zero, or the variable stands at an
end of its range, which is a node. The second derivative is bounded by the coefficients that are left at that very
place, or by D^2 times the supremum over whole circles (Bernstein). So each place has a goal of its own: where little
can happen coarse grids of the variables to come settle it, and only where they do not are these made finer, the
innermost first.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.families import Family, Reach, Supremum, certified_basis
from emdeg.bounds.tensors import Variable

STEPS = (1.05, 0.75, 0.55, 0.4, 0.28, 0.2, 0.14, 0.1, 0.07, 0.05, 0.035)
"""Half the distance of an angle's nodes times its degree [rad], finer and finer."""
SLACK = 0.5
"""Of the room between what was found and the goal (as logarithms), what is kept for the grids to come, equal parts
each: where less is left, a grid is made finer at once."""
VALUES = 1 << 17
"""Numbers looked at together: they stay in the processor's cache."""
SINGLE = 2.0**-23
"""Twice what a number is rounded by in single precision, which is enough here: sums have a margin for it."""
LAST = 2
"""The grid that bounds what none settles."""
WHOLE = 2.5
"""Times what was found: what the supremum over whole circles is shown to be, if it is."""


def nested_supremum(
    family: Family, reach: Reach, weights: Array, *, found: float, goal: float, points: int = 1 << 26
) -> Supremum:
    """A bound of the largest `reach` over the box, at most `goal` if `points` values suffice for that.

    `reach` is as in `supremum`, and no formula enters it with a factor above its weight. `found`: a value that it has.
    """
    order = _order(family, weights)
    family = Family(
        tuple(family.variables[k] for k in order),
        tuple(family.degrees[k] for k in order),
        np.transpose(family.coefficients, [*order, family.dimension]),
        family.rounding,
    )
    whole, total = math.inf, 0
    if any(variable.is_angle and not variable.is_circle for variable in family.variables):
        closed = replace(family, variables=tuple(map(_closed, family.variables)))
        search = _Nested(closed, reach, weights, points // 4, math.inf)
        whole, total = search.bound(max(WHOLE * found, goal), found), search.points
    if whole <= goal:
        return Supremum(whole, np.empty((0, family.dimension)), total)
    search = _Nested(family, reach, weights, points, whole)
    bound = min(search.bound(goal, found), whole)
    return Supremum(bound, np.empty((0, family.dimension)), total + search.points)


def _single(values: Array) -> Any:
    """The same numbers in single precision: half the memory, twice the speed."""
    return values.astype(np.float32)


def _closed(variable: Variable) -> Variable:
    return replace(variable, low=-math.pi, high=math.pi) if variable.is_angle else variable


def _order(family: Family, weights: Array) -> list[int]:
    """The variables, outermost first: whole circles, then those that move the family most."""
    sizes = np.abs(family.coefficients) @ weights
    ranked = []
    for k, (variable, degree) in enumerate(zip(family.variables, family.degrees)):
        along = sizes.sum(axis=tuple(j for j in range(family.dimension) if j != k))
        ranked.append((not variable.is_circle, -float(along @ second_sizes(variable, degree)), k))
    return [k for _, _, k in sorted(ranked)]


def second_sizes(variable: Variable, degree: int) -> Array:
    """The largest second derivative of each member of a variable's basis, in the search's coordinate."""
    if variable.is_angle:
        return np.array([0.0, *(float(m * m) for m in range(1, degree + 1) for _ in (0, 1))])
    return np.array([float(e * (e - 1)) for e in range(degree + 1)])


class _Grid:
    """A variable's nodes: the basis there, half their distance, and what a circle's largest value is to be times."""

    def __init__(self, variable: Variable, degree: int, step: float) -> None:
        width = 2 * variable.half
        half = step / max(degree, 1)
        if variable.is_circle:
            count = max(2 * degree + 1, math.ceil(width / (2 * half)))
            at = np.asarray(variable.middle + np.arange(count) * (width / count), dtype=np.float64)
            self.half = 0.5 * width / count * (1 + 1e-12)
            self.factor = 1 / (math.cos(degree * self.half) * (1 - 1e-9))
        else:
            count = max(2, math.ceil(width / (2 * half)) + 1)
            at = variable.middle + np.linspace(-variable.half, variable.half, count)
            self.half, self.factor = 0.5 * width / (count - 1) * (1 + 1e-12), math.inf
        if not degree:
            at, self.half, self.factor = np.array([variable.middle]), 0.0, 1.0
        self.count = len(at)
        self.table = _single(certified_basis(variable, degree, at))


class _Nested:
    """The family variable by variable; `points` counts the values looked at.

    Once these are more than `most` no grid is made finer. `whole`: the supremum over whole circles is at most that.
    """

    def __init__(self, family: Family, reach: Reach, weights: Array, most: int, whole: float) -> None:
        self.family, self.reach, self.most, self.whole = family, reach, most, whole
        self.coefficients, self.weights = _single(family.coefficients), _single(weights)
        sizes = float(np.abs(family.coefficients).reshape(-1, len(weights)).sum(axis=0) @ weights)
        self.margin = SINGLE * (sum(family.coefficients.shape) + 2 * len(weights) + 8) * sizes
        self.rest = self.margin + float(family.rounding @ weights)
        self.points, self.slack = 0, 1.0
        self._grids: dict[tuple[int, int], _Grid] = {}

    def bound(self, goal: float, found: float) -> float:
        """At least the supremum, at most `goal` if that can be shown; `found`: a value that it has."""
        room = goal / found if found > 0 else 2.0
        self.slack = room ** (SLACK / max(1, self.family.dimension))
        parts, goals, lower = self.coefficients[None], np.array([goal]), np.array([found])
        return float(self._above(parts, 0, goals, lower)[0][0])

    def _above(self, parts: Array, k: int, goals: Array, lower: Array) -> tuple[Array, Array]:
        """(at least the largest reach over the variables from the k-th on, a value at most that) by part.

        `lower`: values at most that which are known. Reaches below all goals count as the least of these.
        """
        if k == self.family.dimension:
            self.points += len(parts)
            floor = float(goals.min())
            values = self.reach(parts, floor - self.margin) + self.margin
            return np.maximum(values, floor), np.maximum(values, lower)
        sizes = self._sizes(parts)
        bends = sizes @ second_sizes(self.family.variables[k], self.family.degrees[k])
        upper = sizes.sum(axis=1, dtype=np.float64) * (1 + 1e-5) + self.rest  # every summand at its amplitude
        upper[upper > goals] = math.inf
        slack = self.slack ** (self.family.dimension - k)
        for level in range(len(STEPS)):
            settled = (upper <= goals) | (lower * slack > goals)
            if settled.all() or self.points > self.most:
                break
            self._improve(np.flatnonzero(~settled), self._grid(k, level), parts, bends, k, goals, upper, lower)
        open_ = np.flatnonzero(~np.isfinite(upper))
        if len(open_):  # no grid settles it: some bound it has
            self._improve(open_, self._grid(k, LAST), parts, bends, k, goals, upper, lower, to_the_end=True)
        return upper, lower

    def _improve(
        self,
        which: NDArray[np.intp],
        grid: _Grid,
        parts: Array,
        bends: Array,
        k: int,
        goals: Array,
        upper: Array,
        lower: Array,
        to_the_end: bool = False,
    ) -> None:
        """Makes the bounds of some parts better, in place, by the variable on a grid; not if a node shows that in vain.

        `to_the_end`: by every node in any case.
        """
        add = 0.5 * grid.half**2 * np.minimum(bends, self.family.degrees[k] ** 2 * self.whole) * (1 + 1e-4)
        inner = np.maximum(goals / grid.factor, goals - add)
        if not to_the_end:
            which = which[lower[which] <= inner[which]]
        size = grid.count * parts[0].size // grid.table.shape[1]
        together = max(1, VALUES // size)
        for first in range(0, len(which), together):
            some = which[first : first + together]
            given = parts[some]
            left = np.matmul(grid.table, given.reshape(len(some), given.shape[1], -1))
            left = left.reshape(len(some), grid.count, *given.shape[2:])
            if len(some) > 1 or size <= VALUES:
                rest = left.reshape(-1, *left.shape[2:])
                most, least = self._above(
                    rest, k + 1, np.repeat(inner[some], grid.count), np.full(len(rest), -math.inf)
                )
                most, least = (x.reshape(len(some), -1).max(axis=1) for x in (most, least))
            else:
                most, least = self._node_by_node(left[0], k + 1, inner[some], to_the_end)
            lower[some] = np.maximum(lower[some], least)
            upper[some] = np.minimum(upper[some], np.minimum(most * grid.factor, most + add[some]))

    def _node_by_node(self, left: Array, k: int, goal: Array, to_the_end: bool) -> tuple[Array, Array]:
        """(at least the largest reach of all nodes' parts, a value at most that), those with most in them first.

        Infinite as soon as one is above the goal.
        """
        sizes = (np.abs(left) @ self.weights).reshape(len(left), -1).sum(axis=1)
        most, least = np.array([-math.inf]), np.array([-math.inf])
        for node in np.argsort(-sizes):
            one, other = self._above(left[node][None], k, goal, np.array([-math.inf]))
            most, least = np.maximum(most, one), np.maximum(least, other)
            if not to_the_end and one[0] > goal[0]:
                return np.array([math.inf]), least
        return most, least

    def _sizes(self, parts: Array) -> Array:
        """(parts, basis): what each member of the first variable's basis can do, every formula with its weight."""
        return (np.abs(parts) @ self.weights).reshape(len(parts), parts.shape[1], -1).sum(axis=2)

    def _grid(self, k: int, level: int) -> _Grid:
        if (k, level) not in self._grids:
            self._grids[k, level] = _Grid(self.family.variables[k], self.family.degrees[k], STEPS[level])
        return self._grids[k, level]
