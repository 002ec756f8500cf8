"""What a run of a mechanism with closed loops has besides: events where ways of closing meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.errors import SimulationError
from emdeg.robot import Robot
from emdeg.simulation.motion import Event, Motion
from emdeg.simulation.plant.loops import is_analytic, met
from emdeg.simulation.trajectories.limits import SAMPLES, Trajectory


def is_stiff(robot: Robot, *of_run: Any) -> bool:
    """Mechanisms with closed loops are not linearized before a run."""
    return False


def with_meetings(robot: Robot, motion: Motion) -> Motion:
    """The run with an event wherever ways of closing met; SimulationError where it was thrown back there."""
    if motion.q.ndim != 2:
        return motion
    dense = motion.dense
    n = robot.freedoms
    t, q = motion.t, motion.q
    at: Callable[[Array], Array] | None = None
    if dense is not None and is_analytic(robot):
        t = np.unique(np.concatenate([t, dense.breaks, (dense.breaks[1:] + dense.breaks[:-1]) / 2]))
        t = t[t <= motion.t[-1]]
        q = dense(t)[:, :n]

        def poses(times: Array) -> Array:
            return dense(times)[:, :n]

        at = poses

    noted = []
    for one in met(robot, t, q, at):
        place = ", ".join(f"{joint.name} = {value:.6g}" for joint, value in zip(robot.coordinates, one.q))
        if not one.passed:
            raise SimulationError(
                f"the run comes to a dead point at t = {one.t:.6g} s, {place}: there two ways of closing meet, and the "
                "mechanism goes on in the other, which these coordinates do not tell; choose coordinates that do",
                body=robot.name,
            )
        noted.append(Event(one.t, robot.coordinates[0].name, f"ways of closing meet at {place}"))
    return replace(motion, events=tuple(sorted((*motion.events, *noted), key=lambda event: event.t)))


def need_closed_along(robot: Robot, trajectory: Trajectory) -> None:
    """ClosureError, naming the loop, where a trajectory of the coordinates leaves the reach or meets a singularity."""
    samples = SAMPLES if is_analytic(robot) else SAMPLES // 20 + 1
    kind_of(robot).need_possible(robot, trajectory(np.linspace(0, trajectory.duration, samples))[0])
