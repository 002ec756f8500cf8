"""What the parameters' tolerances do to constants, to efforts along a trajectory and to M's eigenvalues.

Three ways: RMS combination of each constant by itself (Armstrong et al., section 5); first-order covariance, which
knows that constants share parameters; and Monte-Carlo, which knows that they are products. A tolerance is taken as a
standard deviation, parameters as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Generator
from emdeg.equations import indices
from emdeg.reduce import FullModel
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
        known = full.model.known
        self.parameters = sorted(known)
        self.value = np.array([float(known[p].value) for p in self.parameters])
        self.deviation = np.array([float(known[p].tolerance or 0) for p in self.parameters])
        self.draws, self.seed = draws, seed

    @cached_property
    def jacobian(self) -> NDArray:
        """Constants x parameters: d constant / d parameter at the nominal values."""
        at = dict(zip(self.parameters, self.value))
        found = np.zeros((len(self.names), len(self.parameters)))
        for i, c in enumerate(self.full.lumped.constants):
            for k, name in enumerate(self.parameters):
                slope = c.formula.derivative_by(Generator("parameter", name))
                if slope:
                    found[i, k] = slope.evaluate(parameters=at)
        return found

    @cached_property
    def covariance(self) -> NDArray:
        """Of the constants, to first order."""
        scaled = self.jacobian * self.deviation
        return scaled @ scaled.T

    @cached_property
    def drawn(self) -> NDArray:
        """draws x constants: the constants of random robots."""
        random = np.random.default_rng(self.seed)
        draws = self.value + self.deviation * random.normal(size=(self.draws, len(self.value)))
        at = {name: draws[:, k] for k, name in enumerate(self.parameters)}
        return np.stack([c.formula.evaluate(parameters=at) for c in self.full.lumped.constants], axis=1)

    def constants(self) -> Spread:
        """The constants; the first-order deviation of one is its RMS combination."""
        value = np.array([float(self.full.values[name]) for name in self.names])
        return Spread(value, np.sqrt(np.diag(self.covariance)), self.drawn.std(axis=0))

    def efforts(self, q: NDArray, qd: NDArray, qdd: NDArray) -> Spread:
        """Efforts along a trajectory, each T x n: linear in the constants, so that both ways are one product."""
        phi = self._effort_functions(q, qd, qdd)
        value = phi @ self.constants().value
        first = np.sqrt(np.einsum("tik,kl,til->ti", phi, self.covariance, phi))
        drawn = np.einsum("tik,dk->dti", phi, self.drawn)
        return Spread(value, first, drawn.std(axis=0))

    def eigenvalues(self, q: NDArray) -> Spread:
        """M's eigenvalues at configurations T x n, rising; first order: d lambda = v^T dM v."""
        n, T = self.full.robot.n, len(q)
        phi = np.zeros((T, n, n, len(self.names)))
        for (entry, constant), function in self.full.functions.items():
            letter, of = indices(entry)
            if letter == "M":
                i, j, k = of[0] - 1, of[1] - 1, self.names.index(constant)
                phi[:, i, j, k] += function.evaluate(q)
                if i != j:
                    phi[:, j, i, k] = phi[:, i, j, k]
        values, vectors = np.linalg.eigh(phi @ self.constants().value)
        slope = np.einsum("tie,tijk,tje->tek", vectors, phi, vectors)
        first = np.sqrt(np.einsum("tek,kl,tel->te", slope, self.covariance, slope))
        drawn = np.linalg.eigvalsh(np.einsum("tijk,dk->dtij", phi, self.drawn))
        return Spread(values, first, drawn.std(axis=0))

    def _effort_functions(self, q: NDArray, qd: NDArray, qdd: NDArray) -> NDArray:
        """T x n x constants: what multiplies each constant in each effort."""
        phi = np.zeros((len(q), self.full.robot.n, len(self.names)))
        for (entry, constant), function in self.full.functions.items():
            letter, of = indices(entry)
            k, value = self.names.index(constant), function.evaluate(q)
            i = of[0] - 1
            if letter == "M":
                phi[:, i, k] += value * qdd[:, of[1] - 1]
                if of[0] != of[1]:
                    phi[:, of[1] - 1, k] += value * qdd[:, i]
            elif letter == "b":
                phi[:, i, k] += value * qd[:, of[1] - 1] * qd[:, of[2] - 1]
            elif letter == "c":
                phi[:, i, k] += value * qd[:, of[1] - 1] ** 2
            else:
                phi[:, i, k] += value
        return phi
