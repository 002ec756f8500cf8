"""The supremum of a family in many variables: one variable after the other in cells, each as small as it must be there.

With a variable at a node, what is left is a family in the others. Where the supremum over a circle is M, at a place
within h of a node, that node has at least M cos Dh (M. Riesz), and anywhere at least M less what the second derivative
can do within h: at a maximum the slope is zero, or the variable stands at an end of its range, which is a node of its
own. So a supremum above a goal shows at the node of the very cell that it lies in. A cell whose node, over all other
variables, is below the goal by as much holds no such maximum; only the others are halved, and looked at again.

At a node nothing need be looked at where the mean of what is left and its waves, each at its amplitude, stay below the
goal. A wave in several variables is a product of cosines and sines; its amplitude is at most the root of the sum of
squares of its coefficients, which is far below the sum of their magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.families import Family, Supremum, certified_basis
from emdeg.bounds.tensors import Variable

FIRST, HALVINGS = 0.5, 5
"""Half the width of an angle's first cells times its degree [rad], and how often a cell is halved at most."""
SLACK = 0.3
"""Of the room between what was found and the goal (as logarithms), what is kept for the variables to come, equal parts
each: where less is left the goal is given up."""
VALUES = 1 << 17
"""Numbers looked at together: they stay in the processor's cache."""
SINGLE = 2.0**-23
"""Twice what a number is rounded by in single precision, which is enough here: every value has a margin for it."""
FEW = 1e-5
"""A share of a sum of some hundred magnitudes that its own rounding stays below."""


class ColumnReach(Protocol):
    """A supremum of magnitudes of linear combinations of formulas, told from columns that are linear in these."""

    @property
    def columns(self) -> Array:
        """(F, columns): formulas -> columns."""
        ...

    def above(self, values: Any, spread: Any) -> Any:
        """(points,): at least the supremum where each column is within its spread of its value (points, columns).

        It is so of any combinations whose columns are within that spread of 0 too, with 0 for values.
        """
        ...


def nested_supremum(
    family: Family,
    reach: ColumnReach,
    *,
    found: float,
    goals: Iterable[float],
    points: int = 1 << 23,
    tick: Callable[[], None] = lambda: None,
) -> Supremum:
    """A bound of the largest `reach` over the box: the first of rising goals that `points` values suffice to show.

    If none is, what is known without looking. `found`: a value that it has. `tick` is called now and then; what it
    raises ends the search.
    """
    nested = _Nested(family, reach, tick)
    shown = (goal for goal in goals if goal >= nested.at_once or nested.shows(goal, found, points))
    bound = min(next(shown, math.inf), nested.at_once)
    return Supremum(bound, np.empty((0, family.dimension)), nested.points)


def _single(values: Array) -> Any:
    """The same numbers in single precision: half the memory, twice the speed."""
    return values.astype(np.float32)


@dataclass(frozen=True)
class _Cells:
    """A variable's range in cells: their nodes' bases, and how far from its node a cell reaches."""

    variable: Variable
    degree: int
    _known: dict[int, tuple[Any, Array]] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """How many there are before any is halved."""
        return max(2, math.ceil(2 * self.variable.half * max(self.degree, 1) / (2 * FIRST)))

    def halved(self, times: int) -> tuple[Any, Array]:
        """(bases at nodes, halves of the cells' widths); before any is halved, a range's ends as well."""
        if times not in self._known:
            v, count = self.variable, self.first << times
            half = v.half / count
            at: Array = np.asarray(v.middle - v.half + half * (2 * np.arange(count) + 1), dtype=np.float64)
            halves = np.full(count, half * (1 + 1e-12))
            if not times and not v.is_circle:
                at = np.append(at, [v.middle - v.half, v.middle + v.half])
                halves = np.append(halves, [0.0, 0.0])
            self._known[times] = _single(certified_basis(v, self.degree, at)), halves
        return self._known[times]

    @property
    def size(self) -> int:
        return 2 * self.degree + 1 if self.variable.is_angle else self.degree + 1

    def waves(self, squares: Any) -> Any:
        """(..., degrees, ...): squared amplitudes from squared coefficients (..., basis, ...), axis 1."""
        if not self.variable.is_angle:
            return squares
        found = np.empty((len(squares), self.degree + 1, squares.shape[2]), squares.dtype)
        found[:, 0] = squares[:, 0]
        np.add(squares[:, 1::2], squares[:, 2::2], out=found[:, 1:])
        return found

    @property
    def bends(self) -> Array:
        """(degrees,): the largest second derivative of each wave or power, in the search's coordinate."""
        each = np.arange(self.degree + 1.0)
        return each * each if self.variable.is_angle else each * (each - 1)


