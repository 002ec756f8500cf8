"""The supremum of formulas over one box from grids: how far the largest value on a grid is from the whole.

A trigonometric polynomial of degree D whose largest magnitude over the circle is M, at x*, satisfies |f(x)| >=
M cos D(x - x*) near x* (M. Riesz). So of nodes at most 2h apart one has |f| >= M cos Dh: M is at most the largest
magnitude on the grid over cos Dh. A polynomial of degree D on [-1, 1] is such a function of the arc cosine, with
Chebyshev's nodes (Ehlich and Zeller). On a part of a circle linear interpolation between nodes errs by at most
h^2/2 |f''|, and |f''| <= D^2 times the largest magnitude over the whole circle (Bernstein). One variable after the
other, this holds for any number of them; and for each combination of formulas, so for their supremum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.bounds.formulas import FormulaVector, certified_basis

CHUNK = 1 << 16
"""Nodes at a time."""
Reach = Callable[[Array, float], Array]
"""(points, F) values of the formulas, floor -> (points,): a supremum of magnitudes of linear combinations of them.

-inf may stand for any that is at most the floor: what cannot be the largest need not be worked out.
"""


def on_grid(f: FormulaVector, nodes: Sequence[Array]) -> Iterator[tuple[tuple[int, ...], Array]]:
    """(first indices, (points, F) values) for each part of a grid; the last indices run fastest."""
    tables = [certified_basis(v, d, x) for v, d, x in zip(f.variables, f.degrees, nodes)]
    outer = 0
    while math.prod(len(x) for x in nodes[outer:]) > CHUNK:
        outer += 1
    yield from _unfolded(f.coefficients, tables, outer, ())


def _unfolded(
    rest: Array, tables: Sequence[Array], outer: int, at: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], Array]]:
    if outer:
        first = np.tensordot(tables[0], rest, axes=(1, 0))
        for i, inner in enumerate(first):
            yield from _unfolded(inner, tables[1:], outer - 1, (*at, i))
        return
    formulas = rest.shape[-1]
    values = rest.reshape(1, -1)
    for table in tables:
        values = np.matmul(table, values.reshape(len(values), table.shape[1], -1))
        values = values.reshape(len(values) * len(table), -1)
    yield at, values.reshape(-1, formulas)


@dataclass(frozen=True)
class SampleGrid:
    """Nodes by variable, and what to make of the largest value on them: factor * (value + share * whole)."""

    nodes: tuple[Array, ...]
    factor: float
    share: float
    """Of the supremum over whole circles; 0 where no variable is a part of one."""

    @property
    def points(self) -> int:
        return math.prod(map(len, self.nodes))


def grid(f: FormulaVector, fineness: float, *, whole: bool = False) -> SampleGrid:
    """A grid whose step times degree is about `fineness` [rad] in each variable; `whole`: every circle closed."""
    nodes, factor, share = [], 1.0, 0.0
    for v, d in zip(f.variables, f.degrees):
        if not d:
            nodes.append(np.array([v.middle]))
        elif not v.is_angle:
            count = max(d + 1, math.ceil(math.pi * d / fineness))
            nodes.append(np.cos((np.arange(count) + 0.5) * math.pi / count))
            factor /= math.cos(math.pi * d / (2 * count)) * (1 - 1e-9)
        elif whole or v.is_circle:
            count = max(2 * d + 1, math.ceil(2 * math.pi * d / fineness))
            nodes.append(np.arange(count) * (2 * math.pi / count))
            factor /= math.cos(math.pi * d / count) * (1 - 1e-9)
        else:
            count = max(2, math.ceil((v.high - v.low) * d / fineness) + 1)
            nodes.append(v.middle + np.linspace(-v.half, v.half, count))
            share += 0.5 * (d * v.half / (count - 1)) ** 2 * (1 + 1e-9)
    return SampleGrid(tuple(nodes), factor, share)


@dataclass(frozen=True)
class Supremum:
    """`bound` is never exceeded; `starts` are grid points where most was reached, in the search's coordinates."""

    bound: float
    starts: Array
    points: int


FINENESS = (1.3, 1.0, 0.8, 0.65, 0.52, 0.42, 0.33, 0.26, 0.2, 0.14, 0.1, 0.07, 0.05)
STARTS = 32
VALUE = 1e-7
"""Seconds that a formula's value at a node of a first grid takes, about."""


def supremum(
    f: FormulaVector,
    reach: Reach,
    *,
    seconds: float,
    enough: Callable[[float], bool] = lambda bound: False,
    clock: Callable[[], float],
) -> Supremum:
    """The largest `reach` over the box, bounded on finer and finer grids while the time lasts; infinite without any.

    `reach` must not fall below the magnitude of any combination that it stands for. `enough` says when a bound needs
    no betterment.
    """
    if not any(f.degrees):
        value = float(reach(f.coefficients.reshape(1, -1), -math.inf)[0])
        return Supremum(value, np.array([[v.middle for v in f.variables]]), 1)
    if grid(f, FINENESS[0]).points * f.coefficients.shape[-1] * VALUE > seconds:
        return Supremum(math.inf, np.empty((0, f.dimension)), 0)
    part_of_circle = any(v.is_angle and not v.is_circle and d for v, d in zip(f.variables, f.degrees))
    best, whole, total, rate = math.inf, math.inf, 0, 0.0
    starts, begin, last = np.empty((0, f.dimension)), clock(), False
    for before, fineness in zip((math.inf, *FINENESS), FINENESS):
        now = grid(f, fineness)
        left = seconds - (clock() - begin)
        if total and now.points * rate > left:  # the finest one between that can still be done
            last = True
            between = (grid(f, before + (fineness - before) * part) for part in (0.8, 0.6, 0.4))
            fitting = next((one for one in between if one.points * rate <= left), None)
            if fitting is None:
                break
            now = fitting
        if part_of_circle and not last:
            closed = grid(f, fineness, whole=True)
            if not total or (now.points + closed.points) * rate < 0.7 * left:
                whole = min(whole, closed.factor * _largest(f, reach, closed)[0])
                total += closed.points
        value, starts = _largest(f, reach, now)
        total += now.points
        share = now.share * whole if part_of_circle else 0.0
        best = min(best, now.factor * (value + share))
        rate = (clock() - begin) / total
        if last or enough(best):
            break
    return Supremum(best, starts, total)


def _largest(f: FormulaVector, reach: Reach, on: SampleGrid) -> tuple[float, Array]:
    """(the largest reach on a grid, the best points of some of its parts)."""
    sizes = [len(x) for x in on.nodes]
    tops: list[tuple[float, tuple[int, ...]]] = []
    for at, values in on_grid(f, on.nodes):
        reached = reach(values, tops[0][0] if tops else -math.inf)
        some = min(STARTS, len(reached))
        for index in np.argpartition(-reached, some - 1)[:some]:
            if reached[index] == -math.inf:
                continue
            inner = np.unravel_index(int(index), sizes[len(at) :]) if len(at) < len(sizes) else ()
            tops.append((float(reached[index]), (*at, *(int(i) for i in inner))))
        tops.sort(key=lambda top: -top[0])
        del tops[STARTS:]
    points = [[x[i] for x, i in zip(on.nodes, index)] for _, index in tops]
    return tops[0][0], np.array(points)
