"""The largest effort that a difference of two models can make at one joint: certified, and as found by search.

At a fixed configuration the difference e = dM qdd + db [qd qd] + dc [qd^2] + dg is largest, over accelerations, at
the corner that fits the signs of dM, and over speeds at most the largest of its products' corners plus the positive
squares: sum max(dc_j, 0) v_j^2. What is left is a function of the configuration, which is subdivided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from emdeg.algebra import TrigPoly
from emdeg.equations.lumped import indices
from emdeg.equations.ranges import Array, Range, Waves, maximum
from emdeg.reduce.box import Box


@dataclass(frozen=True)
class Row:
    """One joint's formulas as waves, sorted by what they multiply."""

    waves: Waves
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


def row(
    joint: int, entries: Mapping[str, TrigPoly], box: Box, values: Mapping[str, Fraction] | None = None
) -> Row | None:
    """The joint's row of some entries (its own only, M by its upper triangle); None where all are zero."""
    M, b, c, g = [], [], [], []
    for name, formula in entries.items():
        letter, of = indices(name)
        if not formula:
            continue
        if letter == "M" and joint in of:
            other = of[1] if of[0] == joint else of[0]
            M.append((box.acceleration[other - 1], formula))
        elif of[0] == joint and letter == "b":
            b.append(((of[1] - 1, of[2] - 1), formula))
        elif of[0] == joint and letter == "c":
            c.append((of[1] - 1, formula))
        elif of[0] == joint and letter == "g":
            g.append(formula)
    formulas = [f for _, f in M] + [f for _, f in b] + [f for _, f in c] + g
    if not formulas:
        return None
    return Row(
        Waves(formulas, values),
        np.array([a for a, _ in M]),
        tuple(pair for pair, _ in b),
        tuple(j for j, _ in c),
        len(g),
        np.array(box.speed),
    )


def corner_products(pairs: Sequence[tuple[int, int]], speed: Array) -> Array:
    """patterns x pairs: the products of speeds at the corners of their box, up to a common sign."""
    if not pairs:
        return np.zeros((1, 0))
    moving = sorted({j for pair in pairs for j in pair})
    place = {j: k for k, j in enumerate(moving)}
    signs = np.array([(1, *rest) for rest in product((1, -1), repeat=len(moving) - 1)], dtype=float)
    columns = [signs[:, place[j]] * signs[:, place[k]] * speed[j] * speed[k] for j, k in pairs]
    return np.unique(np.stack(columns, axis=1), axis=0)


