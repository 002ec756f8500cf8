"""What a user asks of a formula over a box: its extremes, its largest magnitude."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Generator, TrigPoly
from emdeg.bounds.search import SearchLimits, maximum
from emdeg.bounds.tensors import Range, Tensor, tensor, variable_key

GAP = 1e-3
Ranges = Mapping[Generator | int, Range]


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
    box: Ranges,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> Extremes:
    """The least and greatest value of `formula` over `box`, each certified to within `gap` of itself.

    `box`: {joint number, or the letter of a rate or an acceleration: (low, high)}, rad and SI. An extreme near zero
    is certified to within `gap` / 100 of the formula's largest magnitude instead. Where `effort` runs out the bounds
    still hold and `gap` of the result says how near they came. `ceiling` bounds |formula| from elsewhere.
    """
    sides = (extreme(formula, box, side, gap, parameters, effort, ceiling) for side in (-1, 1))
    return Extremes(*sides)


def extreme(
    formula: TrigPoly | Tensor,
    box: Ranges,
    side: int,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> Bounded:
    """One of the two `extremes`: the least (side -1) or the greatest (side 1); a tensor is taken with its own box."""
    f = formula if isinstance(formula, Tensor) else tensor(formula, box, parameters)
    f = f if side > 0 else _negated(f)
    most = maximum(f, 0.01 * gap * magnitude(f), 0.95 * gap, effort, ceiling)
    sign = float(side)
    return Bounded(0.0 + sign * most.lower, 0.0 + sign * most.upper, place_of(f, most.at), most.boxes)


def largest(
    formula: TrigPoly,
    box: Ranges,
    *,
    tolerance: float = 0.0,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: SearchLimits = SearchLimits(),
    ceiling: float = math.inf,
) -> Bounded:
    """The greatest value of `formula` over `box`, certified to within the larger of tolerance and `gap` |itself|.

    `ceiling` bounds it from elsewhere.
    """
    f = tensor(formula, box, parameters)
    most = maximum(f, tolerance, gap, effort, ceiling)
    return Bounded(most.lower, most.upper, place_of(f, most.at), most.boxes)


def largest_magnitude(
    formula: TrigPoly,
    box: Ranges,
    *,
    gap: float = GAP,
    parameters: Mapping[str, float] | None = None,
    effort: SearchLimits = SearchLimits(),
) -> Bounded:
    """The greatest absolute value of `formula` over `box`; what a certified error bound needs."""
    f = tensor(formula, box, parameters)
    most = maximum(f, 0.0, gap, effort)
    # The other side only has to be shown not to reach further, or to be found.
    tolerance = max(0.0, most.upper) * gap
    other = maximum(_negated(f), tolerance, gap, effort)
    far = most if most.lower >= other.lower else other
    return Bounded(
        max(0.0, far.lower), max(most.upper, other.upper, 0.0), place_of(f, far.at), most.boxes + other.boxes
    )


def _negated(f: Tensor) -> Tensor:
    return Tensor(f.variables, -f.coefficients, -f.waves, f.degrees, f.rounding)


def magnitude(f: Tensor) -> float:
    """A magnitude that the formula reaches, roughly: its largest absolute value at some points."""
    rng = np.random.default_rng(1)
    middle = np.array([v.middle for v in f.variables])
    half = np.array([v.half for v in f.variables])
    return float(np.abs(f.values(middle + half * rng.uniform(-1, 1, (256, f.dimension)))).max(initial=0.0))


def place_of(f: Tensor, x: np.ndarray) -> dict[Generator | int, float]:
    """A point of the search as {joint number, or letter: its value}."""
    values = f.outside(x[None, :])[0] if f.dimension else []
    return {variable_key(v.letter): float(value) for v, value in zip(f.variables, values)}
