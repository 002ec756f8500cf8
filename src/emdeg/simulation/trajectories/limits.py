"""Whether a motion keeps what the robot's joints allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import drive_jacobian
from emdeg.errors import ScenarioError
from emdeg.robot import Joint, Robot
from emdeg.simulation.plant.loops import all_joints
from emdeg.simulation.trajectories.joint_space import Trajectory

SAMPLES = 2001
SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit passed: the joint, what ('position', 'speed', 'effort'), when [s], the value and the limit."""

    joint: str
    what: str
    t: float
    value: float
    limit: float

    def __str__(self) -> str:
        return f"{self.joint}: {self.what} {self.value:.6g} at t = {self.t:.4g} s is beyond the limit {self.limit:.6g}"


def excesses(
    robot: Robot, t: Array, q: Array | None = None, qd: Array | None = None, tau: Array | None = None
) -> list[Excess]:
    """The worst breach of each limit of each joint along a motion sampled at t (k), arrays (k, n)."""
    found: list[Excess] = []
    for k, joint in enumerate(robot.coordinates):
        limits = joint.limits
        low, high = (None if v is None else float(v) for v in (limits.lower, limits.upper))
        speed = None if limits.velocity is None else float(limits.velocity)
        if q is not None:
            found += _beyond(joint.name, "position", t, q[:, k], low, high)
        if qd is not None:
            found += _beyond(joint.name, "speed", t, qd[:, k], None if speed is None else -speed, speed)
        if tau is not None and k < len(robot.driven):
            found += _efforts_beyond(robot, t, tau, k)
    for k in range(len(robot.coordinates), len(robot.driven)):
        found += [] if tau is None else _efforts_beyond(robot, t, tau, k)
    return found


def _efforts_beyond(robot: Robot, t: Array, tau: Array, k: int) -> list[Excess]:
    limit = drive_limits(robot)[k]
    return _beyond(robot.driven[k].name, "effort", t, tau[:, k], -limit, limit)


def hidden_excesses(robot: Robot, t: Array, q: Array, qd: Array) -> list[Excess]:
    """The same of closed loops' joints that are no coordinates: positions of all, speeds of the driven ones."""
    if not any(_has_limits(robot.joints[k]) for k in robot.hidden):
        return []
    positions = all_joints(robot, q)
    rates = np.einsum("kij,kj->ki", drive_jacobian(robot, q), qd)
    found: list[Excess] = []
    for k in robot.hidden:
        joint = robot.joints[k]
        low, high = (None if v is None else float(v) for v in (joint.limits.lower, joint.limits.upper))
        found += _beyond(joint.name, "position", t, positions[:, k], low, high)
        if joint in robot.driven and joint.limits.velocity is not None:
            most = float(joint.limits.velocity)
            found += _beyond(joint.name, "speed", t, rates[:, robot.driven.index(joint)], -most, most)
    return found


def _has_limits(joint: Joint) -> bool:
    return any(value is not None for value in (joint.limits.lower, joint.limits.upper, joint.limits.velocity))


def _beyond(name: str, what: str, t: Array, values: Array, lower: float | None, upper: float | None) -> list[Excess]:
    """The worst breach of either bound by values (k) at t (k)."""
    found = []
    for limit, sign in ((upper, 1), (lower, -1)):
        if limit is None:
            continue
        beyond = sign * (values - limit)
        at = int(np.argmax(beyond))
        if beyond[at] > SLACK * max(1.0, abs(limit)):
            found.append(Excess(name, what, float(t[at]), float(values[at]), limit))
    return found


def need_within_limits(robot: Robot, trajectory: Trajectory) -> None:
    """An error naming the joint, the time and the limit where a trajectory passes a position or speed limit."""
    t = np.linspace(0, trajectory.duration, SAMPLES)
    knots = getattr(trajectory, "knots", None)
    if knots is not None:
        t = np.union1d(t, knots)
    q, qd, _ = trajectory(t)
    found = excesses(robot, t, q, qd) + hidden_excesses(robot, t, q, qd)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise ScenarioError(f"the trajectory leaves the robot's limits: {found[0]}{more}", body=robot.name)


def need_closed_along(robot: Robot, trajectory: Trajectory) -> None:
    """ClosureError, naming the loop, where a trajectory of the coordinates leaves the reach or meets a singularity."""
    kind = kind_of(robot)
    samples = SAMPLES if kind.has_programs(robot) else SAMPLES // 20 + 1
    kind.need_possible(robot, trajectory(np.linspace(0, trajectory.duration, samples))[0])


def need_start_within_limits(robot: Robot, q: ArrayLike, qd: ArrayLike) -> None:
    """An error where initial states (..., n) lie outside the position or speed limits."""
    at, rate = (np.atleast_2d(np.asarray(v, dtype=np.float64)) for v in (q, qd))
    found = excesses(robot, np.zeros(len(at)), at, rate) + hidden_excesses(robot, np.zeros(len(at)), at, rate)
    if found:
        raise ScenarioError(f"the run would start outside the robot's limits: {found[0]}", body=robot.name)


def drive_limits(robot: Robot) -> tuple[float, ...]:
    """Each drive's largest effort [N m, N]: its max_torque, or the joint's effort limit; infinite where unknown."""
    limits = []
    for joint in robot.driven:
        given = [value for value in (joint.drive.max_torque, joint.limits.effort) if value is not None]
        limits.append(min((float(value) for value in given), default=np.inf))
    return tuple(limits)
