"""Mechanisms with closed loops for simulation: loops that close numerically are followed from state to state.

The loops are closed anew at every evaluation, so nothing can drift off the constraints but by rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError
from emdeg.mechanics import kind_of, stacked
from emdeg.mechanics.loops import (
    LoopState,
    closed_by_newton,
    conditions,
    evaluated,
    functions,
    numeric_loop_state,
    positions_of,
    ready,
    weakest,
)
from emdeg.robot import Robot


def is_analytic(robot: Robot) -> bool:
    """Whether the loops close in analytic steps, so that there are programs."""
    return kind_of(robot).has_programs(robot)


class Followed:
    """A mechanism whose loops close numerically only: every evaluation begins where the last one ended."""

    def __init__(self, robot: Robot, q: Array | None = None) -> None:
        self.robot, self.ready = robot, ready(robot)
        self.full = self.ready.start
        if q is not None:
            self._move(q, strides=8)

    def _move(self, q: Array, strides: int = 1) -> None:
        link, at = self.ready.link, list(self.ready.link.coordinates)
        begin = self.full[at]
        for k in range(1, strides + 1):
            full = self.full.copy()
            full[at] = begin + (q - begin) * (k / strides)
            self.full = closed_by_newton(link, full, link.dependent)

    def _state(self, q: Array, **given: Array) -> LoopState:
        self._move(q)
        return numeric_loop_state(self.ready, positions_of(self.ready.link, self.full), {"q": q, **given})

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        return stacked(functions.forward_dynamics(self._state(q, qd=qd, tau=tau))["qdd"], ())

    def drive_rates(self, q: Array, qd: Array) -> Array:
        return stacked(functions.drive_rates(self._state(q, qd=qd))["v"], ())

    def energies(self, q: Array, qd: Array) -> tuple[float, float, Array]:
        s = self._state(q, qd=qd)
        p = stacked(functions.momenta(s)["p"], ())
        return float(p @ qd) / 2, float(functions.potential_energy(s)["V"]), p


def all_joints(robot: Robot, q: Array) -> Array:
    """(..., joints of the tree): every joint along a run q (..., k, n); numeric loops are followed from the first."""
    if is_analytic(robot):
        return kind_of(robot).joint_positions(robot, q)
    if q.ndim != 2:
        raise ScenarioError("its loops close numerically: one trajectory at a time", body=robot.name)
    way = Followed(robot, q[0])
    rows = []
    for place in q:
        way._move(place)
        rows.append(way.full)
    return np.stack(rows)


def followed_energies(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """T, V (k) and p (k, n) along a run of a mechanism whose loops close numerically."""
    way = Followed(robot, q[0])
    T, V, p = zip(*(way.energies(a, b) for a, b in zip(q, qd)))
    return np.array(T), np.array(V), np.array(p)


def open_by(robot: Robot, joints: Array) -> Array:
    """(...): by how much [m, m^2, 1] the worst loop misses at configurations of all joints."""
    _, values, _ = evaluated(replace(ready(robot).link, rows=None), joints)
    return np.abs(values).max(axis=-1)


def distances(robot: Robot, joints: Array) -> dict[str, float]:
    """The smallest distances from a singularity of either kind over configurations (k, joints of the tree)."""
    link = ready(robot).link
    found = conditions(link, positions_of(link, joints))
    return {"first": float(found.first.min()), "second": float(found.second.min())}


def where_it_broke(robot: Robot, q: Array) -> str:
    """What to say of a run that ended near q (n,)."""
    if not robot.hidden or not np.isfinite(q).all():
        return ""
    loop, kind, size = weakest(robot, q)
    return f"; the loop {loop} is {'out of reach' if not size else f'near a singularity of the {kind}, {size:.2g}'}"
