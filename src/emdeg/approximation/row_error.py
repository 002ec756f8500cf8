"""The largest effort that a difference of two models can make at one joint: certified, and as found by search.

At a fixed configuration the difference e = dM qdd + db [qd qd] + dc [qd^2] + dg is largest, over accelerations, at
the corner that fits the signs of dM, and over speeds at most what its values at a few nodes of each speed tell, plus
what a negative square can do between them. What is left is a function of the configuration, bounded on grids
(`bounds.supremum`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from emdeg.algebra import Array, Generator, TrigPoly
from emdeg.approximation.shortening.rates import best_between
from emdeg.bounds import CertifiedExtremum, FormulaVector, formula_vector, supremum
from emdeg.equations import LumpedModel, indices
from emdeg.robot import Workspace


@dataclass(frozen=True)
class TorqueRow:
    """One joint's formulas over the workspace, sorted by what they multiply."""

    formulas: FormulaVector
    acceleration: Array
    """Weights of the columns that are entries of M: the largest |qdd_j|."""
    pairs: tuple[tuple[int, int], ...]
    """Joints (from 0) of the columns that are Coriolis coefficients."""
    squares: tuple[int, ...]
    gravity: int
    speed: Array

    @property
    def parts(self) -> tuple[slice, slice, slice, slice]:
        a = len(self.acceleration)
        b = a + len(self.pairs)
        c = b + len(self.squares)
        return slice(0, a), slice(a, b), slice(b, c), slice(c, c + self.gravity)

    @property
    def products(self) -> int:
        """How many products of the variables' functions have a coefficient that is not rounding's."""
        sizes = np.abs(self.formulas.coefficients) @ self.weights
        return int((sizes > 1e-9 * sizes.max(initial=0.0)).sum())

    @property
    def weights(self) -> Array:
        """By column: the largest that what it multiplies becomes."""
        v = self.speed
        return np.concatenate(
            [self.acceleration, [v[j] * v[k] for j, k in self.pairs], v[list(self.squares)] ** 2, [1.0] * self.gravity]
        )


def torque_row(keys: Sequence[tuple], formulas: FormulaVector, where: Workspace) -> TorqueRow:
    """The row of the coefficients ("M", j), ("b", j, k), ("c", j), ("g",), in this order, joints from 0."""
    return TorqueRow(
        formulas,
        np.array([where.acceleration[key[1]] for key in keys if key[0] == "M"]),
        tuple((key[1], key[2]) for key in keys if key[0] == "b"),
        tuple(key[1] for key in keys if key[0] == "c"),
        sum(key[0] == "g" for key in keys),
        np.array(where.speed),
    )


def row(joint: int, entries: Mapping[str, TrigPoly], where: Workspace) -> TorqueRow | None:
    """The joint's row of some entries (its own only, M by its upper triangle); None where all are zero."""
    found: list[tuple[tuple, TrigPoly]] = []
    for name, formula in entries.items():
        letter, of = indices(name)
        if formula and joint in (of if letter == "M" else of[:1]):
            others = of[1:] if of[0] == joint else of[:1]
            found.append(((letter, *(k - 1 for k in others)), formula))
    if not found:
        return None
    found.sort(key=lambda one: "Mbcg".index(one[0][0]))
    return torque_row([key for key, _ in found], formula_vector([f for _, f in found], where.box), where)


def speed_products(
    pairs: Sequence[tuple[int, int]], squares: Sequence[int], speed: Array, still: Collection[int] = ()
) -> Array:
    """patterns x (pairs, squares): products and squares of speeds at the corners of their box, some joints' at 0 too.

    Patterns that differ in the sign of all speeds are one.
    """
    if not pairs and not squares:
        return np.zeros((1, 0))
    moving = sorted({*squares, *(j for pair in pairs for j in pair)})
    place = {j: k for k, j in enumerate(moving)}
    at = np.array(list(product(*((1.0, 0.0, -1.0) if j in still else (1.0, -1.0) for j in moving))))
    columns = [*pairs, *((j, j) for j in squares)]
    found = [at[:, place[j]] * at[:, place[k]] * speed[j] * speed[k] for j, k in columns]
    return np.unique(np.stack(found, axis=1), axis=0)


