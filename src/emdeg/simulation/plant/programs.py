"""The robot as programs for simulation: accelerations from efforts, and Hamilton's equations.

Of closed loops n counts the independent coordinates, and tau are the driven joints' efforts.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError
from emdeg.programs import Program, program
from emdeg.robot import Robot
from emdeg.runtime import compile as compile_program


def need_numbers(robot: Robot) -> None:
    """A motion needs a robot without symbols and with at least one joint."""
    if robot.symbols:
        names = ", ".join(sorted(robot.symbols)[:6])
        raise ScenarioError(f"it has symbols without a number ({names}); give them values to move it", body=robot.name)
    if not robot.freedoms:
        raise ScenarioError("it has no joint to move", body=robot.name)


@lru_cache(maxsize=64)
def robot_program(robot: Robot, *functions: str) -> Program:
    """The smallest program on file of a model's functions, remembered: deriving it twice would only cost time."""
    need_numbers(robot)
    return program(robot, functions)


def accelerations(robot: Robot) -> Program:
    """q, qd, tau -> qdd."""
    return robot_program(robot, "forward_dynamics")


def drive_rates(robot: Robot) -> Program | None:
    """q, qd -> v: the driven joints' rates; None where they are qd itself."""
    return None if robot.driven == robot.coordinates else robot_program(robot, "drive_rates")


class Compiled:
    """Accelerations and the driven joints' rates at one state, compiled, without allocation of arguments."""

    conditions = None
    """How far from singularities the last evaluation was: programs do not say."""

    def __init__(self, robot: Robot) -> None:
        n, motors = robot.freedoms, len(robot.driven)
        self._plant = compile_program(accelerations(robot), threads=1).bind(np.zeros(n), np.zeros(n), np.zeros(motors))
        drives = drive_rates(robot)
        self._drives = None if drives is None else compile_program(drives, threads=1).bind(np.zeros(n), np.zeros(n))

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        inputs = self._plant.inputs
        inputs["q"][:], inputs["qd"][:], inputs["tau"][:] = q, qd, tau
        self._plant.run()
        return self._plant.outputs["qdd"]

    def drive_rates(self, q: Array, qd: Array) -> Array:
        if self._drives is None:
            return qd
        self._drives.inputs["q"][:], self._drives.inputs["qd"][:] = q, qd
        self._drives.run()
        return self._drives.outputs["v"]


def velocities(robot: Robot) -> Program:
    """q, p -> qd: joint speeds from the generalized momenta p = M qd [kg m^2/s, kg m/s]."""
    return robot_program(robot, "velocities")


def momenta(robot: Robot) -> Program:
    """q, qd -> p = M qd [kg m^2/s, kg m/s]."""
    return robot_program(robot, "momenta")


def momentum_rates(robot: Robot) -> Program:
    """q, qd, tau -> pd: Hamilton's second equation."""
    return robot_program(robot, "momentum_rates")


def energies(robot: Robot) -> Program:
    """q, qd -> T [J], V [J], p [kg m^2/s, kg m/s]."""
    return robot_program(robot, "kinetic_energy", "potential_energy", "momenta")


__all__ = [
    "Compiled",
    "accelerations",
    "drive_rates",
    "energies",
    "momenta",
    "momentum_rates",
    "need_numbers",
    "robot_program",
    "velocities",
]
