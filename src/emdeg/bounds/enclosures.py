"""Numbers known to lie between two ends, over many boxes at once: what bounds a program that divides and takes roots.

An enclosure holds, for every box, ends of a value at the box's centre, ends of its slopes over the box, and ends of the
value itself: what interval arithmetic gives, cut by what the slopes allow about the centre (the mean value theorem).
So its width falls with the square of a box's. Everything is rounded outwards. Where a divisor may be zero, or a
radicand negative, the ends are infinite; a box in which a radicand is negative throughout holds no value. Infinite
ends make NumPy warn: work under `np.errstate(all="ignore")`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array

Ends = Array
"""(2, ...): lower and upper ends."""
_UP, _DOWN = np.inf, -np.inf
_LAST, _LEAST = 2.0**-52, 1e-300
"""More than rounding does to a result, relatively and where it is tiny."""
_WAVE = 4e-16
"""What a sine or a cosine in doubles may be off by."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes by centre and half width, each (variables, boxes); `empty` marks those that hold no value."""

    centre: Array
    half: Array
    empty: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "empty", np.zeros(self.centre.shape[1], bool))

    def variable(self, k: int) -> Enclosure:
        """Variable k over the boxes."""
        c, r = self.centre[k], self.half[k]
        slopes = np.zeros((2, *self.centre.shape))
        slopes[:, k] = 1.0
        return Enclosure(self, np.stack([c, c]), _outward(np.stack([c - r, c + r])), slopes)

    def number(self, value: Fraction) -> Enclosure:
        """A constant: the doubles on both sides of it."""
        near = float(value)
        ends = np.array([[near], [near]])
        return Enclosure(self, ends if Fraction(near) == value else _outward(ends), None, None)

    def near(self, value: float) -> Enclosure:
        """A constant that a double is within some units in the last place of."""
        off = 4e-16 * abs(value)
        return Enclosure(self, np.array([[value - off], [value + off]]), None, None)


class Enclosure:
    """One value over all boxes: `middle` at the centres, `ends` over the boxes, `slopes` (2, variables, boxes).

    A constant has neither ends of its own nor slopes.
    """

    __slots__ = ("_ends", "boxes", "middle", "slopes")

    def __init__(self, boxes: Boxes, middle: Ends, ends: Ends | None, slopes: Ends | None) -> None:
        self.boxes, self.middle, self.slopes = boxes, middle, slopes
        self._ends = ends

    @property
    def ends(self) -> Ends:
        """Of the value over each box."""
        return self.middle if self._ends is None else self._ends

    @property
    def magnitude(self) -> Array:
        """(boxes,): the largest |value| that the ends allow."""
        return np.maximum(np.abs(self.ends[0]), np.abs(self.ends[1]))

    @property
    def change(self) -> Array:
        """(variables, boxes): how far each variable can move the value from the centre's."""
        if self.slopes is None:
            return np.zeros_like(self.boxes.half)
        return np.nan_to_num(np.abs(self.slopes).max(axis=0) * self.boxes.half, nan=_UP, posinf=_UP)

    def _of(self, middle: Ends, ends: Ends, slopes: Ends | None) -> Enclosure:
        """A new value; its ends cut by what its slopes allow."""
        if slopes is None:
            return Enclosure(self.boxes, middle, None, None)
        found = Enclosure(self.boxes, middle, ends, slopes)
        reach = found.change.sum(axis=0) * (1 + 1e-14)
        about = np.empty((2, *reach.shape))
        np.subtract(middle[0], reach, out=about[0])
        np.add(middle[1], reach, out=about[1])
        _outward(about)
        np.maximum(ends[0], about[0], out=about[0])
        np.minimum(ends[1], about[1], out=about[1])
        found._ends = about
        return found

    def __neg__(self) -> Enclosure:
        slopes = None if self.slopes is None else _negative(self.slopes)
        ends = None if self._ends is None else _negative(self._ends)
        return Enclosure(self.boxes, _negative(self.middle), ends, slopes)

    def __add__(self, other: Enclosure) -> Enclosure:
        slopes = (
            (other if self.slopes is None else self).slopes
            if self.slopes is None or other.slopes is None
            else _sum(self.slopes, other.slopes)
        )
        return self._of(_sum(self.middle, other.middle), _sum(self.ends, other.ends), slopes)

    def __sub__(self, other: Enclosure) -> Enclosure:
        return self + (-other)

    def __mul__(self, other: Enclosure) -> Enclosure:
        slopes = None
        for one, factor in ((self, other), (other, self)):
            if one.slopes is not None:
                part = _product(one.slopes, factor.ends[:, None, :])
                slopes = part if slopes is None else _sum(slopes, part)
        ends = _square(self.ends) if self is other else _product(self.ends, other.ends)
        return self._of(_product(self.middle, other.middle), ends, slopes)

    def __truediv__(self, other: Enclosure) -> Enclosure:
        return self * other.inverse()

    def inverse(self) -> Enclosure:
        """1 / value."""
        ends = _inverse(self.ends)
        slopes = None if self.slopes is None else _negative(_product(self.slopes, _square(ends)[:, None, :]))
        return self._of(_inverse(self.middle), ends, slopes)

    def sqrt(self) -> Enclosure:
        """The root; boxes without one are marked as empty."""
        self.boxes.empty[...] |= np.broadcast_to(self.ends[1] < 0, self.boxes.empty.shape)
        ends, middle = _root(self.ends), _root(self.middle)
        middle = np.where(self.middle[0] < 0, np.array([[_DOWN], [_UP]]), middle)  # no value at the centre
        slopes = None
        if self.slopes is not None:
            slopes = _product(self.slopes, 0.5 * _inverse(ends)[:, None, :])
            within = (self.ends[0] > 0)[None, None, :]  # else the slope has no end, whatever it is multiplied by
            slopes = np.where(within, slopes, np.array([_DOWN, _UP])[:, None, None])
        return self._of(middle, ends, slopes)

    def sine(self) -> Enclosure:
        return self._wave(0.5 * np.pi)

    def cosine(self) -> Enclosure:
        return self._wave(0.0)

    def _wave(self, peak: float) -> Enclosure:
        """cos(value - peak), and the slope -sin(value - peak)."""
        slopes = None
        if self.slopes is not None:
            slopes = _product(self.slopes, _wave_ends(self.ends, peak - 0.5 * np.pi)[:, None, :])
        return self._of(_wave_ends(self.middle, peak), _wave_ends(self.ends, peak), slopes)


