"""The supremum of a family in many variables: a grid over some, and at each of its nodes the others by themselves.

With the outer variables at a node, what is left is a family in two or three inner ones, whose coefficients are few and
known. Over them the largest value is at most that on a grid plus what a second derivative can do within half a step:
at a maximum the slope is zero, or the variable stands at an end of its range, which is a node. The second derivative is
bounded by the coefficients at that very node, so that a node where little can happen is done with a coarse grid, and
only where that does not settle it with finer ones. The outer grid counts as in `families`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from emdeg.algebra import Array
from emdeg.bounds.families import Family, Reach, SampleGrid, Supremum, certified_basis, grid
from emdeg.bounds.tensors import Variable

INNER = 3
"""Variables that are looked at by themselves, at most."""
OUTER_SHARE = 0.7
"""Of the room between what was found and the goal (as logarithms), what the outer grid may take."""
HALVINGS = 2
"""How often an inner grid is made finer where it does not settle a node."""
STEP = 0.9
"""The distance of an inner grid's nodes at first [rad], about."""
POINTS = 1 << 12
"""Points at a time: their values stay in the processor's cache."""
FINENESS = tuple(1.2 * 0.93**k for k in range(45))


def nested_supremum(
    family: Family, reach: Reach, weights: Array, *, found: float, goal: float, points: int = 1 << 24
) -> Supremum:
    """A bound of the largest `reach` over the box, at most `goal` if `points` values suffice for that.

    `reach` is as in `supremum`, and no formula enters it with a factor above its weight. `found`: a value that it has.
    """
    outer, inner = _split(family, weights)
    order = [*outer, *inner]
    family = Family(
        tuple(family.variables[k] for k in order),
        tuple(family.degrees[k] for k in order),
        np.transpose(family.coefficients, [*order, family.dimension]),
        family.rounding,
    )
    search = _Nested(family, len(outer), reach, weights)
    room = max(1.02, (goal / found if found > 0 else math.inf) ** OUTER_SHARE)
    best, whole, total = math.inf, math.inf, 0
    over = Family(family.variables[: len(outer)], family.degrees[: len(outer)], family.coefficients, family.rounding)
    for fineness in FINENESS:
        on = grid(over, fineness)
        if on.share and not math.isfinite(whole):
            closed = grid(over, 0.9, whole=True)
            whole = closed.factor * search.largest(closed, goal / closed.factor, points)
            total += search.points
        share = on.share * whole if on.share else 0.0
        if outer and on.factor * (1 + share / max(found, 1e-300)) > room and on.points < points:
            continue
        best = min(best, on.factor * (search.largest(on, goal / on.factor - share, points) + share))
        total += search.points
        room **= 0.7
        if best <= goal or total > points or not outer:
            break
    return Supremum(best, np.empty((0, family.dimension)), total)


def _split(family: Family, weights: Array) -> tuple[list[int], list[int]]:
    """(outer variables, inner ones): inner are those without a whole circle, then those that move the family least."""
    sizes = np.abs(family.coefficients) @ weights
    ranked = []
    for k, (variable, degree) in enumerate(zip(family.variables, family.degrees)):
        along = sizes.sum(axis=tuple(j for j in range(family.dimension) if j != k))
        ranked.append((variable.is_circle, float(along @ second_sizes(variable, degree)), k))
    inner = [k for _, _, k in sorted(ranked)[:INNER]]
    return [k for k in range(family.dimension) if k not in inner], sorted(inner)


def second_sizes(variable: Variable, degree: int) -> Array:
    """The largest second derivative of each member of a variable's basis, in the search's coordinate."""
    if variable.is_angle:
        return np.array([0.0, *(float(m * m) for m in range(1, degree + 1) for _ in (0, 1))])
    return np.array([float(e * (e - 1)) for e in range(degree + 1)])


