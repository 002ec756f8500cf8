"""What a run yields: states, efforts, constants of motion, events, on a grid of times and in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from emdeg.algebra import Array
from emdeg.documents import Brief, Shown, csv_columns, table
from emdeg.errors import SimulationError
from emdeg.robot import Robot
from emdeg.simulation.plant.constants_of_motion import Invariants


@dataclass(frozen=True, slots=True)
class Event(Shown):
    """Something that happened at t [s] to a joint: 'lower limit', 'upper limit', 'bounce', ..."""

    t: float
    joint: str
    what: str


@dataclass(frozen=True, repr=False)
class Motion(Brief):
    """A run at times t (k); q, qd, tau are (k, n), or (trajectories, k, n) of a batch. SI units.

    `tau` are the efforts of the controller as they reach the joints; friction and stops are not in it. `dense` is
    the integrator's own interpolation, where it has one.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    tau: Array
    invariants: Invariants
    method: str
    events: tuple[Event, ...] = ()
    dense: Dense | None = None
    steps: int = 0
    evaluations: int = 0
    notes: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    interrupted: bool = False
    """Whether it was told to stop before its end: the times until then are all that it has."""

    @property
    def drift(self) -> dict[str, float]:
        return self.invariants.drift()

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, qd) at any times of an adaptive run, or at times of the grid."""
        times = np.asarray(t, dtype=np.float64)
        if self.dense is not None:
            x = self.dense(times)
            return x[..., : self.robot.freedoms], x[..., self.robot.freedoms : 2 * self.robot.freedoms]
        place = np.searchsorted(self.t, times - 1e-9)
        place = np.minimum(place, len(self.t) - 1)
        if np.any(np.abs(self.t[place] - times) > 1e-9):
            raise SimulationError(f"a run by {self.method} is known at its recorded times only")
        return self.q[..., place, :], self.qd[..., place, :]

    def columns(self) -> tuple[list[str], list[Array]]:
        """Names and columns of a table: time, positions, speeds, efforts, energies, balances."""
        if self.q.ndim != 2:
            raise SimulationError("a batch has no single table; take one trajectory with .one(k)")
        names, columns = ["t"], [self.t]
        moved, driven = self.robot.coordinates, self.robot.driven
        for label, values, joints in (("q", self.q, moved), ("qd", self.qd, moved), ("tau", self.tau, driven)):
            names += [f"{label}.{joint.name}" for joint in joints]
            columns += list(values.T)
        inv = self.invariants
        names += ["kinetic", "potential", "power_balance"]
        columns += [inv.kinetic, inv.potential, inv.power_balance]
        if inv.closure is not None:
            names.append("closure")
            columns.append(inv.closure)
        for m, k in enumerate(inv.joints):
            joint = self.robot.coordinates[k].name
            names += [f"momentum.{joint}", f"momentum_balance.{joint}"]
            columns += [inv.momentum[:, m], inv.momentum_balance[:, m]]
        return names, columns

    def to_csv(self) -> str:
        return csv_columns(*self.columns())

    def one(self, k: int) -> Motion:
        """Trajectory k of a batch."""
        inv = self.invariants
        kept = Invariants(
            inv.kinetic[k],
            inv.potential[k],
            inv.momentum[k],
            inv.power_balance[k],
            inv.momentum_balance[k],
            inv.joints,
            None if inv.closure is None else inv.closure[k],
        )
        return Motion(
            self.robot,
            self.t,
            self.q[k],
            self.qd[k],
            self.tau[k],
            kept,
            self.method,
            (),
            None,
            self.steps,
            self.evaluations,
            self.notes,
            self.settings,
        )

    def _repr_html_(self) -> str:
        rows = [("method", self.method), ("time", f"{self.t[0]:g} to {self.t[-1]:g} s"), ("states", str(self.q.shape))]
        rows += [(f"drift, {name}", f"{value:.3g}") for name, value in self.drift.items()]
        rows += [("event", f"{e.what} of {e.joint} at {e.t:.6g} s") for e in self.events[:20]]
        return table(self.robot.name, rows)


class Dense:
    """A run between its steps: on each step the integrator's interpolating polynomial, and its derivatives."""

    def __init__(self, pieces: Sequence[Any], degree: int) -> None:
        self._pieces = list(pieces)
        self._degree = degree
        self.breaks = np.array([pieces[0].t_old, *(piece.t for piece in pieces)])

    def __call__(self, t: ArrayLike) -> Array:
        """(..., entries): the state."""
        times = np.asarray(t, dtype=np.float64)
        flat = times.reshape(-1)
        result = np.stack([self._pieces[i](at) for i, at in zip(self._place(flat), flat)])
        return result.reshape(*times.shape, -1)

    def derivative(self, t: ArrayLike, order: int = 1) -> Array:
        """(..., entries): the state's derivative in time, of the polynomials themselves, not of the equations."""
        times = np.asarray(t, dtype=np.float64)
        flat = times.reshape(-1)
        nodes, weights, D = _chebyshev(self._degree)
        rows = []
        for i, at in zip(self._place(flat), flat):
            piece = self._pieces[i]
            half = (piece.t - piece.t_old) / 2
            values = piece(piece.t_old + half * (1 + nodes)).T
            for _ in range(order):
                # Differences to one node first: they are small, and so is the rounding that D magnifies.
                values = D @ (values - values[0]) / half
            rows.append(_interpolated(nodes, weights, values, (at - piece.t_old) / half - 1))
        return np.stack(rows).reshape(*times.shape, -1)

    def _place(self, times: Array) -> NDArray[np.intp]:
        return np.clip(np.searchsorted(self.breaks, times, side="left") - 1, 0, len(self._pieces) - 1)


@lru_cache(maxsize=8)
def _chebyshev(degree: int) -> tuple[Array, Array, Array]:
    """Nodes on [-1, 1], barycentric weights and the differentiation matrix of a polynomial."""
    k = np.arange(degree + 1)
    x = -np.cos(np.pi * k / degree)
    w = np.where(k % 2, -1.0, 1.0)
    w[[0, -1]] /= 2
    gap = x[:, None] - x[None, :] + np.eye(degree + 1)
    D = w[None, :] / w[:, None] / gap
    np.fill_diagonal(D, 0)
    np.fill_diagonal(D, -D.sum(axis=1))
    return x, w, D


def _interpolated(nodes: Array, weights: Array, values: Array, x: float) -> Array:
    gap = x - nodes
    hit = np.flatnonzero(np.abs(gap) < 1e-15)
    if hit.size:
        return values[hit[0]]
    share = weights / gap
    return (share @ values) / share.sum()
