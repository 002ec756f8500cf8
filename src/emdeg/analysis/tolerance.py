"""What the parameters' tolerances do to constants, to efforts along a trajectory and to M's eigenvalues.

To first order, which for a constant is RMS combination (Armstrong et al., section 5), and by Monte-Carlo, which knows
that parameters multiply each other. A tolerance is taken as a standard deviation, parameters as independent. What
varies are the numbers of the robot's source, whatever symbols its equations have: a mass centre at zero +- 3 mm
loads a joint although no formula mentions it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Angle, Dual, Floats, derivative
from emdeg.mechanics import frames, mechanism_of, stacked
from emdeg.mechanics.formulations import efforts_by_newton_euler, mass_matrix
from emdeg.reduce import FullModel
from emdeg.robot import Opened, opened, stated_tolerances
from emdeg.writing import Shown


@dataclass(frozen=True)
class Spread(Shown):
    """Values with their standard deviations: `first_order` and by `monte_carlo`, arrays of one shape."""

    value: NDArray
    first_order: NDArray
    monte_carlo: NDArray


class Tolerances:
    """The tolerances of a model with lumped constants; `draws` random robots for Monte-Carlo."""

    def __init__(self, full: FullModel, draws: int = 2000, seed: int = 0) -> None:
        self.full = full
        self.names = [c.name for c in full.lumped.constants]
        self.stated = stated_tolerances(full.robot)
        self.deviation = np.array([float(v) for v in self.stated.values()])
        self.draws, self.seed = draws, seed

    @cached_property
    def opened(self) -> Opened:
        """The robot with a symbol for every number whose tolerance is stated."""
        return opened(self.full.robot, list(self.stated))

    @cached_property
    def drawn(self) -> NDArray:
        """draws x numbers: standard normal deviations, in units of each tolerance."""
        return np.random.default_rng(self.seed).normal(size=(self.draws, len(self.stated)))

    def constants(self) -> Spread:
        """The constants; the first-order deviation of one is its RMS combination."""
        found = self.full.lumped.constants
        value = np.array([float(self.full.values[c.name]) for c in found])
        known = self.full.model.known
        random = np.random.default_rng(self.seed)
        drawn: dict[str, NDArray] = {
            name: float(v.value) + float(v.tolerance or 0) * random.normal(size=self.draws) for name, v in known.items()
        }
        # The same deviation of a number without a symbol in every constant that it concerns.
        deviations = {path: float(v) * random.normal(size=self.draws) for path, v in self.stated.items()}
        monte_carlo = [
            np.std(
                c.formula.evaluate(parameters=drawn)
                + sum(deviations[path] * slope.evaluate(parameters=drawn) for path, slope in c.zero_slopes.items())
            )
            for c in found
        ]
        return Spread(value, np.array([c.tolerance or 0.0 for c in found]), np.array(monte_carlo))

    def efforts(self, q: NDArray, qd: NDArray, qdd: NDArray) -> Spread:
        """Efforts along a trajectory, each T x n [N m, N]."""
        value, changes = self.effort_changes(q, qd, qdd)
        variance = (changes**2).sum(axis=0)
        shape = np.shape(q)[:-1]
        drawn = stacked(self._efforts(self._random(len(shape)), q, qd, qdd), (self.draws, *shape))
        return Spread(value, np.sqrt(variance), drawn.std(axis=0))

    def effort_changes(self, q: NDArray, qd: NDArray, qdd: NDArray) -> tuple[NDArray, NDArray]:
        """(efforts T x n, how each changes as each number does by its tolerance: numbers x T x n), to first order."""
        shape = np.shape(q)[:-1]
        exact = self._efforts(self._seeded, q, qd, qdd)
        value = stacked([_value(x) for x in exact], shape)
        changes = [stacked([derivative(x, k, 0.0) for x in exact], shape) for k in range(len(self.stated))]
        return value, np.array(changes).reshape(-1, *value.shape)

    def _efforts(self, values: Mapping[str, Any], *states: NDArray) -> list[Any]:
        q, qd, qdd = (np.moveaxis(np.asarray(x, float), -1, 0) for x in states)
        mech = mechanism_of(self.opened.robot, _Drawn(values))
        position = [_turned(x) if turns else x for x, turns in zip(q, mech.revolute)]
        return list(efforts_by_newton_euler(mech, frames(mech, position), list(qd), list(qdd)))

    def eigenvalues(self, q: NDArray) -> Spread:
        """M's eigenvalues at configurations T x n, rising; first order: d lambda = v^T dM v."""
        at = np.moveaxis(np.asarray(q, float), -1, 0)

        def masses(values: Mapping[str, Any]) -> list[list[Any]]:
            mech = mechanism_of(self.opened.robot, _Drawn(values))
            return mass_matrix(mech, frames(mech, [_turned(x) if t else x for x, t in zip(at, mech.revolute)]))

        shape = np.shape(q)[:-1]
        exact = masses(self._seeded)
        values, vectors = np.linalg.eigh(stacked([[_value(x) for x in row] for row in exact], shape))
        variance = np.zeros_like(values)
        for k in range(len(self.stated)):
            dM = stacked([[derivative(x, k, 0.0) for x in row] for row in exact], shape)
            variance += np.einsum("...ie,...ij,...je->...e", vectors, dM, vectors) ** 2
        drawn = stacked(masses(self._random(len(shape))), (self.draws, *shape))
        return Spread(values, np.sqrt(variance), np.linalg.eigvalsh(drawn).std(axis=0))

    @property
    def _seeded(self) -> dict[str, Any]:
        """Symbol -> its number, varying by its tolerance in a direction of its own."""
        nominal, symbols = self.opened.nominal, self.opened.symbols
        return {symbols[p]: Dual(nominal[p], {k: self.deviation[k]}) for k, p in enumerate(self.stated)}

    def _random(self, axes: int) -> dict[str, Any]:
        """Symbol -> random numbers, draws x 1 x .. over `axes` axes of states."""
        nominal, symbols = self.opened.nominal, self.opened.symbols
        deviations = (self.drawn * self.deviation).reshape(self.draws, *(1,) * axes, len(self.stated))
        return {symbols[p]: nominal[p] + deviations[..., k] for k, p in enumerate(self.stated)}


class _Drawn(Floats):
    """Doubles whose symbols are arrays or dual numbers."""

    def sincos(self, angle: Angle) -> tuple[Any, Any]:
        if angle.symbol is None:
            return super().sincos(angle)
        turned: Any = self.symbol(angle.symbol) + float(Angle(angle.pi_times, angle.radians))
        if isinstance(turned, Dual):
            s, c = _turned(turned.value)
            return Dual(s, {k: c * x for k, x in turned.d.items()}), Dual(c, {k: -s * x for k, x in turned.d.items()})
        return _turned(turned)


def _turned(angle: Any) -> tuple[Any, Any]:
    return np.sin(angle), np.cos(angle)


def _value(x: Any) -> Any:
    return x.value if isinstance(x, Dual) else x
