"""The error of a short model at many sampled configurations at once: fast, and from below.

At every sample accelerations and speeds take the corner that is worst there. Used to steer searches; what a search
ends with is certified by `row_error`.
"""

from __future__ import annotations

import numpy as np

from emdeg.algebra import Array
from emdeg.equations import indices
from emdeg.reduce.row_error import corner_products
from emdeg.robot import Workspace


class SampledDeviation:
    """Differences of entries at samples, and each row's largest error over them."""

    def __init__(self, n: int, where: Workspace, configurations: Array) -> None:
        self.n, self.where, self.q = n, where, configurations
        self.pairs = [(j, k) for j in range(n) for k in range(j + 1, n)]
        self.place = {pair: c for c, pair in enumerate(self.pairs)}
        count = len(configurations)
        self.M = np.zeros((n, n, count))
        self.b = np.zeros((n, len(self.pairs), count))
        self.c = np.zeros((n, n, count))
        self.g = np.zeros((n, count))
        self.corners = corner_products(self.pairs, np.array(where.speed))
        self.squares = np.array(where.speed) ** 2
        self.acceleration = np.array(where.acceleration)

    def add(self, entry: str, values: Array) -> None:
        """Add to an entry's difference; -values takes it back."""
        letter, of = indices(entry)
        if letter == "M":
            i, j = of[0] - 1, of[1] - 1
            self.M[i, j] += values
            if i != j:
                self.M[j, i] += values
        elif letter == "b":
            self.b[of[0] - 1, self.place[of[1] - 1, of[2] - 1]] += values
        elif letter == "c":
            self.c[of[0] - 1, of[1] - 1] += values
        else:
            self.g[of[0] - 1] += values

    def row(self, i: int) -> Array:
        """The largest |error| at joint i (from 0) at every sample."""
        moving = [c for c in range(len(self.pairs)) if self.b[i, c].any()]
        still = self.acceleration @ np.abs(self.M[i])
        corners = np.unique(self.corners[:, moving], axis=0)
        corner = corners @ self.b[i, moving] if moving else np.zeros((1, len(self.q)))
        worst = np.full(len(self.q), -np.inf)
        for sign in (1.0, -1.0):
            squares = self.squares @ np.maximum(sign * self.c[i], 0)
            worst = np.maximum(worst, squares + sign * self.g[i] + (sign * corner).max(axis=0))
        return still + worst