def _outward(ends: Ends) -> Ends:
    """A unit in the last place further out, written over the ends; what is no number may be anything."""
    off = np.abs(ends)
    off *= _LAST
    off += _LEAST
    ends[0] -= off[0]
    ends[1] += off[1]
    if np.isnan(ends).any():  # an infinity less itself, or times zero
        ends[0][np.isnan(ends[0])] = _DOWN
        ends[1][np.isnan(ends[1])] = _UP
    return ends


def _negative(ends: Ends) -> Ends:
    return -ends[::-1]


def _sum(a: Ends, b: Ends) -> Ends:
    return _outward(a + b)


def _product(a: Ends, b: Ends) -> Ends:
    first, second = a[0] * b, a[1] * b
    found = np.empty_like(first)
    np.minimum(np.minimum(first[0], first[1]), np.minimum(second[0], second[1]), out=found[0])
    np.maximum(np.maximum(first[0], first[1]), np.maximum(second[0], second[1]), out=found[1])
    return _outward(found)


def _square(a: Ends) -> Ends:
    sizes = np.abs(a)
    most, least = sizes.max(axis=0), sizes.min(axis=0)
    least = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, least)
    found = _outward(np.stack([least * least, most * most]))
    np.maximum(found[0], 0.0, out=found[0])
    return found


def _inverse(a: Ends) -> Ends:
    found = _outward(1 / a[::-1])
    away = (a[0] > 0) | (a[1] < 0)
    return found if away.all() else np.where(away, found, np.array([_DOWN, _UP]).reshape(2, *(1,) * (a.ndim - 1)))


def _root(a: Ends) -> Ends:
    found = _outward(np.sqrt(np.maximum(a, 0.0)))
    np.maximum(found[0], 0.0, out=found[0])
    return found


def _wave_ends(a: Ends, peak: float) -> Ends:
    """Of cos(x - peak) for x between the ends."""
    turns = (a - peak) / (2 * np.pi)
    at_ends = np.cos(a - peak)
    margin = 1e-12 * (1 + np.abs(turns).max(axis=0))
    top = np.floor(turns[1] + margin) > np.ceil(turns[0] - margin) - 1
    bottom = np.floor(turns[1] - 0.5 + margin) > np.ceil(turns[0] - 0.5 - margin) - 1
    off = _WAVE + 4e-16 * np.abs(a).max(axis=0)
    low = np.where(bottom, -1.0, np.maximum(at_ends.min(axis=0) - off, -1.0))
    high = np.where(top, 1.0, np.minimum(at_ends.max(axis=0) + off, 1.0))
    return np.stack([np.nan_to_num(low, nan=-1.0), np.nan_to_num(high, nan=1.0)])
