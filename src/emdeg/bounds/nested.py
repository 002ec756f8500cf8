"""Upper bounds of formulas in many variables: branch and bound, one variable after the other.

Each variable's range is cut into cells. With a variable at the node of a cell, its middle, what is left is a vector of
formulas in the other variables. Let the supremum be M, at a place within h of the node. The value at the node is then
at least M less what the second derivative can do within h: at a maximum the slope is zero, or the variable is at an end
of its range, and the ends are nodes themselves. For a magnitude over a whole circle it is also at least M cos Dh, D
being the degree (M. Riesz). So a supremum above a goal shows at the node of the cell that contains it. A cell whose
node is below the goal by as much, over all other variables, holds no such maximum; the other cells are halved and
examined again.

A node is settled at once where the mean of what is left plus the amplitudes of its Fourier terms stays below the goal.
A Fourier term in several variables is a product of cosines and sines; its amplitude is at most the root of the sum of
squares of its coefficients, which is far below the sum of their magnitudes. A combination of formulas for which that
holds at some nodes is left out below them.

On a small part of the circle 1, cos x and sin x are nearly the same function, and large coefficients cancel. There the
basis is another one: cosines and sines about the middle of the range, cosines less their middle value, each divided by
its largest magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.bounds.formulas import FormulaVector, Variable, basis_size, certified_basis, transformed


@dataclass(frozen=True)
class Precision:
    """The arithmetic of a search: every value has a margin for its rounding."""

    dtype: type[np.floating]
    unit: float
    """Twice the relative error of one operation."""
    of_sum: float
    """A share of a sum of some hundred magnitudes that its own rounding stays below."""


SINGLE = Precision(np.float32, 2.0**-23, 1e-5)
"""Half the memory, twice the speed."""
DOUBLE = Precision(np.float64, 2.0**-52, 1e-13)


@dataclass(frozen=True)
class _Settings:
    first: float = 0.5
    """Half the width of an angle's first cells times its degree [rad]."""
    slack: float = 0.3
    """The part of the room between a found value and the goal that is reserved for the variables to come, equal parts
    each: where less is left the goal is given up."""
    values: int = 3 << 17
    """Numbers examined together: they stay in the processor's cache."""
    enough: float = 0.8
    """The part of the columns that may be left for the others to be taken out: it takes time."""
    near: float = 1.7
    """Half the width of an angle's range times a degree [rad] up to which that degree's cosine and sine are bounded by
    what they become on the range alone."""
    changed: float = 1e-13
    """What a change of basis adds to a value in doubles, as a part of the sum of magnitudes of coefficients."""
    smallest: float = 1e-9
    """The least that a function is divided by: what doubles make of its own values stays far below `changed`."""


_SETTINGS = _Settings()
HALVINGS = 5
"""How often a cell is halved at most, if nothing else is said."""


class ColumnReach(Protocol):
    """A supremum of linear combinations of formulas, or of their magnitudes, computed from columns linear in these."""

    @property
    def columns(self) -> Array:
        """(F, columns): formulas -> columns."""
        ...

    @property
    def fixed(self) -> int:
        """How many of the columns belong to all combinations; each of the others makes combinations of its own."""
        ...

    def each(self, values: Any, spread: Any) -> Any:
        """(points, columns that are not fixed): at least the supremum of what each makes; see `above`."""
        ...

    def above(self, values: Any, spread: Any) -> Any:
        """(points,): at least the supremum where each column is within its spread of its value (points, columns).

        It is so of any combinations whose columns are within that spread of 0 too, with 0 for values. Of the columns
        that are not fixed only some may be there.
        """
        ...


