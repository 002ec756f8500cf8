"""What the parameters' tolerances do to constants, to efforts along a trajectory and to M's eigenvalues.

To first order, which for a constant is RMS combination (Armstrong et al., section 5), and by Monte-Carlo, which knows
that parameters multiply each other. A tolerance is taken as a standard deviation, parameters as independent. What
varies are the numbers of the robot's source, whatever symbols its equations have: a mass centre at zero +- 3 mm
loads a joint although no formula mentions it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import derivative
from emdeg.documents import Shown
from emdeg.dynamics import stacked
from emdeg.dynamics.parameters import VariedRobot, value_of
from emdeg.equations import LumpedModel


@dataclass(frozen=True)
class Spread(Shown):
    """Values with their standard deviations: `first_order` and by `monte_carlo`, arrays of one shape."""

    value: NDArray
    first_order: NDArray
    monte_carlo: NDArray


class Tolerances:
    """The tolerances of a model with lumped constants; `draws` random robots for Monte-Carlo."""

    def __init__(self, full: LumpedModel, draws: int = 2000, seed: int = 0) -> None:
        self.full = full
        self.names = [c.name for c in full.lumped.constants]
        self.varied = VariedRobot(full.robot)
        self.stated = self.varied.stated
        self.draws, self.seed = draws, seed

    @cached_property
    def drawn(self) -> NDArray:
        """draws x numbers: standard normal deviations, in units of each tolerance."""
        return np.random.default_rng(self.seed).normal(size=(self.draws, len(self.stated)))

    def constants(self) -> Spread:
        """The constants; the first-order deviation of one is its RMS combination."""
        found = self.full.lumped.constants
        value = np.array([float(self.full.values[c.name]) for c in found])
        known = self.full.source.known
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
        random = self.varied.drawn(self.drawn, len(shape))
        drawn = stacked(self.varied.efforts(random, q, qd, qdd), (self.draws, *shape))
        return Spread(value, np.sqrt(variance), drawn.std(axis=0))

    def effort_changes(self, q: NDArray, qd: NDArray, qdd: NDArray) -> tuple[NDArray, NDArray]:
        """(efforts T x n, how each changes as each number does by its tolerance: numbers x T x n), to first order."""
        return self.varied.effort_changes(q, qd, qdd)

    def eigenvalues(self, q: NDArray) -> Spread:
        """M's eigenvalues at configurations T x n, rising; first order: d lambda = v^T dM v."""
        shape = np.shape(q)[:-1]
        exact = self.varied.masses(self.varied.seeded, q)
        values, vectors = np.linalg.eigh(stacked([[value_of(x) for x in row] for row in exact], shape))
        variance = np.zeros_like(values)
        for k in range(len(self.stated)):
            dM = stacked([[derivative(x, k, 0.0) for x in row] for row in exact], shape)
            variance += np.einsum("...ie,...ij,...je->...e", vectors, dM, vectors) ** 2
        drawn = stacked(self.varied.masses(self.varied.drawn(self.drawn, len(shape)), q), (self.draws, *shape))
        return Spread(values, np.sqrt(variance), np.linalg.eigvalsh(drawn).std(axis=0))
