"""Joint friction over doubles: viscous, Coulomb, Stribeck."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.errors import RobotError
from emdeg.robot.model import Robot


def friction(robot: Robot, qd: ArrayLike) -> Array:
    """(..., n) [N m, N]: the effort that overcomes friction at the speeds qd; zero at rest.

    viscous qd + (coulomb + (stribeck - coulomb) exp(-(qd / stribeck_velocity)^2)) sign(qd). Break-away torque is
    what a resting joint can hold and is not part of it.
    """
    speed = np.asarray(qd, dtype=np.float64)
    result = np.zeros_like(speed)
    for k, joint in enumerate(robot.joints):
        law = joint.drive.friction
        values = [law.viscous, law.coulomb, law.stribeck, law.stribeck_velocity]
        if any(value is not None and value.symbols for value in values):
            raise RobotError("its friction has symbols without a number", body=joint.name)
        v = speed[..., k]
        dry = float(law.coulomb) * np.ones_like(v)
        if law.stribeck is not None and law.stribeck_velocity:
            peak = float(law.stribeck) - float(law.coulomb)
            dry = dry + peak * np.exp(-((v / float(law.stribeck_velocity)) ** 2))
        result[..., k] = float(law.viscous) * v + dry * np.sign(v)
    return result