@dataclass(frozen=True)
class _Cells:
    """A variable's range in cells: their nodes' bases, and how far from its node a cell reaches."""

    variable: Variable
    degree: int
    precision: Precision
    _known: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def first(self) -> int:
        """How many there are before any is halved."""
        return max(2, math.ceil(2 * self.variable.half * max(self.degree, 1) / (2 * _SETTINGS.first)))

    @cached_property
    def nodes(self) -> int:
        """How many nodes there are before any cell is halved: a range's ends come last."""
        return self.first if self.variable.is_circle else self.first + 2

    def halves(self, times: int, cells: NDArray[np.intp]) -> Array:
        """Halves of the widths of some cells, halved so many times; 0 for a range's end."""
        half = self._half / (self.first << times) * (1 + 1e-12)
        if times > HALVINGS:  # what rounding moves a node by
            half += 1e-15 * (1 + abs(self.variable.middle) + self._half)
        found = np.full(len(cells), half)
        if not times:
            found[cells >= self.first] = 0.0
        return found

    @cached_property
    def _half(self) -> float:
        return self.variable.half

    def bases(self, times: int, cells: NDArray[np.intp]) -> Any:
        """(cells, basis): our functions' values at the nodes of some cells, halved so many times."""
        if times > HALVINGS:
            some, place = np.unique(cells, return_inverse=True)
            return self._at(times, some)[place]
        if times not in self._known:
            self._known[times] = self._at(times, np.arange(self.nodes if not times else self.first << times))
        return self._known[times][cells]

    def _at(self, times: int, cells: NDArray[np.intp]) -> Any:
        v = self.variable
        half = v.half / (self.first << times)
        at: Array = np.asarray(v.middle - v.half + half * (2 * cells + 1), dtype=np.float64)
        if not times:
            at[self.first :] = [v.middle - v.half, v.middle + v.half][: len(at) - self.first]
        return self._own(certified_basis(v, self.degree, at - self.shift)).astype(self.precision.dtype)

    @cached_property
    def size(self) -> int:
        return basis_size(self.variable, self.degree)

    @cached_property
    def shift(self) -> float:
        """What an angle is measured from."""
        return self.variable.middle if self.variable.is_angle and not self.variable.is_circle else 0.0

    @cached_property
    def _scales(self) -> tuple[Array, Array, Array]:
        """(basis,) each: what a function is less, what it is divided by, and its largest second derivative then."""
        less, size = np.zeros(self.size), np.ones(self.size)
        if not self.variable.is_angle:
            each = np.arange(float(self.size))
            return less, size, each * (each - 1.0)
        reach = np.arange(1, self.degree + 1) * self.variable.half
        near = 2 * np.arange(self.degree) + 1 < self.single
        less[1::2] = np.where(near, 0.5 * (1 + np.cos(reach)), 0.0)
        largest = 0.5 * (1 - np.cos(reach)), np.sin(np.minimum(reach, 0.5 * math.pi))
        for k, values in enumerate(largest, 1):
            size[k::2] = np.where(near, np.maximum(values, _SETTINGS.smallest) * (1 + 1e-9), 1.0)
        bends: Array = np.arange(1, self.size + 1, dtype=np.float64) // 2
        bends *= bends
        bends[1::2] /= size[1::2]
        return less, size, bends

    def _own(self, basis: Array) -> Array:
        """(points, basis): our functions' values from those of plain cosines and sines about the shift, or powers."""
        less, size, _ = self._scales
        return (basis - less) / size

    @cached_property
    def change(self) -> Array:
        """(basis, basis): coefficients of the formulas' functions -> those of ours."""
        less, size, _ = self._scales
        found = np.eye(self.size)
        for k in range(1, self.degree + 1 if self.shift else 1):
            c, s = math.cos(k * self.shift), math.sin(k * self.shift)
            found[2 * k - 1 : 2 * k + 1, 2 * k - 1 : 2 * k + 1] = [[c, s], [-s, c]]
        own = np.diag(size)
        own[0] += less
        return own @ found

    @cached_property
    def single(self) -> int:
        """How many functions, from the first on, are waves by themselves; else a cosine and its sine are one."""
        if not self.variable.is_angle or self.degree * self.variable.half <= _SETTINGS.near:
            return self.size
        return 1 + 2 * int(_SETTINGS.near / self.variable.half)

    @cached_property
    def waves(self) -> NDArray[np.intp]:
        """(basis,): the wave that each function belongs to."""
        each = np.arange(self.size)
        return np.where(each < self.single, each, (each + self.single) // 2)

    @cached_property
    def bends(self) -> Array:
        """(waves,): the largest second derivative of each, in the search's coordinate."""
        found = np.zeros(self.waves[-1] + 1)
        np.maximum.at(found, self.waves, self._scales[2])
        return found


@dataclass(frozen=True)
class _Level:
    """One variable and what is multiplied by its functions: products of those inside it, all that have a coefficient.

    Products come sorted by the waves they belong to, smaller waves first, the constant before all.
    """

    cells: _Cells
    inner: int
    """How many products of the variables inside this one there are."""
    place: NDArray[np.intp]
    """(products of this one too,): where each is among all functions of this variable times products inside."""
    waves: tuple[tuple[int, int, int], ...]
    """Of the products inside: (first, last + 1, how many a wave has) of waves of one size."""

    def spread_out(self, parts: Any) -> Any:
        """(parts, basis, products inside, columns) from (parts, products, columns) with coefficients."""
        count, products, columns = parts.shape
        whole = self.cells.size * self.inner
        found = (np.empty if products == whole else np.zeros)((count, whole, columns), parts.dtype)
        found[:, self.place] = parts
        return found.reshape(count, self.cells.size, self.inner, columns)

    def amplitudes(self, parts: Any) -> Any:
        """(parts, waves of this variable, columns): the sum of amplitudes of the waves that each is in, the constant
        left out.
        """
        squares, single = parts * parts, self.cells.single
        squares[:, 0, 0] = 0.0
        if single < self.cells.size:
            pairs = squares[:, single + 1 :: 2]
            pairs += squares[:, single::2]
            squares = np.concatenate([squares[:, :single], pairs], axis=1) if single > 1 else squares[:, ::2]
        found = 0.0
        for first, last, size in self.waves:
            mine = squares[:, :, first:last]
            while size % 2 == 0:
                mine, size = mine[:, :, 0::2] + mine[:, :, 1::2], size // 2
            if size > 1:
                mine = np.add.reduceat(mine, np.arange(0, mine.shape[2], size), axis=2)
            found = np.sqrt(mine).sum(axis=2) + found
        return found


def _waves_of(cells: list[_Cells], products: NDArray[np.intp]) -> NDArray[np.intp]:
    """(products, variables): the wave in each variable of products of functions."""
    found = np.zeros_like(products)
    for k, one in enumerate(cells):
        found[:, k] = one.waves[products[:, k]]
    return found


def _levels(cells: list[_Cells], products: NDArray[np.intp]) -> tuple[list[_Level], NDArray[np.intp]]:
    """(levels, outermost first; the order in which they take the products), from products of functions (products,
    variables) that have coefficients, the constant among them.
    """
    own = _waves_of(cells, products)
    # The waves of the products of the variables inside, and which of them each product has.
    inside, number = ((0, 1, 1),), np.zeros(len(products), int)
    found = []
    for k in range(len(cells) - 1, -1, -1):
        count = inside[-1][1]
        place, some, which = np.unique(products[:, k] * count + number, return_index=True, return_inverse=True)
        wave, sizes = np.unique(own[some, k:], axis=0, return_inverse=True, return_counts=True)[1:]
        wave = wave.reshape(-1)
        order = np.lexsort((place, wave, sizes[wave]))
        found.append(_Level(cells[k], count, place[order], inside))
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        number = number[which.reshape(-1)]
        ends = np.r_[0, np.flatnonzero(np.diff(sizes[wave][order])) + 1, len(order)].tolist()
        inside = tuple((low, high, int(sizes[wave][order][low])) for low, high in pairwise(ends))
    first = np.empty(len(products), int)
    first[number] = np.arange(len(products))
    return found[::-1], first


Tick = Callable[[int, int], None]
"""Receives how many points are examined next, and how many numbers these have; what it raises ends the search."""


class NestedSupremum:
    """Bounds of the largest `reach` over the box of formulas, variable by variable, in units of what it can be at most.

    `trimming`: what products left out may add to a bound. `signed`: the reach is that of sums as they are, not of their
    magnitudes. `halvings`: how often a cell is halved at most. `points` counts what was examined.
    """

    def __init__(
        self,
        formulas: FormulaVector,
        reach: ColumnReach,
        trimming: float = 0.0,
        *,
        signed: bool = False,
        precision: Precision = SINGLE,
        halvings: int = HALVINGS,
    ) -> None:
        self.reach, self.signed, self.precision, self.halvings = reach, signed, precision, halvings
        self.tick, self.points, self.most = _silent, 0, 0
        self.slack, self.room = 1.0, 0.0
        shape = formulas.coefficients.shape[:-1]
        cells = [_Cells(variable, degree, precision) for variable, degree in zip(formulas.variables, formulas.degrees)]
        coefficients = formulas.coefficients
        plain = np.abs(coefficients.reshape(-1, coefficients.shape[-1])).sum(axis=0)
        for k, one in enumerate(cells):
            if one.single > 1 or one.shift:
                coefficients = transformed(one.change, coefficients, k)
        there, each, rounding = self._columns(coefficients.reshape(math.prod(shape), -1), trimming)
        rounding += (formulas.rounding + _SETTINGS.changed * plain) @ np.abs(reach.columns) * (1 + 1e-9)
        sums = np.abs(each).sum(axis=0)
        self.at_once = float(self._reached(np.zeros_like(sums), sums + rounding))
        unit = self.at_once or 1.0
        # Whatever is computed of a column errs by a few units of its sum of magnitudes.
        self.off = (precision.unit * (sum(shape) + 8) * sums + rounding) / unit
        self.noise = self._reached(np.zeros_like(self.off), self.off) * unit
        products = np.stack(np.unravel_index(there, (1, *shape)), axis=1)[:, 1:]
        order = _order(cells, products, each, self._reached)
        self.levels, taken = _levels([cells[k] for k in order], products[:, order])
        self.coefficients = (each[taken] / unit).astype(precision.dtype)

    def bound(
        self, goals: Iterable[float], *, found: float = 0.0, points: int = 1 << 23, tick: Tick | None = None
    ) -> float:
        """The first of rising goals that so many points suffice to show; if none is, what is known without looking.

        `found`: a value that there is.
        """
        self.tick = tick or _silent
        shown = (goal for goal in goals if goal >= self.at_once or self._shows(goal, found, points))
        return min(next(shown, math.inf), self.at_once)

    def _columns(self, rows: Array, allowed: float) -> tuple[NDArray[np.intp], Array, Array]:
        """(places of products that are kept, their columns, what the others can do to each) from (products, F).

        The smallest go: first those whose formulas are so small that it does not matter how these combine.
        """
        columns = self.reach.columns
        weights = self.reach.above(np.zeros_like(columns), np.abs(columns))
        few, left = _smallest(np.abs(rows) @ weights, 0.5 * allowed)
        lost = np.abs(rows[few]).sum(axis=0) @ np.abs(columns)
        each = rows[left] @ columns
        gone, kept = _smallest(self.reach.above(np.zeros_like(each), np.abs(each)), 0.5 * allowed)
        return left[kept], each[kept], (lost + np.abs(each[gone]).sum(axis=0)) * (1 + 1e-9)

    def _reached(self, values: Array, spread: Array) -> float:
        return float(self.reach.above(values[None], spread[None])[0]) * (1 + self.precision.of_sum)

    def _shows(self, goal: float, found: float, points: int) -> bool:
        """Whether the supremum is shown to be at most the goal, before so many points were examined."""
        if found > goal or not self.at_once:
            return found <= goal
        self.most = self.points + points
        part = _SETTINGS.slack / max(1, len(self.levels))
        if self.signed:
            self.room = part * (goal - found) / self.at_once
        else:
            self.slack = (goal / found if found > 0 else 2.0) ** part
        columns = np.arange(self.coefficients.shape[-1])
        shown, _ = self._below(self.coefficients[None], 0, np.array([goal / self.at_once]), columns)
        return bool(shown[0])

    def _below(self, parts: Any, k: int, goals: Array, columns: NDArray[np.intp]) -> tuple[NDArray[np.bool_], Array]:
        """(whether the supremum over the variables from the k-th on is shown to be at most its goal, a value that it
        is about at least) by part (parts, products, columns); `columns`: those that the parts have.
        """
        self.points += len(parts)
        if k == len(self.levels):
            self.tick(len(parts), parts.size)
            values = self._above(parts[:, 0], 0.0, columns)
            return values <= goals, values
        level = self.levels[k]
        cells, times = level.cells, 0
        parts = level.spread_out(parts)
        self.tick(len(parts), parts.size)
        mean, spread, bend = self._waves(parts, level)
        shown = self._above(mean, spread, columns) <= goals
        known, left = np.full(len(parts), -math.inf), np.flatnonzero(~shown)
        bends = np.zeros(len(parts))
        bend = bend[left] + self._number(max(cells.degree**2, *cells.bends)) * self._number(self.off[columns])
        bends[left] = self._above(np.zeros_like(bend), bend, columns)
        if len(left) and len(columns) > self.reach.fixed:
            kept = self._kept(mean[left], spread[left], goals[left], columns)
            if len(kept) < _SETTINGS.enough * len(columns):
                parts, columns = parts[..., kept], columns[kept]
        slack, room = self.slack ** (len(self.levels) - k), self.room * (len(self.levels) - k)
        given_up = np.zeros(len(parts), bool)
        group = cells.nodes
        own, cell = np.repeat(left, group), np.tile(np.arange(group), len(left))
        while len(own):
            failed = []
            for piece in _pieces(len(own), group, parts[0].size // cells.size):
                piece = piece[~given_up[own[piece]]]
                if not len(piece):
                    continue
                mine, half = own[piece], cells.halves(times, cell[piece])
                inner = goals[mine] - 0.5 * half**2 * bends[mine] * (1 + self.precision.of_sum)
                if cells.variable.is_circle and not self.signed:
                    riesz = np.cos(np.minimum(cells.degree * half, 0.5 * math.pi)) * (1 - 1e-9)
                    inner = np.maximum(inner, goals[mine] * riesz)
                table = cells.bases(times, cell[piece])
                below, reached = self._below(_left(parts, mine, table, group), k + 1, inner, columns)
                np.maximum.at(known, mine, reached)
                given_up[mine] |= known[mine] * slack + room > goals[mine]
                failed.append(piece[~below])
            again = np.concatenate(failed) if failed else np.empty(0, int)
            last = times == self.halvings or self.points > self.most
            given_up[own[again][last | (cells.halves(times, cell[again]) == 0)]] = True
            again = again[~given_up[own[again]]]
            times, group = times + 1, 2
            own, cell = np.repeat(own[again], 2), np.repeat(2 * cell[again], 2) + np.tile([0, 1], len(again))
        shown[left] = ~given_up[left]
        return shown, known

    def _above(self, values: Any, spread: Any, columns: NDArray[np.intp]) -> Array:
        """(points,): at least the reach of columns about these values, what rounding does to them included."""
        spread = np.broadcast_to(spread + self._number(self.off[columns]), values.shape)
        found = self.reach.above(values, spread).astype(np.float64)
        few = self.precision.of_sum
        return np.maximum(found * (1 + few), found * (1 - few)) if self.signed else found * (1 + few)

    def _number(self, values: Any) -> Any:
        """The same numbers in the search's precision."""
        return self.precision.dtype(values)

    def _kept(self, mean: Any, spread: Any, goals: Array, columns: NDArray[np.intp]) -> NDArray[np.intp]:
        """The places of columns that can be above the goal of some part; one at least of those that are not fixed."""
        each = self.reach.each(mean, spread + self._number(self.off[columns])).astype(np.float64) * (
            1 + self.precision.of_sum
        )
        above = (each - goals[:, None]).max(axis=0)
        above[np.argmax(above)] = math.inf
        fixed = self.reach.fixed
        return np.concatenate([np.arange(fixed), fixed + np.flatnonzero(above > 0)])

    def _waves(self, parts: Any, level: _Level) -> tuple[Any, Any, Any]:
        """(mean, most that all waves together add to it, most that the variable's second derivative is): by part and
        column.
        """
        along = level.amplitudes(parts)
        up = self._number(1 + self.precision.unit * (level.cells.size * level.inner + 16))
        bend = np.einsum("pdc,d->pc", along, self._number(level.cells.bends))
        return parts[:, 0, 0], along.sum(axis=1) * up, bend * up


def _silent(points: int, values: int) -> None:
    pass


def _smallest(prices: Array, allowed: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(places of the smallest that are at most so much together, those of the others in order, the first with them)."""
    order = np.argsort(prices[1:], kind="stable") + 1
    gone = order[: np.searchsorted(np.cumsum(prices[order]), allowed, side="right")]
    return gone, np.setdiff1d(np.arange(len(prices)), gone)


def _order(
    cells: list[_Cells], products: NDArray[np.intp], each: Array, reached: Callable[[Array, Array], float]
) -> list[int]:
    """The variables, outermost first: those whose waves can do most."""
    waves, which = np.unique(_waves_of(cells, products), axis=0, return_inverse=True)
    squares = np.zeros((len(waves), each.shape[1]))
    np.add.at(squares, which.reshape(-1), each * each)
    sizes = np.sqrt(squares)
    found = []
    for k in range(len(cells)):
        mine = sizes[waves[:, k] > 0].sum(axis=0)
        found.append((-reached(np.zeros_like(mine), mine), k))
    return [k for _, k in sorted(found)]


def _pieces(count: int, group: int, size: int) -> Iterator[NDArray[np.intp]]:
    """Places of as many pairs of part and node as are examined together: whole groups, or some of one group."""
    together = _SETTINGS.values // (group * size) * group
    if together:
        for first in range(0, count, together):
            yield np.arange(first, min(first + together, count))
        return
    step = max(1, _SETTINGS.values // size)
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
