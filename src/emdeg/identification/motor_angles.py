"""Where a mechanism with closed loops stands, from the positions of its motors."""

from __future__ import annotations

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import drive_jacobian
from emdeg.errors import EmdegError, RobotError
from emdeg.robot import Robot

STEPS = 12
"""Parts of the way from the robot's start to a sample, each closed by Newton's method."""
ITERATIONS = 12
CLOSED = 1e-9
"""How far motors may be from their positions [rad, m]."""


def coordinates_from_motors(robot: Robot, motors: Array) -> Array:
    """The independent coordinates (m, n) in which the driven joints stand at `motors` (m, n) [rad, m].

    All samples are reached from the robot's start along straight ways of the motors, so that they close in its mode;
    a sample with a gap (NaN) has one again. RobotError names the sample that is not reached.
    """
    home = kind_of(robot).home(robot)
    whole = np.isfinite(motors).all(axis=1)
    q = np.tile(home, (int(whole.sum()), 1))
    start = _driven(robot, home[None])
    way = _turned(robot, motors[whole] - start)
    for step in range(1, STEPS + 1):
        q = _newton(robot, q, start + way * (step / STEPS))
    found = np.full((len(motors), len(home)), np.nan)
    found[whole] = q
    return found


def coordinate_rates(robot: Robot, q: Array, motor_rates: Array) -> Array:
    """The coordinates' rates (m, n) at the driven joints' rates (m, n)."""
    return np.linalg.solve(drive_jacobian(robot, q), motor_rates[..., None])[..., 0]


def _newton(robot: Robot, q: Array, motors: Array) -> Array:
    missed = motors
    for _ in range(ITERATIONS):
        try:
            missed = _turned(robot, motors - _driven(robot, q))
            if np.abs(missed).max(initial=0.0) < CLOSED:
                return q
            q = q + coordinate_rates(robot, q, missed)
        except (EmdegError, np.linalg.LinAlgError) as problem:
            raise RobotError(f"its motors cannot stand as the log says: {problem}", body=robot.name) from None
    worst = int(np.abs(missed).max(axis=1).argmax())
    words = f"its motors cannot stand as sample {worst + 1} of the log says, in the mode in which it starts"
    raise RobotError(words, body=robot.name)


def _driven(robot: Robot, q: Array) -> Array:
    places = [robot.joints.index(joint) for joint in robot.driven]
    return kind_of(robot).joint_positions(robot, q)[..., places]


def _turned(robot: Robot, difference: Array) -> Array:
    """Differences of angles the short way round."""
    turns = np.array([joint.kind == "revolute" for joint in robot.driven])
    return np.where(turns, (difference + np.pi) % (2 * np.pi) - np.pi, difference)
