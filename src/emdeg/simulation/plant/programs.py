"""The robot as programs for simulation: accelerations from efforts, and Hamilton's equations.

Of closed loops n counts the independent coordinates, and tau are the driven joints' efforts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.algebra.dual import Dual, derivative
from emdeg.errors import ScenarioError
from emdeg.mechanics.formulations import composite_body
from emdeg.mechanics.formulations.energy import kinetic_energy, potential_energy
from emdeg.mechanics.mechanism import Mechanism, frames, mechanism
from emdeg.mechanics.parameters.base import regrouped_mechanism
from emdeg.mechanics.variants.link_frame_recursion import link_frame_recursion
from emdeg.programs.best import program
from emdeg.programs.functions import solved
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.simplify import simplify
from emdeg.programs.trace import Tracer
from emdeg.robot.model import Robot
from emdeg.runtime import compile as compile_program
from emdeg.simulation.plant import loops as closed_plant


def need_numbers(robot: Robot) -> None:
    """A motion needs a robot without symbols and with at least one joint."""
    if robot.symbols:
        names = ", ".join(sorted(robot.symbols)[:6])
        raise ScenarioError(f"it has symbols without a number ({names}); give them values to move it", body=robot.name)
    if not robot.freedoms:
        raise ScenarioError("it has no joint to move", body=robot.name)


@lru_cache(maxsize=64)
def robot_program(robot: Robot, function: str) -> Program:
    """The smallest program on file of a model's function, remembered: deriving it twice would only cost time."""
    need_numbers(robot)
    return program(robot, function)


def accelerations(robot: Robot) -> Program:
    """q, qd, tau -> qdd."""
    return robot_program(robot, "forward_dynamics")


def drive_rates(robot: Robot) -> Program | None:
    """q, qd -> v: the driven joints' rates; None where they are qd itself."""
    if robot.loops is None or closed_plant.motors_are_coordinates(robot):
        return None
    return closed_plant.drive_rates(robot)


class Compiled:
    """Accelerations and the driven joints' rates at one state, compiled, without allocation of arguments."""

    def __init__(self, robot: Robot) -> None:
        n = robot.freedoms
        self._plant = compile_program(accelerations(robot), threads=1).bind(np.zeros(n), np.zeros(n), np.zeros(n))
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


@lru_cache(maxsize=32)
def velocities(robot: Robot) -> Program:
    """q, p -> qd: joint speeds from the generalized momenta p = M qd [kg m^2/s, kg m/s]."""
    if robot.loops is not None:
        return closed_plant.velocities(robot)
    tracer, mech, position = _traced(robot)
    p = tracer.inputs("p", robot.freedoms, Dependence.RATES)
    M = composite_body.mass_matrix(mech, frames(mech, position))
    return simplify(tracer.program("velocities", {"qd": solved(M, p, mech.one)}))


@lru_cache(maxsize=32)
def momenta(robot: Robot) -> Program:
    """q, qd -> p = M qd [kg m^2/s, kg m/s]."""
    if robot.loops is not None:
        return closed_plant.momenta(robot)
    tracer, mech, position = _traced(robot)
    qd = tracer.inputs("qd", robot.freedoms, Dependence.RATES)
    rest = [mech.zero] * robot.freedoms
    return simplify(
        tracer.program("momenta", {"p": link_frame_recursion(mech, frames(mech, position), rest, qd, gravity=False)})
    )


@lru_cache(maxsize=32)
def momentum_rates(robot: Robot) -> Program:
    """q, qd, tau -> pd: Hamilton's second equation, pd = tau + dT/dq - g.

    With Christoffel's C, M-dot = C + C^T, so dT/dq = C^T qd = M-dot qd - C qd: the first is the derivative of the
    momentum along the motion at constant qd, the second the bias without gravity.
    """
    if robot.loops is not None:
        return closed_plant.momentum_rates(robot)
    tracer, mech, position = _traced(robot)
    n = robot.freedoms
    qd = tracer.inputs("qd", n, Dependence.RATES)
    tau = tracer.inputs("tau", n, Dependence.RATES)
    moving = []
    for k, at in enumerate(position):
        if mech.revolute[k]:
            s, c = at
            moving.append((Dual(s, {0: c * qd[k]}), Dual(c, {0: -s * qd[k]})))
        else:
            moving.append(Dual(at, {0: qd[k]}))
    rest = [mech.zero] * n
    carried = link_frame_recursion(mech, frames(mech, moving), rest, qd, gravity=False)
    bias = link_frame_recursion(mech, frames(mech, position), qd, rest)
    rates = [tau[i] + derivative(carried[i], 0, mech.zero) - bias[i] for i in range(n)]
    return simplify(tracer.program("momentum_rates", {"pd": rates}))


@lru_cache(maxsize=32)
def energies(robot: Robot) -> Program:
    """q, qd -> T [J], V [J], p [kg m^2/s, kg m/s]."""
    if robot.loops is not None:
        return closed_plant.energies(robot)
    tracer, _, position = _traced(robot)
    mech = mechanism(robot, tracer)  # energies need the whole inertias: grouping moves the potential's zero
    qd = tracer.inputs("qd", robot.freedoms, Dependence.RATES)
    frame = frames(mech, position)
    p = link_frame_recursion(mech, frame, [mech.zero] * robot.freedoms, qd, gravity=False)
    outputs = {"T": kinetic_energy(mech, frame, qd), "V": potential_energy(mech, frame), "p": p}
    return simplify(tracer.program("energies", outputs))


def _traced(robot: Robot) -> tuple[Tracer, Mechanism, list[Any]]:
    need_numbers(robot)
    tracer = Tracer()
    mech = regrouped_mechanism(robot, tracer)
    q = tracer.inputs("q", robot.freedoms, Dependence.CONFIGURATION, tuple(joint.name for joint in robot.coordinates))
    position = [tracer.sincos_of(x) if turning else x for x, turning in zip(q, mech.revolute)]
    return tracer, mech, position


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