class _Nested:
    """The family variable by variable, in units of what it can be at most; `points` counts what was looked at."""

    def __init__(self, family: Family, reach: ColumnReach, tick: Callable[[], None]) -> None:
        self.reach, self.tick, self.points, self.most, self.slack = reach, tick, 0, 0, 1.0
        columns = np.abs(reach.columns)
        each = family.coefficients @ reach.columns
        sums = np.abs(each).reshape(-1, columns.shape[1]).sum(axis=0)
        rounding = family.rounding @ columns * (1 + 1e-9)
        self.at_once = float(self._reached(np.zeros_like(sums), sums + rounding))
        unit = self.at_once or 1.0
        # Whatever is computed of a column in single precision errs by a few units of its sum of magnitudes.
        self.off = (SINGLE * (sum(each.shape[:-1]) + 8) * sums + rounding) / unit
        cells = [_Cells(variable, degree) for variable, degree in zip(family.variables, family.degrees)]
        order = _order(cells, each, self._reached)
        self.cells = [cells[k] for k in order]
        self.coefficients = _single(np.transpose(each, [*order, family.dimension]) / unit)

    def _reached(self, values: Array, spread: Array) -> float:
        return float(self.reach.above(values[None], spread[None])[0]) * (1 + FEW)

    def shows(self, goal: float, found: float, points: int) -> bool:
        """Whether the supremum is shown to be at most the goal, before so many points were looked at."""
        if found > goal or not self.at_once:
            return found <= goal
        self.most = self.points + points
        self.slack = (goal / found if found > 0 else 2.0) ** (SLACK / max(1, len(self.cells)))
        shown, _ = self._below(self.coefficients[None], 0, np.array([goal / self.at_once]))
        return bool(shown[0])

    def _below(self, parts: Any, k: int, goals: Array) -> tuple[NDArray[np.bool_], Array]:
        """(whether the supremum over the variables from the k-th on is shown to be at most its goal, a value that it
        is about at least) by part.
        """
        self.tick()
        self.points += len(parts)
        if k == len(self.cells):
            values = self._above(parts, 0.0)
            return values <= goals, values
        mean, spread, bend = self._waves(parts, k)
        shown = self._above(mean, spread) <= goals
        known, left = np.full(len(parts), -math.inf), np.flatnonzero(~shown)
        bends = np.zeros(len(parts))
        bend = bend[left] + np.float32(self.cells[k].degree ** 2) * _single(self.off)
        bends[left] = self._above(np.zeros_like(bend), bend)
        slack = self.slack ** (len(self.cells) - k)
        given_up = np.zeros(len(parts), bool)
        cells, times = self.cells[k], 0
        table, halves = cells.halved(0)
        group = len(halves)
        own, cell = np.repeat(left, group), np.tile(np.arange(group), len(left))
        while len(own):
            failed = []
            for piece in _pieces(len(own), group, parts[0].size // cells.size):
                piece = piece[~given_up[own[piece]]]
                if not len(piece):
                    continue
                mine, half = own[piece], halves[cell[piece]]
                inner = goals[mine] - 0.5 * half**2 * bends[mine] * (1 + FEW)
                if cells.variable.is_circle:
                    riesz = np.cos(np.minimum(cells.degree * half, 0.5 * math.pi)) * (1 - 1e-9)
                    inner = np.maximum(inner, goals[mine] * riesz)
                below, reached = self._below(_left(parts, mine, table[cell[piece]], group), k + 1, inner)
                np.maximum.at(known, mine, reached)
                given_up[mine] |= known[mine] * slack > goals[mine]
                failed.append(piece[~below])
            again = np.concatenate(failed) if failed else np.empty(0, int)
            last = times == HALVINGS or self.points > self.most
            given_up[own[again][last | (halves[cell[again]] == 0)]] = True
            again = again[~given_up[own[again]]]
            times, group = times + 1, 2
            own, cell = np.repeat(own[again], 2), np.repeat(2 * cell[again], 2) + np.tile([0, 1], len(again))
            if len(own):
                table, halves = cells.halved(times)
        shown[left] = ~given_up[left]
        return shown, known

    def _above(self, values: Any, spread: Any) -> Array:
        """(points,): at least the reach of columns about these values, what rounding does to them included."""
        found = self.reach.above(values, np.broadcast_to(spread + _single(self.off), values.shape))
        return found.astype(np.float64) * (1 + FEW)

    def _waves(self, parts: Any, k: int) -> tuple[Any, Any, Any]:
        """(mean, most that all waves together add to it, most that the k-th variable's second derivative is): by part
        and column.
        """
        count, columns = len(parts), parts.shape[-1]
        squares, lead = parts * parts, count
        for cells in self.cells[k:]:
            squares = cells.waves(squares.reshape(lead, cells.size, -1))
            lead *= squares.shape[1]
        sizes = np.sqrt(squares, out=squares).reshape(count, -1, columns)
        sizes[:, 0] = 0.0
        along = sizes.reshape(count, self.cells[k].degree + 1, -1, columns).sum(axis=2)
        up = np.float32(1 + SINGLE * (sizes.shape[1] + 16))
        bend = np.einsum("pdc,d->pc", along, _single(self.cells[k].bends))
        return parts.reshape(count, -1, columns)[:, 0], along.sum(axis=1) * up, bend * up


def _order(cells: list[_Cells], each: Array, reached: Callable[[Array, Array], float]) -> list[int]:
    """The variables, outermost first: those whose waves can do most."""
    squares, lead = each * each, 1
    for one in cells:
        squares = one.waves(squares.reshape(lead, one.size, -1))
        lead *= squares.shape[1]
    sizes = np.sqrt(squares).reshape(*(one.degree + 1 for one in cells), each.shape[-1])
    found = []
    for k in range(len(cells)):
        waves = np.delete(sizes, 0, axis=k).reshape(-1, each.shape[-1]).sum(axis=0)
        found.append((-reached(np.zeros_like(waves), waves), k))
    return [k for _, k in sorted(found)]


def _pieces(count: int, group: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Places of as many pairs of part and node as are looked at together: whole groups, or some of one group."""
    together = VALUES // (group * size) * group
    if together:
        for first in range(0, count, together):
            yield np.arange(first, min(first + together, count))
        return
    step = max(1, VALUES // size)
    for start in range(0, count, group):
        for first in range(start, start + group, step):
            yield np.arange(first, min(first + step, start + group))


def _left(parts: Any, own: NDArray[np.intp], table: Any, group: int) -> Any:
    """(pairs, ...): what is left of each pair's part with its first variable at the node with this basis.

    Pairs come in groups of one part, or are all of one.
    """
    group = min(group, len(own))
    given = parts[own[0]][None] if own[0] == own[-1] else parts[own[::group]]
    nodes = table.reshape(len(given), -1, table.shape[1])
    return np.matmul(nodes, given.reshape(len(given), table.shape[1], -1)).reshape(len(own), *parts.shape[2:])