class _Nested:
    """The family with its first variables on a grid; `points` counts the values looked at last."""

    def __init__(self, family: Family, outer: int, reach: Reach, weights: Array) -> None:
        self.family, self.outer, self.reach, self.weights = family, outer, reach, weights
        self.inner = list(zip(family.variables[outer:], family.degrees[outer:]))
        self.points = self.most = 0
        self._tables: dict[tuple[int, int], tuple[Array, float]] = {}

    def largest(self, on: SampleGrid, goal: float, points: int) -> float:
        """At least the largest reach over the inner variables, the outer ones at the grid's nodes.

        Once more than `points` values were looked at, no inner grid is made finer.
        """
        self.points, self.most = 0, points
        most = -math.inf
        for parts in self._at_nodes(on.nodes):
            most = max(most, self._over_inner(parts, goal))
        return most

    def _at_nodes(self, nodes: Sequence[Array]) -> Iterator[Array]:
        """(nodes, inner coefficients..., F) for the nodes of the outer grid, some at a time."""
        tables = [certified_basis(*at) for at in zip(self.family.variables, self.family.degrees, nodes)]

        def unfold(rest: Array, left: Sequence[Array]) -> Iterator[Array]:
            if len(left) <= 1:
                yield rest[None] if not left else np.tensordot(left[0], rest, axes=(1, 0))
                return
            for part in np.tensordot(left[0], rest, axes=(1, 0)):
                yield from unfold(part, left[1:])

        yield from unfold(self.family.coefficients, tables)

    def _over_inner(self, parts: Array, goal: float) -> float:
        """At least the largest reach of these families in the inner variables."""
        if not self.inner:
            return float(self.reach(parts.reshape(-1, parts.shape[-1]), -math.inf).max())
        bends = self._bends(parts)
        most = -math.inf
        for halving in range(HALVINGS + 1):
            tables = [self._table(k, halving) for k in range(len(self.inner))]
            loss = bends @ np.array([0.5 * half * half for _, half in tables]) * (1 + 1e-9)
            on_grid = self._on_grid(parts, [table for table, _ in tables], float(goal - loss.max()))
            above = on_grid + loss
            # A node that no finer grid can bring below the goal is not looked at again.
            open_ = (above > goal) & (on_grid <= goal) & (halving < HALVINGS) & (self.points < self.most)
            most = max(most, float(above[~open_].max(initial=-math.inf)))
            if not open_.any():
                break
            parts, bends = parts[open_], bends[open_]
        return most

    def _bends(self, parts: Array) -> Array:
        """(nodes, inner): bounds of the second derivatives, every formula with its weight."""
        sizes = np.abs(parts) @ self.weights
        found = []
        for k, (variable, degree) in enumerate(self.inner):
            along = sizes.sum(axis=tuple(j + 1 for j in range(len(self.inner)) if j != k))
            found.append(along @ second_sizes(variable, degree))
        return np.stack(found, axis=1)

    def _table(self, k: int, halving: int) -> tuple[Array, float]:
        """(the basis of an inner variable at its nodes, half their distance)."""
        if (k, halving) not in self._tables:
            variable, degree = self.inner[k]
            width = 2 * variable.half
            count = math.ceil(width / STEP * 2**halving) + 1
            if variable.is_circle:
                at, half = variable.middle + np.arange(count) * (width / count), 0.5 * width / count
            else:
                at, half = (
                    variable.middle + np.linspace(-variable.half, variable.half, count),
                    0.5 * width / (count - 1),
                )
            self._tables[k, halving] = certified_basis(variable, degree, at), half * (1 + 1e-12)
        return self._tables[k, halving]

    def _on_grid(self, parts: Array, tables: Sequence[Array], floor: float) -> Array:
        """(nodes,): the largest reach on the inner grid, or `floor` where it is at most that."""
        size = math.prod(map(len, tables))
        some = max(1, POINTS // size)
        found = np.empty(len(parts))
        for first in range(0, len(parts), some):
            values = parts[first : first + some]
            nodes, formulas = len(values), values.shape[-1]
            for table in tables:
                values = np.matmul(table, values.reshape(len(values), table.shape[1], -1))
                values = values.reshape(len(values) * len(table), -1)
            reached = self.reach(values.reshape(-1, formulas), floor).reshape(nodes, size)
            found[first : first + some] = np.maximum(reached.max(axis=1), floor)
        self.points += size * len(parts)
        return found
