"""Rates: those at which torques give every coefficient, and those at which an error is largest.

Torques are gravity, plus a linear function of the accelerations, plus a quadratic one of the speeds. So at a given
configuration what they are at a few rates tells what they are at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.robot import Workspace

States = Mapping[str, Array]
"""Inputs by name, (states, size) each."""
ErrorsAt = Callable[[States], Array]
"""States -> (states, outputs)."""
CORNERS = 128
"""Corners of speeds that are looked at: all of them of eight joints, some of more."""
TURNS = 2
"""How often each speed is set to where an error is largest, given the others."""


def unit_rates(n: int, accelerations: bool = True) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(qd, qdd) whose torques give every coefficient: none, each acceleration, each speed, pairs of speeds."""

    def of(*joints: int) -> tuple[int, ...]:
        return tuple(int(k in joints) for k in range(n))

    yield of(), of()
    if accelerations:
        yield from ((of(), of(j)) for j in range(n))
    yield from ((of(j), of()) for j in range(n))
    yield from ((of(j, k), of()) for j, k in combinations(range(n), 2))


def of_rates(values: Sequence[Any], n: int) -> dict[tuple, Any]:
    """The coefficients of one output: ("g",), ("M", j), ("c", j), ("b", j, k), from values at `unit_rates`."""
    accelerations = len(values) > 1 + n + n * (n - 1) // 2
    rest = iter(values[1:])
    g = values[0]
    found: dict[tuple, Any] = {("g",): g}
    if accelerations:
        found |= {("M", j): next(rest) - g for j in range(n)}
    squares = {j: next(rest) - g for j in range(n)}
    found |= {("c", j): value for j, value in squares.items()}
    found |= {("b", j, k): next(rest) - g - squares[j] - squares[k] for j, k in combinations(range(n), 2)}
    return found


class Corners:
    """The rates at which an error is largest: at corners of accelerations, and of speeds or between these.

    `names`: of the inputs.
    """

    def __init__(self, where: Workspace, names: Sequence[str], random: np.random.Generator) -> None:
        self.n = n = len(where.ranges)
        self.rated, self.accelerated = "qd" in names, "qdd" in names
        self.speed, self.acceleration = np.array(where.speed), np.array(where.acceleration)
        self.units = list(unit_rates(n, self.accelerated)) if self.rated else [((0,) * n, (0,) * n)]
        signs = np.array(list(product((1.0, -1.0), repeat=n - 1))) if 2 ** (n - 1) <= CORNERS else None
        if signs is None:
            signs = random.choice((-1.0, 1.0), (CORNERS, n - 1))
        self.corners = np.vstack([np.zeros(n), np.column_stack([np.ones(len(signs)), signs]) * self.speed])

    def worst(self, errors: ErrorsAt, q: Array) -> tuple[Array, dict[str, Array]]:
        """(the largest error of every output at each configuration, (configurations, outputs); the states where, all
        outputs of the first configuration first).
        """
        shape = (len(self.units) * len(q), self.n)
        states = {"q": np.tile(q, (len(self.units), 1))}
        if self.rated:
            states["qd"] = np.repeat(np.array([qd for qd, _ in self.units], float), len(q), axis=0).reshape(shape)
        if self.accelerated:
            states["qdd"] = np.repeat(np.array([qdd for _, qdd in self.units], float), len(q), axis=0).reshape(shape)
        values = errors(states)
        values = values.reshape(len(self.units), len(q), values.shape[1])
        at = {"q": np.repeat(q, values.shape[2], axis=0)}
        if not self.rated:
            return np.abs(values[0]), at
        found = of_rates(list(values), self.n)
        moving = [key for key in found if key[0] in "bc"]
        products = np.stack([self.corners[:, key[1]] * self.corners[:, key[-1]] for key in moving], axis=1)
        forms = np.tensordot(products, np.stack([found[key] for key in moving]), 1) + found["g",]
        best = np.abs(forms).argmax(axis=0)
        form = np.take_along_axis(forms, best[None], axis=0)[0]
        qd, gained = self._between(found, self.corners[best], np.where(form < 0, -1.0, 1.0))
        at["qd"] = qd.reshape(-1, self.n)
        sizes = np.abs(form) + gained
        if self.accelerated:
            M = np.stack([found["M", j] for j in range(self.n)], axis=-1)
            sizes = sizes + np.abs(M) @ self.acceleration
            signs = np.where(form < 0, -1.0, 1.0)[..., None] * np.where(M < 0, -1.0, 1.0)
            at["qdd"] = (signs * self.acceleration).reshape(-1, self.n)
        return sizes, at

    def _between(self, found: dict[tuple, Array], qd: Array, signs: Array) -> tuple[Array, Array]:
        """(speeds at which the signed form is no less than at those given, by how much it is more): one after the
        other, where its square has a negative coefficient perhaps between its limits.
        """
        pairs = np.zeros((*qd.shape, self.n))
        for key, value in found.items():
            if key[0] == "b":
                pairs[..., key[1], key[2]] = pairs[..., key[2], key[1]] = signs * value
        squares = signs[..., None] * np.stack([found["c", j] for j in range(self.n)], axis=-1)
        return best_between(pairs, squares, self.speed, qd, TURNS)


def best_between(pairs: Array, squares: Array, speed: Array, qd: Array, turns: int) -> tuple[Array, Array]:
    """(speeds at which qd.pairs qd / 2 + squares.qd^2 is no less than at those given, by how much it is more).

    One speed after the other, `turns` times each, at a limit or where the form is flat: leading axes broadcast.
    """
    qd, gained = qd.copy(), np.zeros(qd.shape[:-1])
    for j in [*range(len(speed))] * turns:
        slope, square = np.einsum("...k,...k->...", pairs[..., j, :], qd), squares[..., j]
        inside = np.clip(-slope / np.where(square < 0, 2 * square, -np.inf), -speed[j], speed[j])
        places = np.stack([qd[..., j], inside, np.full_like(slope, speed[j]), np.full_like(slope, -speed[j])])
        values = (square * places + slope) * places
        top = values.argmax(axis=0)
        gained += np.take_along_axis(values, top[None], axis=0)[0] - values[0]
        qd[..., j] = np.take_along_axis(places, top[None], axis=0)[0]
    return qd, gained
