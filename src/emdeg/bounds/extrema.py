"""Certified extrema of formulas over a box: extremes, largest magnitudes, largest ratios of two formulas.

Climbs from many points find a value that is attained. `NestedSupremum` then proves that nothing exceeds it by more than
a gap: first for a wide gap, then for narrower ones while time remains. A ratio |above / below| is at most t where
|above| - t below is nowhere positive, `below` being positive throughout (Dinkelbach).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from emdeg.algebra import Array, Generator, TrigPoly
from emdeg.bounds.ascent import Evaluate, ascend
from emdeg.bounds.formulas import FormulaVector, Ranges, formula_vector
from emdeg.bounds.limits import SearchLimits, clock
from emdeg.bounds.nested import DOUBLE, SINGLE, NestedSupremum, Precision
from emdeg.errors import LimitReached

GAP = 1e-3


@dataclass(frozen=True)
class _Settings:
    samples: tuple[int, ...] = (1024, 16384)
    """Random points from which climbs start; the second number where a value was missed."""
    starts: tuple[int, ...] = (24, 96)
    """Climbs from the best of them."""
    narrowing: tuple[float, float] = (3.0, 30.0)
    """Each gap that is tried is narrower by the first factor, once it is narrow enough by the second."""
    cheap: tuple[int, int] = (150_000, 80)
    """Nodes, and steps that look at some of them, up to which a proof is repeated for a gap narrower than asked for."""
    finest: float = 1e-9
    """The narrowest gap that is tried, as a share of the magnitude of the formula."""
    halvings: int = 24
    """How often a cell is halved at most."""
    noise: float = 16.0
    """Times the rounding in single precision: where a gap is narrower, doubles are used."""


_SETTINGS = _Settings()


@dataclass(frozen=True)
class CertifiedExtremum:
    """An extremum: the true one lies between `value`, which is attained at `at`, and `bound`."""

    value: float
    bound: float
    at: Mapping[Generator | int, float]
    """Joint number (or symbol) -> its value there; joints that do not matter are left out."""
    boxes: int = 0
    """How many boxes or nodes the proof took."""

    @property
    def gap(self) -> float:
        """The distance between bound and value, as a share of the larger magnitude; 0 for an exact zero."""
        if not math.isfinite(self.bound):
            return 1.0
        scale = max(abs(self.value), abs(self.bound))
        return abs(self.bound - self.value) / scale if scale else 0.0

    @property
    def ratio(self) -> float:
        """bound / value, of a magnitude; 1 for an exact zero."""
        return self.bound / self.value if self.value > 0 else 1.0 if self.bound <= 0 else math.inf

    def point(self, n: int, rest: float = 0.0) -> list[float]:
        """q (n) where it occurs, joints that do not matter at `rest`."""
        return [self.at.get(k, rest) for k in range(1, n + 1)]


@dataclass(frozen=True)
class Extremes:
    """The minimum and the maximum of a formula over a box."""

    low: CertifiedExtremum
    high: CertifiedExtremum

    @property
    def magnitude(self) -> CertifiedExtremum:
        """The extremum of the larger absolute value, its bounds as absolute values."""
        far = max(self.low, self.high, key=lambda b: abs(b.value))
        bound = max(abs(self.low.bound), abs(self.high.bound))
        return CertifiedExtremum(abs(far.value), bound, far.at, self.low.boxes + self.high.boxes)


def extremes(
    formula: TrigPoly,
    box: Ranges,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    limits: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> Extremes:
    """The minimum and maximum of `formula` over `box`, each certified to within `gap` of itself.

    `box`: {joint number, or the symbol of a rate or an acceleration: (low, high)}, rad and SI. An extremum near zero
    is certified to within `gap` / 100 of the formula's largest magnitude instead. Where `limits` are reached the bounds
    still hold and `gap` of the result says how near they came. `ceiling` is a known bound of |formula|.
    """
    f = formula_vector([formula], box, parameters)
    return Extremes(*(extreme(f, side, gap=gap, limits=limits, ceiling=ceiling) for side in (-1, 1)))


def extreme(
    f: FormulaVector,
    side: int,
    *,
    gap: float = GAP,
    limits: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> CertifiedExtremum:
    """One of the two `extremes` of a single formula: its minimum (side -1) or its maximum (side 1)."""
    magnitude = float(np.abs(f.values(_random_points(f, 256))).max(initial=0.0))
    most = _maximum(f, float(side), 0.01 * gap * magnitude, gap, limits, ceiling)
    return CertifiedExtremum(0.0 + side * most.value, 0.0 + side * most.bound, most.at, most.boxes)


def largest(
    formula: TrigPoly,
    box: Ranges,
    *,
    tolerance: float = 0.0,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    limits: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> CertifiedExtremum:
    """The maximum of `formula` over `box`, certified to within the larger of tolerance and `gap` |itself|.

    `ceiling` is a known bound of it.
    """
    return _maximum(formula_vector([formula], box, parameters), 1.0, tolerance, gap, limits, ceiling)


def largest_magnitude(
    formula: TrigPoly,
    box: Ranges,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    limits: SearchLimits = SearchLimits(),
) -> CertifiedExtremum:
    """The largest absolute value of `formula` over `box`; what a certified error bound needs."""
    found = _maximum(formula_vector([formula], box, parameters), 0.0, 0.0, gap, limits, math.inf)
    return CertifiedExtremum(max(0.0, found.value), max(0.0, found.bound), found.at, found.boxes)


def largest_ratio(
    above: TrigPoly,
    below: TrigPoly,
    box: Ranges,
    *,
    floor: float | None = None,
    ceiling: float = math.inf,
    known: float = 0.0,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    limits: SearchLimits = SearchLimits(),
) -> CertifiedExtremum:
    """The largest |above / below| over `box`; ValueError where `below` is not shown to be positive.

    `floor` is a positive lower bound of `below` and `ceiling` an upper bound of the ratio, if they are known. With
    `known` it is only asked whether the ratio exceeds that: the bound is then no less than `known`.
    """
    if not above:
        return CertifiedExtremum(0.0, 0.0, {})
    before = 0
    if floor is None:
        minimum = extreme(formula_vector([below], box, parameters), -1, gap=0.05, limits=limits)
        floor, before = minimum.bound, minimum.boxes
    if floor <= 0:
        raise ValueError("the ratio's denominator could not be shown to be positive over the whole box")
    pair = formula_vector([above, below], box, parameters)
    spending = _Spending(limits)
    first = min(ceiling * (1 + 1e-12), float(pair.amplitudes[0]) / floor * (1 + 1e-9))
    value, x, bound = -math.inf, pair.middle, first
    for attempt in range(len(_SETTINGS.samples)):
        better, there = _climbed_ratio(pair, attempt)
        if attempt and better <= value * (1 + gap):
            break
        value, x = max((value, x), (better, there), key=lambda pair: pair[0])
        start = max(value, known)
        # |above| - t below at x, where it is (value - t) below: what a proof for t has to stay above.
        weight = float(pair.values(x[None, :])[0, 1])

        def shows(t: float, patient: bool, start: float = start, weight: float = weight) -> bool:
            columns = np.array([[1.0, 0.0], [0.0, -t]])
            proof = _Proof(pair, Combination(columns, True), spending)
            return proof.shows(0.0, patient, (start - t) * weight)

        room = gap * start if start > 0 else 1e-6 * first
        bound, sure = _narrowed(shows, start, bound, (room, _SETTINGS.finest * start), spending)
        if sure or bound - start <= room:
            break
    return CertifiedExtremum(value, max(bound, value), pair.positions(x), before + spending.nodes)


def attained_ratio(
    above: TrigPoly, below: TrigPoly, box: Ranges, parameters: Mapping[str, float] | None = None
) -> CertifiedExtremum:
    """A large |above / below| that climbs reach, without a bound."""
    pair = formula_vector([above, below], box, parameters)
    value, x = _climbed_ratio(pair, 0)
    return CertifiedExtremum(value, math.inf, pair.positions(x))


class Combination:
    """The sum of columns, the first of them as a magnitude if that is asked for: what `NestedSupremum` bounds."""

    def __init__(self, columns: Array, magnitude: bool) -> None:
        self.columns, self.magnitude, self.fixed = columns, magnitude, columns.shape[1]

    def each(self, values: Any, spread: Any) -> Any:
        raise NotImplementedError("there is one combination, of all columns")

    def above(self, values: Any, spread: Any) -> Any:
        values = np.asarray(values, dtype=np.float64)
        first = np.abs(values[:, 0]) if self.magnitude else values[:, 0]
        return first + values[:, 1:].sum(axis=1) + np.asarray(spread, dtype=np.float64).sum(axis=1)


class _Spending:
    """What proofs have spent of the limits."""

    def __init__(self, limits: SearchLimits) -> None:
        self.limits, self.nodes, self.steps, self.end = limits, 0, 0, clock() + limits.seconds

    def __call__(self, points: int, values: int) -> None:
        """Count nodes; raise `LimitReached` beyond the limits."""
        self.nodes += points
        self.steps += 1
        if self.nodes > self.limits.boxes or clock() >= self.end:
            raise LimitReached


class _Proof:
    """Shows that combinations of formulas stay below goals, in single precision where rooms are wide enough."""

    def __init__(self, f: FormulaVector, reach: Combination, spending: _Spending) -> None:
        self.formulas, self.reach, self.spending = f, reach, spending

    @cached_property
    def single(self) -> NestedSupremum:
        return self._made(SINGLE)

    @cached_property
    def double(self) -> NestedSupremum:
        return self._made(DOUBLE)

    def _made(self, precision: Precision) -> NestedSupremum:
        signed = not self.reach.magnitude or self.reach.fixed > 1
        return NestedSupremum(
            self.formulas, self.reach, signed=signed, precision=precision, halvings=_SETTINGS.halvings
        )

    def shows(self, goal: float, patient: bool, found: float) -> bool:
        """Whether the supremum is shown to be at most the goal; if not patient, hopeless cells end the search early."""
        engine = self.single if goal - found >= _SETTINGS.noise * self.single.noise else self.double
        found = goal if patient else found
        return engine.bound((goal,), found=found, points=1 << 62, tick=self.spending) <= goal


def _maximum(
    f: FormulaVector, side: float, tolerance: float, gap: float, limits: SearchLimits, ceiling: float
) -> CertifiedExtremum:
    """The maximum of side f, or of |f| where the side is 0, to within the larger of tolerance and gap |itself|."""
    rounding = float(f.rounding[0])
    if not f.dimension:
        only = float(f.coefficients.sum()) * side if side else abs(float(f.coefficients.sum()))
        return CertifiedExtremum(only - rounding, only + rounding, {})
    spending = _Spending(limits)
    proof = _Proof(f, Combination(np.array([[side or 1.0]]), not side), spending)
    mean = float(f.coefficients.flat[0])
    flat = (side * mean if side else abs(mean)) + float(f.amplitudes[0]) * (1 + 1e-12) - abs(mean)
    value, x, bound = -math.inf, f.middle, min(flat + rounding, proof.double.at_once, ceiling + rounding)
    for attempt in range(len(_SETTINGS.samples)):
        better, there = _climbed(f, side, attempt)
        if attempt and better <= value + max(tolerance, gap * abs(value)):
            break
        value, x = max((value, x), (better, there), key=lambda pair: pair[0])
        allowed = max(tolerance, 0.95 * gap * abs(value), 4 * rounding)
        finest = max(_SETTINGS.finest * float(f.amplitudes[0]), 4 * rounding)
        shows = partial(proof.shows, found=value)
        bound, sure = _narrowed(shows, value, bound, (allowed, finest), spending)
        if sure or bound - value <= allowed:
            break
    return CertifiedExtremum(value - rounding, max(bound, value - rounding), f.positions(x), spending.nodes)


def _narrowed(
    shows: Callable[[float, bool], bool], value: float, bound: float, rooms: tuple[float, float], spending: _Spending
) -> tuple[float, bool]:
    """(the lowest bound shown, whether the time ended or no goal failed): from wide rooms above the value to narrow.

    `rooms`: how narrow is asked for, and how narrow it becomes where that costs little.
    """
    asked, finest = rooms
    room = bound - value
    try:
        while room > finest:
            coarse = room > asked * 1.0001
            narrower = room / _SETTINGS.narrowing[not coarse]
            if coarse and narrower < asked * 2:  # the last step is one to what is asked for
                narrower = asked
            before = spending.nodes, spending.steps
            if not (shows(value + narrower, False) or (coarse and shows(value + narrower, True))):
                return bound, not coarse
            room, bound = narrower, value + narrower
            spent = spending.nodes - before[0], spending.steps - before[1]
            if room <= asked * 1.0001 and any(x > most for x, most in zip(spent, _SETTINGS.cheap)):
                break
    except LimitReached:
        return bound, True
    return bound, True


def _random_points(f: FormulaVector, count: int, seed: int = 1) -> Array:
    return f.middle + f.half * np.random.default_rng(seed).uniform(-1, 1, (count, f.dimension))


def _climbed(f: FormulaVector, side: float, attempt: int) -> tuple[float, Array]:
    """(a large value of side f, or of |f|, where): the best of many climbs."""

    def evaluate(x: Array) -> tuple[Array, Array, Array]:
        value, slope, bend = (part[..., 0] for part in f.derivatives(x))
        sign = np.full(len(x), side) if side else np.sign(value)
        return sign * value, sign[:, None] * slope, sign[:, None, None] * bend

    def size(x: Array) -> Array:
        values = f.values(x)[:, 0]
        return side * values if side else np.abs(values)

    return _climb(f, size, evaluate, attempt)


def _climb(f: FormulaVector, size: Callable[[Array], Array], evaluate: Evaluate, attempt: int) -> tuple[float, Array]:
    points = np.concatenate([f.middle[None, :], _random_points(f, _SETTINGS.samples[attempt], attempt)])
    points = points[np.argsort(-size(points))[: _SETTINGS.starts[attempt]]]
    values, points = ascend(evaluate, points, f.middle - f.half, f.middle + f.half)
    top = int(np.argmax(values))
    return float(values[top]), points[top]


def _climbed_ratio(pair: FormulaVector, attempt: int) -> tuple[float, Array]:
    """(a large |above / below|, rounded down by more than doubles can err, where)."""

    def evaluate(x: Array) -> tuple[Array, Array, Array]:
        """|a / b|, its slopes, and the curvatures that Newton's step needs where the slopes are small."""
        (a, b), (da, db), (dda, ddb) = (np.moveaxis(part, -1, 0) for part in pair.derivatives(x))
        sign, t = np.sign(a), np.abs(a / b)
        slope = (sign[:, None] * da - t[:, None] * db) / b[:, None]
        return t, slope, (sign[:, None, None] * dda - t[:, None, None] * ddb) / b[:, None, None]

    def size(x: Array) -> Array:
        a, b = pair.values(x).T
        return np.abs(a / b)

    x = pair.middle
    if pair.dimension:
        _, x = _climb(pair, size, evaluate, attempt)
    a, b = pair.values(x[None, :])[0]
    return max(0.0, float((abs(a) - pair.rounding[0]) / (b + pair.rounding[1]))), x
