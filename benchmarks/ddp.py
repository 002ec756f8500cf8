"""Differential dynamic programming in a hundred lines: a motion of least effort, its derivatives in batches.

The trapezoidal rule makes z = (q, qd, qdd) at one time linear in z and the acceleration at the time before and after:
z' = A z + B v. All that bends is what a time costs, the squared torques, so that a sweep back and forth over the times
is a step of Newton's method, with torques, their derivatives and their weighted Hessian at all times from three calls.
Limits and the goal are kept by multipliers (augmented Lagrangian).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import emdeg
from emdeg.algebra import Array
from motions import SMOOTH, Motion

STEPS = 0.5 ** np.arange(12)
INNER, OUTER = 60, 30
EXACT = 1e-9
"""[rad, rad/s, shares of a torque]: by how much a limit or the goal may be missed."""


class Effort:
    """What a motion costs, with multipliers for its limits: for the torques, the joints and speeds, and the goal."""

    def __init__(self, robot: str, motion: Motion, intervals: int) -> None:
        self.motion, self.h = motion, motion.seconds / intervals
        names = ("inverse_dynamics", "inverse_dynamics_derivatives+mass_matrix", "inverse_dynamics_hessian")
        self.torques, self.slopes, self.second = (emdeg.compile(emdeg.program(robot, name)) for name in names)
        n, many = len(motion.start), intervals + 1
        self.n, self.weight = n, np.full((many, 1), 2 * self.h)
        self.weight[[0, -1]] /= 2
        self.high = np.concatenate([np.ones(n), motion.upper, motion.fastest])
        self.low = np.concatenate([-np.ones(n), motion.lower, -motion.fastest])
        self.end = np.concatenate([motion.goal, np.zeros(n)])
        self.above, self.below, self.missed = np.zeros((many, 3 * n)), np.zeros((many, 3 * n)), np.zeros(2 * n)
        self.stiff = 10.0

    def held(self, z: Array) -> Array:
        """(..., times, 3 n): shares of the torques, positions, speeds."""
        parts = np.split(z, 3, axis=-1)
        return np.concatenate([self.torques(*parts) / self.motion.strongest, *parts[:2]], axis=-1)

    def plain(self, z: Array) -> Array:
        share = self.held(z)[..., : self.n]
        return (self.weight / 2 * share**2 + SMOOTH * z[..., 2 * self.n :] ** 2).sum((-2, -1))

    def pushed(self, z: Array) -> tuple[Array, Array, Array]:
        """The multipliers that limits have come to, above and below, and the goal's."""
        x, miss = self.held(z), z[..., -1, : 2 * self.n] - self.end
        above = np.maximum(0, self.above + self.stiff * (x - self.high))
        return above, np.maximum(0, self.below + self.stiff * (self.low - x)), self.missed + self.stiff * miss

    def value(self, z: Array) -> Array:
        above, below, missed = self.pushed(z)
        return self.plain(z) + ((above**2 + below**2).sum((-2, -1)) + (missed**2).sum(-1)) / (2 * self.stiff)

    def bends(self, z: Array, exact: bool) -> tuple[Array, Array]:
        """Gradients (times, 3 n) and Hessians by z; not `exact`: without what the torques' own Hessian adds."""
        n, (above, below, missed) = self.n, self.pushed(z)
        parts = [np.ascontiguousarray(part) for part in np.split(z, 3, axis=-1)]
        strong, share = self.motion.strongest, self.torques(*parts) / self.motion.strongest
        J = np.concatenate(self.slopes(*parts), axis=-1) / strong[:, None]
        push, stiff = above - below, self.stiff * ((above > 0) | (below > 0))
        by_share = self.weight * share + push[:, :n]
        g = np.einsum("kij,ki->kj", J, by_share)
        H = np.einsum("kij,ki,kil->kjl", J, self.weight + stiff[:, :n], J)
        if exact:
            i, j = np.tril_indices(3 * n)
            lower = self.second(*parts, by_share / strong)
            H[:, i, j] += lower
            H[:, j, i] += np.where(i == j, 0, lower)
        g[:, : 2 * n] += push[:, n:]
        g[:, 2 * n :] += 2 * SMOOTH * parts[2]
        g[-1, : 2 * n] += missed
        more = np.concatenate([stiff[:, n:], np.full((len(z), n), 2 * SMOOTH)], axis=1)
        more[-1, : 2 * n] += self.stiff
        H[:, range(3 * n), range(3 * n)] += more
        return g, H


def newton(effort: Effort, z: Array, exact: bool) -> Array:
    """The step from a motion to the lowest point of its second-order model; LinAlgError where that has none."""
    n, h, (g, H) = effort.n, effort.h, effort.bends(z, exact)
    one, none = np.eye(n), np.zeros((n, n))
    A = np.block([[one, h * one, h**2 / 4 * one], [none, one, h / 2 * one], [none, none, none]])
    B = np.concatenate([h**2 / 4 * one, h / 2 * one, one])
    first = np.concatenate([none, none, one])  # at the start nothing but the acceleration is free
    slope, V, gains = g[-1], H[-1], []
    for k in range(len(z) - 1, -1, -1):
        into = first if k == 0 else B
        root = np.linalg.inv(np.linalg.cholesky(into.T @ V @ into))
        ahead, back = (-root.T @ (root @ (into.T @ b)) for b in (slope, V @ A))
        gains.append((into, ahead, back))
        if k:
            through = A + into @ back
            slope, V = g[k - 1] + through.T @ slope + through.T @ V @ (into @ ahead), H[k - 1] + through.T @ V @ through
    step, d = [], np.zeros(3 * n)
    for k, (into, ahead, back) in enumerate(reversed(gains)):
        d = (A @ d if k else d) + into @ (ahead + (back @ d if k else 0))
        step.append(d)
    return np.array(step)


def least_effort(robot: str, motion: Motion, intervals: int) -> dict[str, Any]:
    """The optimum: its objective, its duration [s], the sweeps that it took."""
    effort, n, sweeps = Effort(robot, motion, intervals), len(motion.start), 0
    z = np.zeros((intervals + 1, 3 * n))
    z[:, :n] = motion.start
    for _ in range(OUTER):
        for _ in range(INNER):
            sweeps += 1
            try:
                step = newton(effort, z, exact=True)
            except np.linalg.LinAlgError:
                step = newton(effort, z, exact=False)
            here, tried = effort.value(z), effort.value(z + STEPS[:, None, None] * step)
            won = here - tried.min()
            if won > 0:
                z = z + STEPS[np.argmin(tried)] * step
            if not won >= 1e-13 * abs(here):
                break
        x, miss = effort.held(z), np.abs(z[-1, : 2 * n] - effort.end).max()
        worst = max(miss, (x - effort.high).max(), (effort.low - x).max())
        if worst < EXACT:
            return {"objective": float(effort.plain(z)), "seconds": motion.seconds, "iterations": sweeps}
        effort.above, effort.below, effort.missed = effort.pushed(z)
        effort.stiff = min(10 * effort.stiff, 1e6)
    raise SystemExit(f"no motion of least effort within {OUTER} rounds: {worst:.1e} is left")
