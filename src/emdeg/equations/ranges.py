"""Guaranteed bounds of formulas over boxes of joint positions, by subdivision with second-order enclosures.

A formula is a sum of waves r^p cos(m.q) and r^p sin(m.q). On a box with centre x and half-widths h each wave is its
value and slope at x plus a remainder of at most r^p (|m|.h + ...)^2 / 2; so many boxes are enclosed by a few matrix
products. What the doubles can get wrong is added: sines and cosines of the centres come from balls (python-flint's
`arb`), and every sum carries the a priori bound of its rounding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb
from numpy.typing import NDArray

from emdeg.algebra import Angle, Generator, TrigPoly

Array = NDArray[np.float64]
UNIT = 2.0**-52


@dataclass(frozen=True)
class Enclosure:
    """What is known of F functions on N boxes: values and slopes at the centres, and what remains."""

    value: Array
    """N x F."""
    slope: Array
    """N x d x F."""
    rest: Array
    """N x F: the second-order remainder, rounding included."""

    def spread(self, half: Array) -> Array:
        """N x F: |f - value| on the box is at most this."""
        return np.einsum("ndf,nd->nf", np.abs(self.slope), half) + self.rest


class Waves:
    """Formulas with numbers for coefficients, as waves; the positions they depend on are `joints`, in order."""

    def __init__(self, formulas: Sequence[TrigPoly], values: Mapping[str, Fraction] | None = None) -> None:
        algebra = formulas[0].algebra
        numbers = values or {}
        used = {g.of for f in formulas for g in f.generators if g.is_joint_angle or g.kind == "displacement"}
        self.joints = tuple(k for k in algebra.joints if k in used)
        turning = [k for k in self.joints if k in algebra.revolute]
        places = [algebra.revolute.index(k) for k in turning]
        sliding = [k for k in self.joints if k not in algebra.revolute]
        table: dict[tuple[tuple[int, ...], tuple[int, ...]], dict[int, tuple[float, float]]] = {}
        for column, formula in enumerate(formulas):
            for index, pair in formula.to_fourier().items():
                m = tuple(index[p] for p in places)
                for side, part in enumerate(pair):
                    for powers, coefficient in _by_displacement(part, sliding, numbers).items():
                        cell = table.setdefault((m, powers), {})
                        old = cell.get(column, (0.0, 0.0))
                        cell[column] = (coefficient, old[1]) if side == 0 else (old[0], coefficient)
        self.m = np.array([m for m, _ in table], dtype=float).reshape(len(table), len(turning))
        self.p = np.array([p for _, p in table], dtype=float).reshape(len(table), len(sliding))
        self.cos = np.zeros((len(table), len(formulas)))
        self.sin = np.zeros((len(table), len(formulas)))
        for row, cells in enumerate(table.values()):
            for column, (a, b) in cells.items():
                self.cos[row, column], self.sin[row, column] = a, b
        self.turning = np.array([self.joints.index(k) for k in turning], dtype=int)
        self.sliding = np.array([self.joints.index(k) for k in sliding], dtype=int)
        self.size = len(formulas)

    @cached_property
    def amplitude(self) -> Array:
        return np.hypot(self.cos, self.sin) * (1 + 4 * UNIT)

    def combined(self, weights: Array) -> Waves:
        """The waves of linear combinations: the columns of `weights` (F x G)."""
        other = object.__new__(Waves)
        other.__dict__.update({k: v for k, v in self.__dict__.items() if k != "amplitude"})
        other.cos, other.sin, other.size = self.cos @ weights, self.sin @ weights, weights.shape[1]
        return other

    def values(self, q: Array) -> Array:
        """N x F in plain doubles, q being N x d over `joints`."""
        phase = q[:, self.turning] @ self.m.T
        scale = np.prod(q[:, None, self.sliding] ** self.p, axis=2) if len(self.sliding) else 1.0
        return (scale * np.cos(phase)) @ self.cos + (scale * np.sin(phase)) @ self.sin

    def enclose(self, centre: Array, half: Array) -> Enclosure:
        """The functions on the boxes |q - centre| <= half, each N x d over `joints`."""
        c, s = self._waves(centre[:, self.turning])
        count = len(centre)
        slope = np.empty((count, len(self.joints), self.size))
        reach = half[:, self.turning] @ np.abs(self.m).T
        if not len(self.sliding):
            value = c @ self.cos + s @ self.sin
            for k, joint in enumerate(self.turning):
                slope[:, joint] = (c * self.m[:, k]) @ self.sin - (s * self.m[:, k]) @ self.cos
            size = np.ones_like(reach)
        else:
            r, t = centre[:, self.sliding], half[:, self.sliding]
            scale = np.prod(r[:, None, :] ** self.p, axis=2)
            value = (scale * c) @ self.cos + (scale * s) @ self.sin
            for k, joint in enumerate(self.turning):
                slope[:, joint] = (scale * c * self.m[:, k]) @ self.sin - (scale * s * self.m[:, k]) @ self.cos
            for k, joint in enumerate(self.sliding):
                lowered = self.p.copy()
                lowered[:, k] = np.maximum(lowered[:, k] - 1, 0)
                by = self.p[:, k] * np.prod(r[:, None, :] ** lowered, axis=2)
                slope[:, joint] = (by * c) @ self.cos + (by * s) @ self.sin
            far = np.abs(r) + t
            size = np.prod(far[:, None, :] ** self.p, axis=2)
            reach = reach + (t / np.maximum(far, 1e-300)) @ self.p.T
        # Rounding: of each wave a few units for its products, of each sum one unit a term.
        slack = (len(self.m) + 8 * len(self.joints) + 24) * UNIT
        rest = (size * (0.5 * (1 + slack) * reach**2 + slack * (1 + reach))) @ self.amplitude
        return Enclosure(value, slope, rest)

    def bend(self, half: Array, weights: Array | None = None) -> Array:
        """N x d: what each side of the boxes adds to the remainders, roughly."""
        total = self.amplitude @ (np.ones(self.size) if weights is None else weights)
        reach = half[:, self.turning] @ np.abs(self.m).T
        found = half * 1e-3
        found[:, self.turning] += 0.5 * half[:, self.turning] * ((reach * total) @ np.abs(self.m))
        found[:, self.sliding] += half[:, self.sliding] * float(total.sum())
        return found

    def _waves(self, angles: Array) -> tuple[Array, Array]:
        """cos(m.q), sin(m.q) for angles N x k, from certified sines and cosines of the single angles."""
        c = np.ones((len(angles), len(self.m)))
        s = np.zeros_like(c)
        for k in range(angles.shape[1]):
            cosines, sines = _powers(angles[:, k], int(np.abs(self.m[:, k]).max(initial=0)))
            order = np.abs(self.m[:, k]).astype(int)
            ck, sk = cosines[:, order], sines[:, order] * np.sign(self.m[:, k])
            c, s = c * ck - s * sk, s * ck + c * sk
        return c, s


def _powers(angle: Array, most: int) -> tuple[Array, Array]:
    """cos(j x), sin(j x) for j = 0..most, each good to 2^-53: the distinct x are few, being a box's halves."""
    distinct, place = np.unique(angle, return_inverse=True)
    table = np.empty((2, len(distinct), most + 1))
    for row, x in enumerate(distinct):
        ball = arb(float(x))
        for j in range(most + 1):
            table[0, row, j] = float((ball * j).cos())
            table[1, row, j] = float((ball * j).sin())
    return table[0][place], table[1][place]


