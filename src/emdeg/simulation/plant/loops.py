"""Mechanisms with closed loops for simulation: loops that close numerically are followed from state to state.

The loops are closed anew at every evaluation, so nothing can drift off the constraints but by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.dynamics import kind_of, stacked
from emdeg.dynamics.functions import inverse_dynamics
from emdeg.errors import ClosureError, ScenarioError
from emdeg.loops import (
    Conditions,
    LoopState,
    conditions,
    continued,
    coordinates_of,
    functions,
    numeric_loop_state,
    open_by,
    positions_of,
    reachable,
    ready,
    signs,
    weakest,
)
from emdeg.robot import Robot, TomlTable, real
from emdeg.simulation.plant.constraints import compiled_energies
from emdeg.simulation.plant.programs import Compiled

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


def plant_at(robot: Robot, q: Array) -> Compiled | Followed:
    """Programs where the loops close in analytic steps; else the mechanism followed from q."""
    return Compiled(robot) if is_analytic(robot) else Followed(robot, q)


def run_energies(robot: Robot, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """T, V (..., k) and p (..., k, n) along a run; of one whose loops close numerically (k) and (k, n)."""
    if is_analytic(robot):
        return compiled_energies(robot)(q, qd)
    way = Followed(robot, q[0])
    T, V, p = zip(*(way.energies(a, b) for a, b in zip(q, qd)))
    return np.array(T), np.array(V), np.array(p)


def open_along(robot: Robot, q: Array) -> Array:
    """(..., k): by how much the worst loop is open along a run."""
    return open_by(robot, all_joints(robot, q))


def singularity_report(robot: Robot, q: Array) -> dict[str, Any]:
    """The smallest distances from a singularity along a run."""
    return {"distance_from_singularity": distances(robot, all_joints(robot, q))}


def torques_along(robot: Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """The efforts of a motion; an error says where the robot cannot be."""
    return inverse_dynamics(robot, q, qd, qdd)


def placed_by_all_joints(robot: Robot, table: TomlTable) -> Array | None:
    """The coordinates of a configuration in which every joint of the tree is named; its loops must be closed."""
    table.only(("q", "qd", "joints"))
    if "joints" not in table:
        return None
    given = table.subtable("joints")
    if "q" in table or given is None:
        raise table.error("give q, the independent coordinates, or joints, all of the tree's; not both", "joints")
    return coordinates_of(robot, list(given.read({joint.name: real for joint in robot.joints}).values()))


def most_stalled_steps(robot: Robot) -> int:
    """Few: the steps shrink without end towards a dead point."""
    return 60


def check_abbreviated(robot: Robot, table: TomlTable) -> None:
    """There are no abbreviated models of mechanisms with closed loops."""
    raise table.error(f"there are no abbreviated models of {kind_of(robot).name}", "model")


def free_joints(robot: Robot) -> tuple[int, ...]:
    """None is known of closed loops."""
    return ()


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
    if not np.isfinite(q).all():
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
    flips = np.flatnonzero(side[:-1] * side[1:] < 0).tolist()
    if at is None:
        return [Met(float(t[k]), q[k], True) for k in flips if min(distance[k], distance[k + 1]) < NEAR]

    def closer(times: Array, k: int) -> tuple[Array, Array]:
        """The same at other times, on the way of closing that the run is on at its place k."""
        return _first_kind(robot, *_reached(robot, at(times), joints[k]))

    found = []
    for k in flips:
        begin, end = t[k], t[k + 1]
        for _ in range(8):
            times = np.linspace(begin, end, 9)
            turned = int(np.argmax(closer(times, k)[1] != side[k]))
            begin, end = times[turned - 1], times[turned]
        middle = np.array([(begin + end) / 2])
        if closer(middle, k)[0][0] < TOUCHED:
            found.append(Met(float(middle[0]), at(middle)[0], True))
    low = (distance[1:-1] <= distance[:-2]) & (distance[1:-1] <= distance[2:]) & (side[:-2] * side[2:] > 0)
    for k in (np.flatnonzero(low) + 1).tolist():
        times = np.linspace(t[k - 1], t[k + 1], 17)
        near = closer(times, k - 1)[0]
        least = int(np.argmin(near))
        for _ in range(3):
            times = np.linspace(times[max(least - 1, 0)], times[min(least + 1, 16)], 17)
            near = closer(times, k - 1)[0]
            least = int(np.argmin(near))
        if near[least] < TOUCHED * max(distance[k - 1], distance[k + 1]):
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
