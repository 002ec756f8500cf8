"""A motion of the page's robot under a controller, from one configuration to another, and its curves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import BLUE, GREEN, INK, ORANGE, Drawing, svg
from emdeg.errors import BadRequest, RobotError
from emdeg.loops import joint_positions
from emdeg.reports import Curve, Subject, curves
from emdeg.robot import Robot
from emdeg.simulation import Law, Motion, PointToPoint, abbreviated_model, computed_torque, pd, quintic, simulate

FRAMES = 160
NAMES, DASHES = ("exact", "short"), ((), (5.0, 3.0))
LONGEST = 60.0
"""Seconds of a simulated motion."""


def moved(robot: Robot, data: Mapping[str, Any], tell: Callable[[Any], None]) -> dict[str, Any]:
    """The run as plain data: every joint's positions for the picture, curves of efforts, energy and tracking error.

    `start`, `goal` [rad, m]; `seconds`; `controller`; `gain`: the loop's natural frequency [rad/s].
    """
    if robot.symbols:
        raise RobotError("its parameters are symbols: a motion needs numbers", body=robot.name)
    start, goal = (_configuration(robot, data[key]) for key in ("start", "goal"))
    seconds, gain = float(data["seconds"]), float(data["gain"])
    if not 0.01 <= seconds <= LONGEST or not 0.1 <= gain <= 200:
        raise BadRequest(f"a motion takes 0.01 to {LONGEST:g} s; a gain lies between 0.1 and 200 rad/s")
    controller = str(data["controller"])
    wanted = quintic(start, goal, seconds)
    tell({"doing": "simulating"})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rest, step = np.zeros_like(start), seconds / FRAMES
        runs = [
            simulate(robot, law, start, rest, seconds, output_step=step)
            for law in _laws(robot, controller, gain, wanted)
        ]
    motion = runs[0]
    ideal = np.array([wanted(t)[0] for t in motion.t])
    tree = joint_positions(robot, motion.q) if robot.hidden else motion.q
    return {
        "t": _numbers(motion.t),
        "q": [_numbers(row) for row in tree],
        "coordinates": [_numbers(row) for row in motion.q],
        "qd": [_numbers(row) for row in motion.qd],
        "figures": [svg(one) for one in _figures(robot, runs, ideal, controller)],
        "errors": [] if controller == "none" else [float(np.abs(one.q - ideal[: len(one.t)]).max()) for one in runs],
        "events": [f"{event.t:.3f} s: {event.joint}, {event.what}" for event in motion.events[:50]],
        "warnings": [str(one.message) for one in said[:10]],
        "drift": {key: float(value) for key, value in motion.drift.items()},
    }


def _configuration(robot: Robot, values: Sequence[float]) -> Array:
    found = np.array(values, dtype=float)
    if found.shape != (robot.freedoms,) or not np.isfinite(found).all():
        raise BadRequest("the state does not fit the robot")
    return found


def _laws(robot: Robot, controller: str, gain: float, wanted: PointToPoint) -> list[Law | None]:
    kp, kd = np.full(robot.freedoms, gain**2), np.full(robot.freedoms, 2 * gain)
    match controller:
        case "none":
            return [None]
        case "computed torque":
            return [computed_torque(robot, kp, kd, wanted)]
        case "computed torque, exact and short model":
            short = abbreviated_model(robot)
            return [computed_torque(robot, kp, kd, wanted), computed_torque(robot, kp, kd, wanted, model=short)]
        case "PD with gravity":
            own = _inertia(robot)
            return [pd(robot, kp * own, kd * own, wanted)]
    raise BadRequest(f"there is no controller {controller!r}")


def _inertia(robot: Robot) -> Array:
    """What each joint feels at the middle of the sample motion: a PD's gains have the robot's own scale."""
    from emdeg.dynamics.functions import numeric

    q = Subject(robot).motion.q
    return np.diagonal(numeric.mass_matrix(robot, q[len(q) // 2]))


def _figures(robot: Robot, runs: Sequence[Motion], ideal: Array, controller: str) -> list[Drawing]:
    """Curves of the runs, the second dashed: efforts and errors, or positions of a robot that falls; energies."""
    motion = runs[0]
    t = _numbers(motion.t)

    def rows(values: Callable[[Motion], Array], colour: str) -> list[Curve]:
        lines = [tuple(_numbers(values(run)[: len(t)])) for run in runs]
        return [Curve(name, line, shade, dash) for name, line, shade, dash in zip(NAMES, lines, (colour, INK), DASHES)]

    drawn = []
    if controller != "none":
        for k, joint in enumerate(robot.driven):
            unit = "N m" if joint.kind == "revolute" else "N"
            found = rows(lambda run, k=k: run.tau[:, k], BLUE)
            drawn.append(curves(t, found, f"effort of {joint.name}", "time [s]", unit))
        for k, joint in enumerate(robot.coordinates):
            unit = "rad" if joint.kind == "revolute" else "m"
            found = rows(lambda run, k=k: run.q[:, k] - ideal[: len(run.t), k], ORANGE)
            drawn.append(curves(t, found, f"tracking error of {joint.name}", "time [s]", unit))
    else:
        for k, joint in enumerate(robot.coordinates):
            unit = "rad" if joint.kind == "revolute" else "m"
            found = rows(lambda run, k=k: run.q[:, k], BLUE)
            drawn.append(curves(t, found, f"position of {joint.name}", "time [s]", unit))
    energy = motion.invariants
    energies = [
        Curve("kinetic", tuple(_numbers(energy.kinetic)), GREEN),
        Curve("potential", tuple(_numbers(energy.potential)), INK, (6.0, 3.0)),
    ]
    drawn.append(curves(t, energies, "kinetic (green) and potential energy", "time [s]", "J"))
    return drawn


def _numbers(values: Array) -> list[float]:
    return [float(f"{v:.9g}") for v in values]