def _by_displacement(
    part: TrigPoly, sliding: Sequence[int], values: Mapping[str, Fraction]
) -> dict[tuple[int, ...], float]:
    """{powers of the displacements: coefficient} of a formula free of joint angles."""
    found: dict[tuple[int, ...], Fraction] = {}
    for coefficient, monomial in part.terms():
        powers = [0] * len(sliding)
        for g, e in monomial.items():
            if g.kind == "displacement" and isinstance(g.of, int):
                powers[sliding.index(g.of)] = e
            else:
                coefficient *= _constant(g, values) ** e
        found[tuple(powers)] = found.get(tuple(powers), Fraction(0)) + coefficient
    return {powers: float(c) for powers, c in found.items() if c}


def _constant(g: Generator, values: Mapping[str, Fraction]) -> Fraction:
    if isinstance(g.of, Angle):
        s, c = g.of.sincos()
        return s if g.kind == "sine" else c
    return values[str(g.of)]


@dataclass(frozen=True)
class Range:
    """A maximum over a box: `bound` is never exceeded, `found` is reached at `at` (N: boxes looked at)."""

    bound: float
    found: float
    at: tuple[float, ...]
    boxes: int

    @property
    def ratio(self) -> float:
        return self.bound / self.found if self.found > 0 else 1.0 if self.bound <= 0 else float("inf")


