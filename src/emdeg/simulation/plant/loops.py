"""Mechanisms with closed loops for simulation, in their independent coordinates u.

    M(u) udd + C(u, ud) ud + G(u) = J^T tau,    p = M ud,    pd = J^T tau + C^T ud - G

(with Christoffel's C, dT/du = C^T ud). tau are the driven joints' efforts; their power is tau . J ud. The loops are
closed anew at every evaluation, so nothing can drift off the constraints but by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.algebra.linear import times
from emdeg.errors import ScenarioError
from emdeg.mechanics.loops import reduction as closed_loop
from emdeg.mechanics.loops.linkage import loops_of
from emdeg.mechanics.loops.newton import evaluated, newton, positions_of
from emdeg.mechanics.loops.numeric import State, accelerations, conditions, ready, stacked, weakest
from emdeg.mechanics.vectors import Scalar, total
from emdeg.programs.functions import solved
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.loop_functions import LoopState, traced_state
from emdeg.programs.simplify import simplify
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot


def is_analytic(robot: Robot) -> bool:
    """Whether the loops close in analytic steps, so that there are programs."""
    return robot.loops is None or ready(robot).plan is not None


def motors_are_coordinates(robot: Robot) -> bool:
    loops = loops_of(robot)
    return loops.coordinates == loops.driven


def _opened(robot: Robot, *functions: str) -> tuple[Tracer, LoopState]:
    tracer = Tracer()
    return tracer, traced_state(robot, tracer, functions)


def _times(A: Sequence[Sequence[Scalar]], x: Sequence[Scalar]) -> list[Scalar]:
    return [total([a * v for a, v in zip(row, x)]) for row in A]


@lru_cache(maxsize=32)
def drive_rates(robot: Robot) -> Program:
    """q, qd -> v: the driven joints' rates J qd."""
    tracer, s = _opened(robot, "bias")
    W = s.rate_map(s.position())
    v = times([W[k] for k in s.link.driven], s.qd, s.link.tree.zero)
    return simplify(tracer.program("drive_rates", {"v": v}))


@lru_cache(maxsize=32)
def velocities(robot: Robot) -> Program:
    """q, p -> qd."""
    tracer, s = _opened(robot, "mass_matrix")
    p = tracer.inputs("p", len(s.q), Dependence.RATES)
    position = s.position()
    M = closed_loop.mass_matrix(s.link, position, s.rate_map(position))
    return simplify(tracer.program("velocities", {"qd": solved(M, p, s.link.tree.one)}))


@lru_cache(maxsize=32)
def momenta(robot: Robot) -> Program:
    """q, qd -> p."""
    tracer, s = _opened(robot, "bias")
    position = s.position()
    M = closed_loop.mass_matrix(s.link, position, s.rate_map(position))
    return simplify(tracer.program("momenta", {"p": _times(M, s.qd)}))


@lru_cache(maxsize=32)
def momentum_rates(robot: Robot) -> Program:
    """q, qd, tau -> pd."""
    tracer, s = _opened(robot, "forward_dynamics")
    model = closed_loop.model(s.link, s.position(), s.qd)
    push, bent = _times(list(zip(*model.J)), s.tau), _times(list(zip(*model.C)), s.qd)
    return simplify(tracer.program("momentum_rates", {"pd": [f + c - g for f, c, g in zip(push, bent, model.G)]}))


@lru_cache(maxsize=32)
def energies(robot: Robot) -> Program:
    """q, qd -> T [J], V [J], p."""
    tracer, s = _opened(robot, "bias")
    position = s.position()
    p = _times(closed_loop.mass_matrix(s.link, position, s.rate_map(position)), s.qd)
    T = total([a * b for a, b in zip(p, s.qd)]) / 2
    return simplify(tracer.program("energies", {"T": T, "V": closed_loop.potential_energy(s.link, position), "p": p}))


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
            self.full = newton(link, full, link.dependent)

    def _state(self, q: Array, *given: Array) -> State:
        self._move(q)
        lists: list[list[Any]] = [list(values) for values in (q, *given)]
        return State(self.ready, positions_of(self.ready.link, self.full), lists, ())

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        return accelerations(self._state(q, qd, tau))

    def drive_rates(self, q: Array, qd: Array) -> Array:
        s = self._state(q)
        W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
        return stacked([W[k] for k in s.link.driven], ()) @ qd

    def energies(self, q: Array, qd: Array) -> tuple[float, float, Array]:
        s = self._state(q)
        W = closed_loop.velocity_map(s.link, closed_loop.constraint_jacobian(s.link, s.position))
        p = stacked(closed_loop.mass_matrix(s.link, s.position, W), ()) @ qd
        return float(p @ qd) / 2, float(closed_loop.potential_energy(s.link, s.position)), p


def all_joints(robot: Robot, q: Array) -> Array:
    """(..., joints of the tree): every joint along a run q (..., k, n); numeric loops are followed from the first."""
    from emdeg.mechanics.loops.numeric import joint_positions

    if is_analytic(robot):
        return joint_positions(robot, q)
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
    found = ready(robot)
    first, second, _, _ = conditions(State(found, positions_of(found.link, joints), [], joints.shape[:-1]))
    return {"first": float(first.min()), "second": float(second.min())}


def where_it_broke(robot: Robot, q: Array) -> str:
    """What to say of a run that ended near q (n,)."""
    if robot.loops is None or not np.isfinite(q).all():
        return ""
    loop, kind, size = weakest(robot, q)
    return f"; the loop {loop} is {'out of reach' if not size else f'near a singularity of the {kind}, {size:.2g}'}"
