"""What a user asks of a formula over a box: its extremes, its largest magnitude, its largest ratio to another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.algebra import TrigPoly
from emdeg.algebra.generator import Generator
from emdeg.equations.bounds.search import Effort, climb, maximum
from emdeg.equations.bounds.tensor import Range, Tensor, tensor, variable_key

GAP = 1e-3
Box = Mapping[Generator | int, Range]


@dataclass(frozen=True)
class Bounded:
    """An extreme: the true one lies between `value`, which is attained at `at`, and `bound`."""

    value: float
    bound: float
    at: Mapping[Generator | int, float]
    """Joint number (or letter) -> its value there; joints that do not matter are left out."""
    boxes: int = 0
    """How many boxes the proof took."""

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
    """The least and the greatest value of a formula over a box."""

    low: Bounded
    high: Bounded

    @property
    def magnitude(self) -> Bounded:
        """The extreme of the larger absolute value, its bounds as absolute values."""
        far = max(self.low, self.high, key=lambda b: abs(b.value))
        bound = max(abs(self.low.bound), abs(self.high.bound))
        return Bounded(abs(far.value), bound, far.at, self.low.boxes + self.high.boxes)


def extremes(
    formula: TrigPoly,
    box: Box,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: Effort = Effort(),
    ceiling: float = math.inf,
) -> Extremes:
    """The least and greatest value of `formula` over `box`, each certified to within `gap` of itself.

    `box`: {joint number, or the letter of a rate or an acceleration: (low, high)}, rad and SI. An extreme near zero
    is certified to within `gap` / 100 of the formula's largest magnitude instead. Where `effort` runs out the bounds
    still hold and `gap` of the result says how near they came. `ceiling` bounds |formula| from elsewhere.
    """
    f = tensor(formula, box, parameters)
    near_zero = 0.01 * gap * _scale(f)
    least = maximum(_negated(f), near_zero, 0.95 * gap, effort, ceiling)
    most = maximum(f, near_zero, 0.95 * gap, effort, ceiling)
    return Extremes(
        Bounded(0.0 - least.lower, 0.0 - least.upper, _at(f, least.at), least.boxes),
        Bounded(most.lower, most.upper, _at(f, most.at), most.boxes),
    )


def largest(
    formula: TrigPoly,
    box: Box,
    *,
    tolerance: float = 0.0,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: Effort = Effort(),
) -> Bounded:
    """The greatest value of `formula` over `box`, certified to within the larger of tolerance and `gap` |itself|."""
    f = tensor(formula, box, parameters)
    most = maximum(f, tolerance, gap, effort)
    return Bounded(most.lower, most.upper, _at(f, most.at), most.boxes)


def largest_magnitude(
    formula: TrigPoly,
    box: Box,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: Effort = Effort(),
) -> Bounded:
    """The greatest absolute value of `formula` over `box`; what a certified error bound needs."""
    f = tensor(formula, box, parameters)
    most = maximum(f, 0.0, gap, effort)
    # The other side only has to be shown not to reach further, or to be found.
    tolerance = max(0.0, most.upper) * gap
    other = maximum(_negated(f), tolerance, gap, effort)
    far = most if most.lower >= other.lower else other
    return Bounded(
        max(0.0, far.lower), max(most.upper, other.upper, 0.0), _at(f, far.at), most.boxes + other.boxes
    )


def largest_ratio(
    above: TrigPoly,
    below: TrigPoly,
    box: Box,
    *,
    floor: float | None = None,
    ceiling: float = math.inf,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: Effort = Effort(),
) -> Bounded:
    """The greatest |above / below| over `box`, for a `below` that is positive throughout.

    above/below <= t wherever above - t below <= 0 (Dinkelbach): climbs raise t to a ratio that is attained, then a
    search for the maximum of above - t below proves that none is larger by more than the gap, or finds a larger one.
    `floor` is a positive lower bound of `below` and `ceiling` an upper bound of the ratio, if they are known.
    """
    if not above:
        return Bounded(0.0, 0.0, {})
    boxes = 0
    if floor is None:
        least = extremes(below, box, gap=0.05, parameters=parameters, effort=effort).low
        floor, boxes = least.bound, least.boxes
    if floor <= 0:
        raise ValueError("the ratio's denominator could not be shown to be positive over the whole box")
    best, at = -math.inf, {}
    for f in (above, -above):
        value, point = _climbed(f, below, box, parameters)
        if value > best:
            best, at = value, point
    bounds = []
    for f in (above, -above):
        t, bound, spent, where = _proven(f, below, floor, max(best, 0.0), ceiling, box, gap, parameters, effort)
        boxes += spent
        bounds.append(bound)
        if t > best:
            best, at = t, where
    return Bounded(max(best, 0.0), min(max(bounds), ceiling * (1 + 1e-12)), at, boxes)


def _climbed(
    above: TrigPoly, below: TrigPoly, box: Box, parameters: Mapping[str, float] | None
) -> tuple[float, dict[Generator | int, float]]:
    """(a ratio that is attained, where), by Dinkelbach's steps with climbs in place of a search."""
    t, at = -math.inf, {}
    for _ in range(12):
        f = tensor(above if t == -math.inf else above - below * Fraction(t), box, parameters)
        _, x = climb(f, 6 if t == -math.inf else 2)
        point = _at(f, x)
        value = _value(above, point, box, parameters) / _value(below, point, box, parameters)
        if value <= t * (1 + 1e-13) + 1e-300:
            break
        t, at = value, point
    return t, at