Objective = Callable[[Array, Array], tuple[Array, Array, Array]]
"""(centres, half-widths) -> (upper bounds on the boxes, values reached at the centres, what each side adds)."""


def maximum(
    objective: Objective,
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    found: float = -np.inf,
    at: Sequence[float] = (),
    tolerance: float = 0.02,
    enough: float = -np.inf,
    seconds: float = 10.0,
    most_boxes: int = 3_000_000,
    batch: int = 2048,
) -> Range:
    """The largest value of an objective over a box: branch and bound, always the worst boxes next.

    It stops when the bound is within `tolerance` of a value reached or not above `enough`, or when time (of this
    thread) or boxes are used up; the bound holds in any case. `found` and `at`: a value known to be reached.
    """
    end = time.thread_time() + seconds
    lo, hi = np.asarray(lower, float), np.asarray(upper, float)
    # Outward by more than a rounding of the centres and half-widths can lose.
    centre = (0.5 * (lo + hi))[None, :]
    half = (0.5 * (hi - lo) + 4 * UNIT * (np.abs(lo) + np.abs(hi)))[None, :]
    best, where, settled, boxes = found, tuple(at), -np.inf, 0
    if not lo.size:
        up, got, _ = objective(centre, half)
        return Range(float(up[0]), float(got[0]), (), 1)
    up, got, side = objective(centre, half)
    if got[0] > best:
        best, where = float(got[0]), tuple(centre[0])
    queue_c, queue_h, queue_u, queue_s = centre, half, up, side
    while len(queue_u):
        goal = max(best + tolerance * abs(best), enough)
        open_ = queue_u > goal
        if not open_.all():
            settled = max(settled, float(queue_u[~open_].max()))
            queue_c, queue_h, queue_u, queue_s = (x[open_] for x in (queue_c, queue_h, queue_u, queue_s))
        if not len(queue_u) or time.thread_time() > end or boxes > most_boxes:
            break
        if len(queue_u) > batch:
            order = np.argpartition(-queue_u, batch)
            now, later = order[:batch], order[batch:]
        else:
            now, later = np.arange(len(queue_u)), np.arange(0)
        centre, half = _split(queue_c[now], queue_h[now], queue_s[now])
        up, got, side = objective(centre, half)
        up = np.minimum(up, np.concatenate([queue_u[now], queue_u[now]]))
        boxes += len(centre)
        top = int(np.argmax(got))
        if got[top] > best:
            best, where = float(got[top]), tuple(centre[top])
        queue_c = np.concatenate([queue_c[later], centre])
        queue_h = np.concatenate([queue_h[later], half])
        queue_u = np.concatenate([queue_u[later], up])
        queue_s = np.concatenate([queue_s[later], side])
    bound = max(settled, best, float(queue_u.max(initial=-np.inf)))
    return Range(bound, best, tuple(float(x) for x in where), boxes)


def _split(centre: Array, half: Array, side: Array) -> tuple[Array, Array]:
    """Each box in two, across the side that adds most to its bound."""
    rows = np.arange(len(centre))
    widest = np.argmax(side, axis=1)
    halves = half.copy()
    # A little more than half, so that the two cover the whole whatever is rounded.
    halves[rows, widest] = halves[rows, widest] * (0.5 + 2 * UNIT) + UNIT * np.abs(centre[rows, widest])
    left, right = centre.copy(), centre.copy()
    left[rows, widest] -= 0.5 * half[rows, widest]
    right[rows, widest] += 0.5 * half[rows, widest]
    return np.concatenate([left, right]), np.concatenate([halves, halves])


def largest(waves: Waves, column: int = 0) -> Objective:
    """|f| of one function as an objective."""

    def objective(centre: Array, half: Array) -> tuple[Array, Array, Array]:
        known = waves.enclose(centre, half)
        got = np.abs(known.value[:, column])
        side = np.abs(known.slope[:, :, column]) * half + waves.bend(half)
        return got + known.spread(half)[:, column], got, side

    return objective
