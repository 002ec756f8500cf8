"""The largest ratio of two formulas over a box, certified (Dinkelbach).

|above / below| <= t wherever +-above - t below <= 0, for a `below` that is positive throughout. A climb finds a ratio t
that is attained; a search for the maximum of +-above - t below then proves that none is larger by more than the gap, or
finds a larger one. Both formulas become tensors over the same bases once, so that above - t below is one subtraction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array, TrigPoly
from emdeg.bounds.ascent import ascend
from emdeg.bounds.ranges import GAP, Bounded, Ranges, extreme, magnitude, place_of
from emdeg.bounds.search import STARTS, SearchLimits, maximum
from emdeg.bounds.tensors import Tensor, Variable, tensor

SAMPLES = 1024


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
    effort: SearchLimits = SearchLimits(),
) -> Bounded:
    """The greatest |above / below| over `box`; ValueError where `below` is not shown to be positive.

    `floor` is a positive lower bound of `below` and `ceiling` an upper bound of the ratio, if they are known. With
    `known` it is only asked whether the ratio exceeds that: the bound is then no less than `known`.
    """
    if not above:
        return Bounded(0.0, 0.0, {})
    boxes = 0
    if floor is None:
        least = extreme(below, box, -1, 0.05, parameters, effort)
        floor, boxes = least.bound, least.boxes
    if floor <= 0:
        raise ValueError("the ratio's denominator could not be shown to be positive over the whole box")
    pair = _pair(tensor(above, box, parameters), tensor(below, box, parameters))
    best, x = pair.climb()
    bounds = []
    for side in (1, -1):
        least = max(best, known)
        found = _proven(pair, side, floor, least, x, ceiling, gap, effort)
        boxes += found.boxes
        bounds.append(found.bound)
        if found.value > least:
            best, x = found.value, found.x
    return Bounded(best, min(max(bounds), ceiling * (1 + 1e-12)), place_of(pair.above, x), boxes)


def attained_ratio(
    above: TrigPoly, below: TrigPoly, box: Ranges, parameters: Mapping[str, float] | None = None
) -> Bounded:
    """A large |above / below| that climbs reach, without a bound."""
    pair = _pair(tensor(above, box, parameters), tensor(below, box, parameters))
    value, x = pair.climb()
    return Bounded(value, math.inf, place_of(pair.above, x))


@dataclass(frozen=True)
class _Pair:
    """Two formulas over the same variables and bases."""

    above: Tensor
    below: Tensor

    def less(self, t: float, side: int) -> Tensor:
        """side above - t below."""
        a, b = self.above, self.below
        rounding = a.rounding + abs(t) * b.rounding * (1 + 1e-9)
        return Tensor(
            a.variables,
            side * a.coefficients - t * b.coefficients,
            side * a.waves - t * b.waves,
            a.degrees,
            rounding * (1 + 1e-9),
        )

    def value(self, x: Array) -> float:
        """|above / below| at x, rounded down by more than doubles can err."""
        a, b = (float(f.values(x[None, :])[0]) for f in (self.above, self.below))
        return max(0.0, (abs(a) - self.above.rounding) / (b + self.below.rounding))

    def climb(self) -> tuple[float, Array]:
        """(a large ratio, where): the best of some climbs from random points."""
        variables = self.above.variables
        middle, half = (np.array([getattr(v, what) for v in variables]) for what in ("middle", "half"))
        if not variables:
            return self.value(middle), middle
        points = middle + half * np.random.default_rng(0).uniform(-1, 1, (SAMPLES, len(variables)))
        points = np.concatenate([middle[None, :], points])
        ratios = self.above.values(points) / self.below.values(points)
        points = points[np.argsort(-np.abs(ratios))[:STARTS]]

        def steep(x: Array) -> tuple[Array, Array, Array]:
            """|a / b|, its slopes, and the curvatures that Newton's step needs where the slopes are small."""
            a, da, dda = self.above.derivatives(x, 2)
            b, db, ddb = self.below.derivatives(x, 2)
            sign, t = np.sign(a), np.abs(a / b)
            slope = (sign[:, None] * da - t[:, None] * db) / b[:, None]
            return t, slope, (sign[:, None, None] * dda - t[:, None, None] * ddb) / b[:, None, None]

        values, reached = ascend(steep, points, middle - half, middle + half)
        x = reached[int(np.argmax(values))]
        return self.value(x), x


@dataclass(frozen=True)
class _Proof:
    value: float
    bound: float
    boxes: int
    x: Array


def _proven(
    pair: _Pair, side: int, floor: float, t: float, x: Array, ceiling: float, gap: float, effort: SearchLimits
) -> _Proof:
    """The largest ratio of one sign, starting from a ratio t that is attained at x."""
    boxes, bound = 0, math.inf
    for _ in range(8):
        if t * (1 + gap) >= ceiling:
            return _Proof(t, ceiling, boxes, x)
        f = pair.less(t, side)
        goal = 0.95 * gap * t * floor if t > 0 else 1e-6 * magnitude(f)
        most = maximum(f, goal, 0.0, effort, start=x)
        boxes += most.boxes
        bound = min(bound, t + max(0.0, most.upper) / floor)
        if most.lower <= goal or (value := pair.value(most.at)) <= t:
            break
        t, x = value, most.at
    return _Proof(t, bound, boxes, x)


def _pair(above: Tensor, below: Tensor) -> _Pair:
    variables = tuple(dict.fromkeys([*above.variables, *below.variables]))
    degrees = tuple(max(_degree(f, v) for f in (above, below)) for v in variables)
    return _Pair(_embedded(above, variables, degrees), _embedded(below, variables, degrees))


def _degree(f: Tensor, variable: Variable) -> int:
    return f.degrees[f.variables.index(variable)] if variable in f.variables else 0


def _embedded(f: Tensor, variables: Sequence[Variable], degrees: tuple[int, ...]) -> Tensor:
    """`f` over more variables and larger bases, zero where it has nothing."""
    if not variables:
        return f
    order = [f.variables.index(v) for v in variables if v in f.variables]
    missing = tuple(k for k, v in enumerate(variables) if v not in f.variables)
    coefficients = np.expand_dims(np.transpose(f.coefficients, order), missing)
    waves = np.expand_dims(np.transpose(f.waves, order), missing)
    ends, sides = [], []
    for v, degree in zip(variables, degrees):
        more = degree - _degree(f, v)
        ends.append((0, 2 * more if v.is_angle else more))
        sides.append((more, more) if v.is_angle else (0, more))
    return Tensor(tuple(variables), np.pad(coefficients, ends), np.pad(waves, sides), degrees, f.rounding)