class CornerReach:
    """The largest |e| of a row by columns: entries of M, quadratic forms at patterns of speeds, squares between them.

    Along a speed whose square has a positive coefficient the form is convex, and largest at a node. Where it is
    negative, -c say, the form is at most what is linear between two nodes plus c h^2, if these are 2h apart. As many
    joints' speeds are looked at between their corners as the row's size leaves time for, at most `halved` of them.
    """

    def __init__(self, row: TorqueRow, halved: int | None = None) -> None:
        M, b, c, g = row.parts
        if halved is None:
            moving = len({*row.squares, *(j for pair in row.pairs for j in pair)})
            most = int(np.clip(COLUMNS // max(1, row.products), *PATTERNS))
            counts = range(len(row.squares) + 1)
            halved = max((k for k in counts if 3**k << (moving - k) <= 2 * most), default=0)
        still = _most_bent(row, halved)
        products = speed_products(row.pairs, row.squares, row.speed, still)
        self.between = (np.array([0.5 if j in still else 1.0 for j in row.squares]) * row.speed[list(row.squares)]) ** 2
        own, bent, patterns = len(row.acceleration), len(row.squares), len(products)
        self.fixed = own + bent
        self.columns: Array = np.zeros((len(row.weights), self.fixed + patterns))
        self._own, self._bent, self._moving = slice(0, own), slice(own, self.fixed), slice(self.fixed, None)
        self.columns[M, self._own] = np.diag(row.acceleration)
        self.columns[c, self._bent] = np.diag(self.between)
        self.columns[b.start : c.stop, self._moving] = products.T
        self.columns[g, self._moving] = 1.0
        self.patterns: Array = np.ascontiguousarray(self.columns[b.start :, self._moving].T)

    def reached(self, values: Array) -> Array:
        """A value of |e| that occurs: at corners of accelerations and the best pattern of speeds (points, columns)."""
        return np.abs(values[:, self._own]).sum(axis=1) + np.abs(values[:, self._moving]).max(axis=1)

    def above(self, values: Array, spread: Array) -> Array:
        """At least the largest |e| over speeds and accelerations, each column within its spread (points, columns)."""
        still, up, down = self._still_and_bent(values, spread)
        form, form_spread = values[:, self._moving], spread[:, self._moving]
        most = (form_spread + form).max(axis=1) + up
        least = (form_spread - form).max(axis=1) + down
        return still + np.maximum(most, least)

    def each(self, values: Array, spread: Array) -> Array:
        """The same for every pattern of speeds by itself (points, patterns)."""
        still, up, down = (part[:, None] for part in self._still_and_bent(values, spread))
        form = values[:, self._moving]
        return still + spread[:, self._moving] + np.maximum(form + up, down - form)

    def _still_and_bent(self, values: Array, spread: Array) -> tuple[Array, Array, Array]:
        """(points,) each: what accelerations do, what squares between nodes can add to a form and to its negative."""
        still = (np.abs(values[:, self._own]) + spread[:, self._own]).sum(axis=1)
        square, square_spread = values[:, self._bent], spread[:, self._bent]
        up = np.maximum(square_spread - square, 0).sum(axis=1)
        return still, up, np.maximum(square_spread + square, 0).sum(axis=1)


PATTERNS, COLUMNS = (100, 400), 1_000_000
"""Quadratic forms of speeds at most that every place of a grid is asked for, where the row has many coefficients and
where it has few; and what coefficients times these may come to."""
HALVED = 4
"""Joints at most whose speeds are looked at between their corners too: each makes half as many patterns again."""


def _most_bent(row: TorqueRow, most: int = HALVED) -> list[int]:
    """The joints whose squares can do most between the corners of their speeds, the first of them first."""
    _, _, c, _ = row.parts
    mine = row.formulas.coefficients[..., c]
    sizes = np.sqrt((mine * mine).sum(axis=tuple(range(mine.ndim - 1))))
    order = np.argsort(-sizes * row.speed[list(row.squares)] ** 2, kind="stable")
    return [row.squares[k] for k in order[:most]]


class RowObjective:
    """The largest |e| of a row at configurations, from above and from below; see the module."""

    def __init__(self, row: TorqueRow) -> None:
        self.row, self.weights = row, row.weights
        self.coarse, self.fine = CornerReach(row, 0), CornerReach(row, HALVED)
        self.rounding = float(row.formulas.rounding @ row.weights)
        self.looked = 0
        """Points that were bounded from above."""

    @property
    def at_once(self) -> float:
        """A bound of |e| for which nothing is searched: every summand at its amplitude, all signs alike."""
        coefficients = self.row.formulas.coefficients
        amplitudes = np.abs(coefficients).reshape(-1, coefficients.shape[-1]).sum(axis=0)
        return float(amplitudes @ self.weights) * (1 + 1e-9) + self.rounding

    def above(self, v: Array, floor: float = -np.inf) -> Array:
        """At least the largest |e| over speeds and accelerations, from the formulas' values (points, F).

        -inf where the sum of all magnitudes shows that it is at most `floor`.
        """
        self.looked += len(v)
        found = np.full(len(v), -np.inf)
        likely = np.flatnonzero(np.abs(v) @ self.weights > (floor - self.rounding) * (1 - 1e-9))
        found[likely] = self._above(v[likely], self.coarse)
        open_ = likely[found[likely] > floor]
        found[open_] = np.minimum(found[open_], self._above(v[open_], self.fine))
        return found

    def _above(self, v: Array, reach: CornerReach) -> Array:
        """As `reach.above` without a spread, but with all points of a pattern side by side, which is faster."""
        M, b, c, _ = self.row.parts
        still = np.abs(v[:, M]) @ self.row.acceleration
        forms = reach.patterns @ v[:, b.start :].T
        most = forms.max(axis=0) + np.maximum(-v[:, c], 0) @ reach.between
        least = np.maximum(v[:, c], 0) @ reach.between - forms.min(axis=0)
        return (still + np.maximum(most, least)) * (1 + 1e-12) + self.rounding

    def reached(self, x: Array) -> Array:
        """A value of |e| that occurs at each configuration, at a corner of speeds and accelerations."""
        return self.coarse.reached(self.row.formulas.values(x) @ self.coarse.columns)

    def best_speeds(self, x: Array) -> Array:
        """(points,): |e| at corners, then one speed after the other; less what doubles may have added."""
        v = self.row.formulas.values(x)
        M, b, c, g = self.row.parts
        still, n = np.abs(v[:, M]) @ self.row.acceleration, len(self.row.speed)
        B, C = np.zeros((len(v), n, n)), np.zeros((len(v), n))
        for (j, k), coefficient in zip(self.row.pairs, v[:, b].T):
            B[:, j, k] = B[:, k, j] = coefficient
        C[:, list(self.row.squares)] = v[:, c]
        starts = np.vstack([np.ones(n), np.eye(n)])[:, None, :] * self.row.speed
        best = np.full(len(v), -np.inf)
        for sign in (1.0, -1.0):
            qd, _ = best_between(sign * B, sign * C, self.row.speed, np.repeat(starts, len(v), axis=1), turns=6)
            form = (
                np.einsum("spj,pjk,spk->sp", qd, B, qd) / 2 + np.einsum("pj,spj->sp", C, qd * qd) + v[:, g].sum(axis=1)
            )
            best = np.maximum(best, still + (sign * form).max(axis=0))
        return best * (1 - 1e-12) - self.rounding


def largest_torques(
    full: LumpedModel, where: Workspace, starts: int = 12, until: Callable[[], bool] = lambda: False
) -> tuple[float, ...]:
    """The largest torque found at each joint over the workspace, by multistart maximisation."""
    rows = [row(joint, full.entries, where) for joint in range(1, full.robot.n + 1)]
    return tuple(0.0 if one is None else search(RowObjective(one), count=starts, until=until)[0] for one in rows)


def certified_errors(
    full: LumpedModel,
    approximate: LumpedModel,
    where: Workspace,
    *,
    seconds: float = 8.0,
    clock: Callable[[], float] = time.process_time,
) -> tuple[CertifiedExtremum, ...]:
    """The certified largest error of an approximate model at each joint, beside the largest found.

    `seconds` for each joint; what one leaves, others may use, those with the most variables last.
    """
    n = full.robot.n
    difference = differences(full, approximate.entries)
    parts = {j: row(j, difference, where) for j in range(1, n + 1)}
    found = {j: CertifiedExtremum(0.0, 0.0, {}) for j, part in parts.items() if part is None}
    todo = sorted((part.formulas.coefficients.size, j, part) for j, part in parts.items() if part is not None)
    end = clock() + seconds * len(todo)
    for place, (_, j, part) in enumerate(todo):
        found[j] = largest_error(part, seconds=(end - clock()) / (len(todo) - place), clock=clock)
    return tuple(found[j] for j in range(1, n + 1))


def differences(full: LumpedModel, entries: Mapping[str, TrigPoly]) -> dict[str, TrigPoly]:
    """{entry: full less approximate}, exactly."""
    return {name: formula - entries[name] for name, formula in full.entries.items()}


def largest_error(
    row: TorqueRow,
    *,
    seconds: float = 8.0,
    tolerance: float = 0.05,
    seed: int = 0,
    starts: int = 24,
    enough: float | None = None,
    points: int | None = None,
    clock: Callable[[], float] = time.process_time,
) -> CertifiedExtremum:
    """The certified maximum of |e|, beside the largest found by multistart maximisation.

    A bound within `tolerance` of what was found, or at most `enough`, needs no betterment. However short the time: a
    bound that needs no search is the result where no better one was found in it. `points`: at most so many points of
    grids are looked at instead of a time, so that the result is the same on every machine.
    """
    objective = RowObjective(row)
    tick = clock if points is None else lambda: float(objective.looked)
    end = tick() + (seconds if points is None else points)
    until = (lambda: tick() >= end) if points is None else (lambda: False)
    found, at = search(objective, count=starts, seed=seed, until=until)
    goal = found * (1 + tolerance) if enough is None else enough
    bounded = supremum(
        row.formulas, objective.above, seconds=end - tick(), enough=lambda bound: bound <= goal, clock=tick
    )
    if len(bounded.starts):
        better, there = search(objective, bounded.starts[:starts], count=starts, seed=seed, until=until)
        if better > found:
            found, at = better, there
    where: dict[Generator | int, float] = {**row.formulas.positions(at)}
    bound = min(bounded.bound, objective.at_once)
    return CertifiedExtremum(max(found, 0.0), max(bound, found, 0.0), where, bounded.points)


def search(
    objective: RowObjective,
    starts: Array | None = None,
    *,
    count: int = 24,
    seed: int = 0,
    until: Callable[[], bool] = lambda: False,
) -> tuple[float, Array]:
    """(the largest |e| found, where): from `starts`, or the best of many random points, all climb at once."""
    variables = objective.row.formulas.variables
    middle, half = (np.array([getattr(v, name) for v in variables]) for name in ("middle", "half"))
    if not len(variables):
        return float(objective.best_speeds(np.zeros((1, 0)))[0]), np.zeros(0)
    random = np.random.default_rng(seed)
    points = starts if starts is not None else middle + half * random.uniform(-1, 1, (3000, len(variables)))
    points = middle + np.clip(points - middle, -half, half)
    reached = objective.reached(points)
    order = np.argsort(-reached)[:count]
    points, reached = points[order], reached[order]
    step, tries = (0.3 if starts is None else 0.05) * half, 12
    for _ in range(CLIMBS):
        if until():
            break
        moved = points[:, None, :] + step * random.normal(size=(len(points), tries, len(variables)))
        moved = middle + np.clip(moved - middle, -half, half)
        got = objective.reached(moved.reshape(-1, len(variables))).reshape(len(points), tries)
        best = got.argmax(axis=1)
        better = got[np.arange(len(points)), best] > reached
        points[better] = moved[better, best[better]]
        reached[better] = got[better, best[better]]
        step = step * (0.9 if better.mean() > 0.3 else 0.75)
    if until():
        points = points[[int(np.argmax(reached))]]
    values = objective.best_speeds(points)
    top = int(np.argmax(values))
    return float(values[top]), points[top]


CLIMBS = 40
