"""Mechanisms with closed loops for simulation: loops that close numerically are followed from state to state.

The loops are closed anew at every evaluation, so nothing can drift off the constraints but by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.dynamics import kind_of, stacked
from emdeg.errors import ClosureError, ScenarioError
from emdeg.loops import (
    Conditions,
    LoopState,
    conditions,
    continued,
    evaluated,
    functions,
    numeric_loop_state,
    positions_of,
    reachable,
    ready,
    signs,
    weakest,
)
from emdeg.robot import Robot

Truths = NDArray[np.bool_]


def is_analytic(robot: Robot) -> bool:
    """Whether the loops close in analytic steps, so that there are programs."""
    return kind_of(robot).has_programs(robot)


class Followed:
    """A mechanism whose loops close numerically only: every evaluation begins where the last one ended.

    The first begins at the closed configuration `begin` of all joints (the robot's own at q, where none is given).
    """

    def __init__(self, robot: Robot, q: Array, begin: Array | None = None) -> None:
        self.robot, self.ready = robot, ready(robot)
        self.full = kind_of(robot).joint_positions(robot, q) if begin is None else begin
        self._lost: Array | None = None

    def joints(self, q: Array) -> Array:
        """Every joint with the coordinates at q; ClosureError where continuation does not lead there."""
        link = self.ready.link
        if not np.array_equal(q, self.full[list(link.coordinates)]):
            self.full, _ = continued(link, self.full, q)
        return self.full

    def _state(self, q: Array, **given: Array) -> LoopState:
        return numeric_loop_state(self.ready, positions_of(self.ready.link, self.joints(q)), {"q": q, **given})

    def _is_reached(self, q: Array) -> bool:
        """Whether the loops could be followed to q; a pose that was lost is not looked for twice."""
        if not np.isfinite(q).all() or (self._lost is not None and np.array_equal(q, self._lost)):
            return False
        try:
            self.joints(q)
        except ClosureError:
            self._lost = q.copy()
            return False
        return True

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """NaN out of reach, as a program's are: the integrator then takes a shorter step."""
        if not self._is_reached(q):
            return np.full(len(q), np.nan)
        return stacked(functions.forward_dynamics(self._state(q, qd=qd, tau=tau))["qdd"], ())

    def drive_rates(self, q: Array, qd: Array) -> Array:
        """NaN out of reach."""
        if self.robot.driven == self.robot.coordinates:
            return qd
        if not self._is_reached(q):
            return np.full(len(self.robot.driven), np.nan)
        return stacked(functions.drive_rates(self._state(q, qd=qd))["v"], ())

    @property
    def conditions(self) -> Conditions:
        """How far from singularities the last evaluation was."""
        return conditions(self.ready.link, positions_of(self.ready.link, self.full))

    def energies(self, q: Array, qd: Array) -> tuple[float, float, Array]:
        s = self._state(q, qd=qd)
        p = stacked(functions.momenta(s)["p"], ())
        return float(p @ qd) / 2, float(functions.potential_energy(s)["V"]), p


def all_joints(robot: Robot, q: Array, begin: Array | None = None) -> Array:
    """(..., joints of the tree): every joint along a run q (..., k, n); numeric loops are followed from the first.

    `begin`: all joints at a place of the run, from which the first is reached.
    """
    if is_analytic(robot):
        return kind_of(robot).joint_positions(robot, q)
    if q.ndim != 2:
        raise ScenarioError("its loops close numerically: one trajectory at a time", body=robot.name)
    way = Followed(robot, q[0], begin)
    return np.stack([way.joints(place) for place in q])


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


NEAR = 0.05
"""A pose counts as near a singularity where its distance, 0 to 1, is below this."""
TOUCHED = 1e-3
"""A distance counts as zero where it is below this share of what it is a little before and after."""


def where_it_broke(robot: Robot, q: Array, found: Conditions | None = None) -> str:
    """What to say of a run that ended near q (n,); `found`: how far from singularities that is, where it is known."""
    if not robot.hidden or not np.isfinite(q).all():
        return ""
    loop, kind, size = weakest(robot, q) if found is None else found.nearest
    at = ", ".join(f"{joint.name} = {value:.6g}" for joint, value in zip(robot.coordinates, q))
    if not size:
        return f"; the loop {loop} is out of reach at {at}"
    if size > NEAR:
        return f"; no singularity is near at {at} (the nearest, of the {kind}, {size:.2g} away)"
    return f"; the loop {loop} is near a singularity of the {kind}, {size:.2g}, at {at}"


@dataclass(frozen=True, slots=True)
class Met:
    """Where two ways of closing met in a run: when [s], where, whether the run went straight on through it."""

    t: float
    q: Array
    passed: bool


def met(robot: Robot, t: Array, q: Array, at: Callable[[Array], Array] | None) -> list[Met]:
    """Where a run q (k, n) at times t touches a singularity of the first kind, at which ways of closing meet.

    Straight through, the equations' determinant changes its sign. A run that touches zero and keeps the sign was thrown
    back: its mechanism would have gone on in another way of closing, which fixed signs cannot tell. `at`: the run's q
    (k, n) at any times, to look closer with.
    """
    joints, there = _reached(robot, q)
    distance, side = _first_kind(robot, joints, there)
    flips = np.flatnonzero(side[:-1] * side[1:] < 0)
    if at is None:
        near = [k for k in flips if min(distance[k], distance[k + 1]) < NEAR]
        return [Met(float(t[k]), q[k], True) for k in near]

    def closer(times: Array, k: int) -> tuple[Array, Array]:
        """The same at other times, on the way of closing that the run is on at its place k."""
        return _first_kind(robot, *_reached(robot, at(times), joints[k]))

    found = []
    for k in map(int, flips):
        begin, end = t[k], t[k + 1]
        for _ in range(8):
            times = np.linspace(begin, end, 9)
            turned = int(np.argmax(closer(times, k)[1] != side[k]))
            begin, end = times[turned - 1], times[turned]
        middle = np.array([(begin + end) / 2])
        if closer(middle, k)[0][0] < TOUCHED:
            found.append(Met(float(middle[0]), at(middle)[0], True))
    low = (distance[1:-1] <= distance[:-2]) & (distance[1:-1] <= distance[2:]) & (side[:-2] * side[2:] > 0)
    for k in map(int, np.flatnonzero(low) + 1):
        rim, times = max(distance[k - 1], distance[k + 1]), np.linspace(t[k - 1], t[k + 1], 17)
        for _ in range(3):
            least = int(np.argmin(closer(times, k - 1)[0]))
            times = np.linspace(times[max(least - 1, 0)], times[min(least + 1, 16)], 17)
        near = closer(times, k - 1)[0]
        least = int(np.argmin(near))
        if near[least] < TOUCHED * rim:
            found.append(Met(float(times[least]), at(times[least : least + 1])[0], False))
    return sorted(found, key=lambda one: one.t)


def _reached(robot: Robot, q: Array, begin: Array | None = None) -> tuple[Array, Truths]:
    """(every joint at poses q (k, n), which of them are reached); numeric loops are followed from `begin`."""
    there = reachable(robot, q) if is_analytic(robot) else np.ones(len(q), dtype=bool)
    joints = np.full((len(q), robot.n), np.nan)
    if there.any():
        joints[there] = all_joints(robot, q[there], begin)
    return joints, there


def _first_kind(robot: Robot, joints: Array, there: Truths) -> tuple[Array, Array]:
    """(distance from a singularity of the first kind, the determinant's sign); 0 where it is not `there`."""
    link = ready(robot).link
    distance, side = np.zeros(len(joints)), np.zeros(len(joints))
    if there.any():
        q = joints[there]
        distance[there], side[there] = conditions(link, positions_of(link, q)).first, signs(link, q)
    return distance, side
