"""Scenarios carried out: tables and summaries of what came of them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.documents import Shown, csv_columns, parquet_columns
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import inverse_dynamics
from emdeg.errors import RobotError
from emdeg.robot import Robot
from emdeg.runtime import compile as compile_program
from emdeg.simulation.integrators.adaptive import Progress
from emdeg.simulation.motion import Motion
from emdeg.simulation.plant.constants_of_motion import DriftWarning, StiffWarning
from emdeg.simulation.plant.loops import all_joints, distances
from emdeg.simulation.plant.programs import robot_program
from emdeg.simulation.run import simulate
from emdeg.simulation.scenarios.scenario import Present, Scenario
from emdeg.simulation.trajectories.joint_space import Trajectory
from emdeg.simulation.trajectories.limits import Excess, excesses


@dataclass(frozen=True)
class Prescribed(Shown):
    """A given motion and its efforts: t (k), the rest (k, n)."""

    robot: Robot
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    excesses: tuple[Excess, ...] = ()


@dataclass(frozen=True)
class Outcome(Shown):
    """What a scenario yields; `warnings` are for people, with `deg` turning joints are shown in degrees."""

    scenario: Scenario
    motion: Motion | None = None
    prescribed: Prescribed | None = None
    warnings: tuple[str, ...] = field(default=())
    deg: bool = False

    @property
    def robot(self) -> Robot:
        return self.scenario.robot

    @property
    def scale(self) -> Array:
        """(n): by what positions, speeds and accelerations are multiplied to be shown, in the order of showing."""
        joints = [self.robot.coordinates[k] for k in self.scenario.present.order]
        return np.array([180 / math.pi if self.deg and joint.kind == "revolute" else 1.0 for joint in joints])

    def shown(self) -> dict[str, Array]:
        """t, q, qd, tau, in the order and with the signs in which the scenario presents them; of a batch the first."""
        present = self.scenario.present
        run = self.prescribed or self.motion
        assert run is not None
        q, qd, tau = (v[0] if v.ndim == 3 else v for v in (run.q, run.qd, run.tau))
        order, motors = list(present.order), list(present.motors)
        signs = np.array([present.sign(k) for k in motors])
        # + 0.0: a negative zero is no result to show.
        q, qd = (v[:, order] * self.scale for v in (q, qd))
        return {"t": run.t, "q": q, "qd": qd, "tau": tau[:, motors] * signs + 0.0}


def torques(robot: Robot, trajectory: Trajectory, times: Array) -> Prescribed:
    """The efforts of a motion at `times` [s]: compiled inverse dynamics, drive inertia included, friction not."""
    q, qd, qdd = trajectory(times)
    if kind_of(robot).is_everywhere(robot):
        tau = compile_program(robot_program(robot, "inverse_dynamics"))(q, qd, qdd)
    else:
        tau = inverse_dynamics(robot, q, qd, qdd)  # says where the robot cannot be
    found = excesses(robot, times, tau=tau)
    return Prescribed(robot, np.asarray(times, dtype=np.float64), q, qd, qdd, tau, tuple(found))


def perform(scenario: Scenario, progress: Progress | None = None) -> Outcome:
    """Carry a scenario out; an error names its file."""
    try:
        return _performed(scenario, progress)
    except RobotError as problem:
        raise problem.at(file=scenario.file) from None


def _performed(scenario: Scenario, progress: Progress | None) -> Outcome:
    if scenario.mode == "torques":
        assert scenario.trajectory is not None
        count = max(1, round(scenario.duration / scenario.output_step))
        result = torques(scenario.robot, scenario.trajectory, np.linspace(0, scenario.duration, count + 1))
        return Outcome(scenario, prescribed=result, warnings=tuple(str(found) for found in result.excesses))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DriftWarning)
        warnings.simplefilter("always", StiffWarning)
        motion = simulate(
            scenario.robot,
            scenario.law,
            scenario.q0,
            scenario.qd0,
            scenario.duration,
            output_step=scenario.output_step,
            conditioning=scenario.conditioning,
            progress=progress,
            **scenario.options,
        )
    said = [str(entry.message) for entry in caught if issubclass(entry.category, DriftWarning | StiffWarning)]
    for entry in caught:
        if not issubclass(entry.category, DriftWarning | StiffWarning):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    return Outcome(scenario, motion=motion, warnings=tuple(said))


def effort_name(present: Present, robot: Robot, k: int) -> str:
    return present.efforts.get(k, f"tau.{robot.driven[k].name}")


def columns(outcome: Outcome) -> tuple[list[str], list[NDArray[Any]]]:
    """A table's names and columns: time, positions, speeds, efforts (accelerations, or energies and balances).

    They are presented as the scenario asks. Of a batch every trajectory, one after the other, with its number first.
    """
    motion = outcome.motion
    if motion is None or motion.q.ndim == 2:
        return _run_columns(outcome)
    runs = [_run_columns(replace(outcome, motion=motion.one(k))) for k in range(len(motion.q))]
    number = np.repeat(np.arange(len(runs)), len(motion.t))
    return ["trajectory", *runs[0][0]], [number, *map(np.concatenate, zip(*(values for _, values in runs)))]


def _run_columns(outcome: Outcome) -> tuple[list[str], list[Array]]:
    present, robot, shown = outcome.scenario.present, outcome.robot, outcome.shown()
    joints = [robot.coordinates[k].name for k in present.order]
    names = ["t", *(f"q.{j}" for j in joints), *(f"qd.{j}" for j in joints)]
    names += [effort_name(present, robot, k) for k in present.motors]
    values = [shown["t"], *shown["q"].T, *shown["qd"].T, *shown["tau"].T]
    if outcome.prescribed is not None:
        names += [f"qdd.{j}" for j in joints]
        return names, values + list((outcome.prescribed.qdd[:, list(present.order)] * outcome.scale).T)
    assert outcome.motion is not None
    more, rest = outcome.motion.columns()
    told = 1 + 2 * robot.freedoms + len(robot.driven)
    return names + more[told:], values + rest[told:]


def table(outcome: Outcome, form: str = "csv") -> bytes:
    """The same as a file: "csv" with all digits, or "parquet"."""
    found = columns(outcome)
    return parquet_columns(*found) if form == "parquet" else csv_columns(*found).encode()


def summary(outcome: Outcome) -> dict[str, Any]:
    """What a program wants to know of a run: samples at whole seconds, extremes, drift, events. SI units (or `deg`)."""
    scenario, robot, present = outcome.scenario, outcome.robot, outcome.scenario.present
    shown = outcome.shown()
    at = _sample_places(shown["t"])
    result: dict[str, Any] = {
        "scenario": scenario.name,
        "title": scenario.title,
        "robot": robot.name,
        "mode": scenario.mode,
        "duration": scenario.duration,
        "angles": "deg" if outcome.deg else "rad",
        "joints": [robot.coordinates[k].name for k in present.order],
        "efforts": [effort_name(present, robot, k) for k in present.motors],
        "efforts_on_inner_body": [robot.driven[k].name for k in present.motors if k in present.inner],
        "samples": {key: values[at].tolist() for key, values in shown.items()},
        "largest_speed": np.max(np.abs(shown["qd"]), axis=0).tolist(),
        "largest_effort": np.max(np.abs(shown["tau"]), axis=0).tolist(),
        "warnings": list(outcome.warnings),
    }
    motion = outcome.motion
    if motion is None:
        return result
    result |= {
        "method": motion.method,
        "law": motion.settings.get("law"),
        "steps": motion.steps,
        "evaluations": motion.evaluations,
        "drift": motion.drift,
        "free_joints": [robot.coordinates[k].name for k in motion.invariants.joints],
        "interrupted": motion.interrupted,
        "events": [{"t": event.t, "joint": event.joint, "what": event.what} for event in motion.events],
    }
    if robot.hidden:
        result["distance_from_singularity"] = distances(robot, all_joints(robot, motion.q))
    if motion.q.ndim == 3:
        last = motion.q[:, -1][:, list(present.order)] * outcome.scale
        result |= {
            "trajectories": len(motion.q),
            "final_mean": last.mean(axis=0).tolist(),
            "final_spread": (last.max(axis=0) - last.min(axis=0)).tolist(),
        }
    elif scenario.trajectory is not None:
        error = np.abs(motion.q - scenario.trajectory(motion.t)[0])
        result["tracking_error"] = (error.max(axis=0)[list(present.order)] * outcome.scale).tolist()
    return result


def _sample_places(t: Array) -> NDArray[np.intp]:
    """The records at whole seconds; of a run shorter than two seconds, or very long, ten even ones."""
    last = float(t[-1])
    if 2 <= last <= 1000:
        wanted = np.arange(math.floor(last + 1e-9) + 1, dtype=np.float64)
    else:
        wanted = np.linspace(0, last, 11)
    return np.unique(np.argmin(np.abs(t[None, :] - wanted[:, None]), axis=1))