def _proven(
    above: TrigPoly,
    below: TrigPoly,
    floor: float,
    t: float,
    ceiling: float,
    box: Box,
    gap: float,
    parameters: Mapping[str, float] | None,
    effort: Effort,
) -> tuple[float, float, int, dict[Generator | int, float]]:
    """(the ratio attained, its certified bound, boxes, where), starting from an attained ratio t."""
    at: dict[Generator | int, float] = {}
    boxes = 0
    bound = math.inf
    for _ in range(8):
        if t * (1 + gap) >= ceiling:
            return t, ceiling, boxes, at
        f = tensor(above - below * Fraction(t), box, parameters)
        goal = 0.95 * gap * t * floor if t > 0 else 1e-6 * _scale(f)
        most = maximum(f, goal, 0.0, effort)
        boxes += most.boxes
        bound = min(bound, t + max(0.0, most.upper) / floor)
        if most.lower <= goal:
            return t, bound, boxes, at
        at = _at(f, most.at)
        t = max(t, _value(above, at, box, parameters) / _value(below, at, box, parameters))
    return t, bound, boxes, at


def _value(
    formula: TrigPoly,
    at: Mapping[Generator | int, float],
    box: Box,
    parameters: Mapping[str, float] | None,
) -> float:
    keys = {variable_key(g) for g in formula.generators} & set(box)
    f = tensor(formula, {key: (v, v) for key in keys for v in [at.get(key, 0.5 * sum(box[key]))]}, parameters)
    x = np.array([[v.low if v.is_angle else 0.0 for v in f.variables]])
    return float(f.values(x)[0])


def _negated(f: Tensor) -> Tensor:
    return Tensor(f.variables, -f.coefficients, -f.waves, f.degrees, f.rounding)


def _scale(f: Tensor) -> float:
    """A magnitude that the formula reaches, roughly: its largest absolute value at some points."""
    rng = np.random.default_rng(1)
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    return float(np.abs(f.values(middle + half * rng.uniform(-1, 1, (256, f.dimension)))).max(initial=0.0))


def _at(f: Tensor, x: np.ndarray) -> dict[Generator | int, float]:
    values = f.outside(x[None, :])[0] if f.dimension else []
    return {variable_key(v.letter): float(value) for v, value in zip(f.variables, values)}