class RowObjective:
    """The largest |e| of a row over boxes of configurations; see the module."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.corners = corner_products(row.pairs, row.speed)
        self.squares = np.array([row.speed[j] ** 2 for j in row.squares])
        products = np.array([row.speed[j] * row.speed[k] for j, k in row.pairs])
        self.weights = np.concatenate([row.acceleration, products, self.squares, np.ones(row.gravity)])

    def __call__(self, centre: Array, half: Array) -> tuple[Array, Array, Array]:
        """(upper bounds on the boxes, values reached at their centres, what each side adds)."""
        known = self.row.waves.enclose(centre, half)
        M, b, c, g = self.row.parts
        spread = known.spread(half)
        upper = np.full(len(centre), -np.inf)
        reached = np.full(len(centre), -np.inf)
        weight = np.sign(known.value[:, M]) * self.row.acceleration
        doubt = 2 * np.maximum(spread[:, M] - np.abs(known.value[:, M]), 0) @ self.row.acceleration
        # The bilinear part's corners: value and slope of each combination, patterns along the last axis.
        corner_value = known.value[:, b] @ self.corners.T
        corner_slope = known.slope[:, :, b] @ self.corners.T
        corner_rest = known.rest[:, b] @ np.abs(self.corners[0]) if self.corners.size else 0.0
        M_value = (weight * known.value[:, M]).sum(axis=1)
        M_slope = np.einsum("ndf,nf->nd", known.slope[:, :, M], weight)
        rest = known.rest[:, M] @ self.row.acceleration + corner_rest
        for sign in (1.0, -1.0):
            value, slope, extra = M_value, M_slope, rest + doubt
            squares = known.value[:, c] * sign
            inside = (squares > 0) * self.squares
            value = value + (inside * squares).sum(axis=1)
            slope = slope + sign * np.einsum("ndf,nf->nd", known.slope[:, :, c], inside)
            # Where a square may change its sign on the box, what it can add beyond its value at the centre.
            doubtful = np.maximum(spread[:, c] - np.abs(squares), 0) @ self.squares
            extra = extra + doubtful + (known.rest[:, c] * inside).sum(axis=1)
            if self.row.gravity:
                value = value + sign * known.value[:, g].sum(axis=1)
                slope = slope + sign * known.slope[:, :, g].sum(axis=2)
                extra = extra + known.rest[:, g].sum(axis=1)
            total = value[:, None] + sign * corner_value
            tilt = np.einsum("ndp,nd->np", np.abs(slope[:, :, None] + sign * corner_slope), half)
            upper = np.maximum(upper, (total + tilt).max(axis=1) + extra)
            at_corner = value + (known.value[:, c] * sign * self.squares - inside * squares).sum(axis=1)
            reached = np.maximum(reached, at_corner + (sign * corner_value).max(axis=1))
        side = (np.abs(known.slope) @ self.weights) * half + self.row.waves.bend(half, self.weights)
        return upper * (1 + 1e-12), reached * (1 - 1e-12), side

    def reached(self, q: Array) -> Array:
        """N: a value of |e| that is reached at each configuration, at a corner of speeds and accelerations."""
        v = self.row.waves.values(q)
        M, b, c, g = self.row.parts
        corner = v[:, b] @ self.corners.T
        moving = (v[:, c] @ self.squares)[:, None] + corner + v[:, g].sum(axis=1)[:, None]
        return np.abs(v[:, M]) @ self.row.acceleration + np.abs(moving).max(axis=1)

    def best_speeds(self, q: Array) -> tuple[float, float, Array]:
        """(|e|, sign, speeds) at one configuration: corners, then one speed after the other."""
        v = self.row.waves.values(q[None, :])[0]
        M, b, c, g = self.row.parts
        still = float(np.abs(v[M]) @ self.row.acceleration)
        best = (-np.inf, 1.0, np.zeros(len(self.row.speed)))
        n = len(self.row.speed)
        for sign in (1.0, -1.0):
            B = np.zeros((n, n))
            for (j, k), x in zip(self.row.pairs, v[b]):
                B[j, k] = B[k, j] = sign * x
            C = np.zeros(n)
            C[list(self.row.squares)] = sign * v[c]
            for start in (np.ones(n), *np.eye(n)):
                qd = self.row.speed * start
                for _ in range(6):
                    for j in range(n):
                        slope = float(B[j] @ qd)
                        options = [-self.row.speed[j], self.row.speed[j]]
                        if C[j] < 0:
                            options.append(float(np.clip(-slope / (2 * C[j]), *options)))
                        qd[j] = max(options, key=lambda x, j=j, slope=slope: C[j] * x * x + slope * x)
                value = still + float(qd @ B @ qd) / 2 + float(C @ (qd * qd)) + sign * float(v[g].sum())
                if value > best[0]:
                    best = (value, sign, qd.copy())
        return best


def largest_error(
    row: Row, box: Box, *, seconds: float = 8.0, tolerance: float = 0.05, starts: int = 24, seed: int = 0,
    enough: float = -np.inf,
) -> Range:
    """The certified maximum of |e|, beside the largest found by multistart maximisation."""
    joints = [j - 1 for j in row.waves.joints]
    lower, upper = np.array([box.lower[j] for j in joints]), np.array([box.upper[j] for j in joints])
    objective = RowObjective(row)
    found, at = search(objective, lower, upper, starts, seed)
    return maximum(
        objective, list(lower), list(upper), found=found, at=at, tolerance=tolerance, seconds=seconds,
        enough=min(enough, CLOSE * found),
    )


def search(
    objective: RowObjective, lower: Array, upper: Array, starts: int = 24, seed: int = 0
) -> tuple[float, Sequence[float]]:
    """Multistart maximisation over the configuration: the best of many random points climb, all at once."""
    if not len(lower):
        return objective.best_speeds(np.zeros(0))[0] * (1 - 1e-12), ()
    random = np.random.default_rng(seed)
    points = random.uniform(lower, upper, (3000, len(lower)))
    reached = objective.reached(points)
    order = np.argsort(-reached)[:starts]
    points, reached = points[order], reached[order]
    step, tries = 0.15 * (upper - lower), 12
    for _ in range(CLIMBS):
        moved = points[:, None, :] + step * random.normal(size=(len(points), tries, len(lower)))
        moved = np.clip(moved, lower, upper)
        got = objective.reached(moved.reshape(-1, len(lower))).reshape(len(points), tries)
        best = got.argmax(axis=1)
        better = got[np.arange(len(points)), best] > reached
        points[better] = moved[better, best[better]]
        reached[better] = got[better, best[better]]
        step = step * (0.9 if better.mean() > 0.3 else 0.75)
    values = [objective.best_speeds(x)[0] for x in points]
    top = int(np.argmax(values))
    return values[top] * (1 - 1e-12), tuple(float(x) for x in points[top])


CLIMBS = 40
CLOSE = 1.2
"""A bound within this of the error found is close enough, even where a limit would allow for more."""
