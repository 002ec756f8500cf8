"""Scenarios: a file that says what a robot shall do, read and checked before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.approximation import JOINT_SIGNIFICANCE, SIGNIFICANCE
from emdeg.documents import Shown
from emdeg.dynamics import kind_of
from emdeg.errors import RobotError, ScenarioError, TooLarge
from emdeg.loops import coordinates_of
from emdeg.programs import Program
from emdeg.robot import (
    Remarks,
    Robot,
    TomlDocument,
    TomlTable,
    flag,
    joint_index,
    joint_list,
    need_table,
    optional_real,
    per_joint,
    read_text,
    real,
)
from emdeg.simulation.controllers import laws
from emdeg.simulation.controllers.conditioning import Conditioning, converter_steps
from emdeg.simulation.controllers.laws import Law
from emdeg.simulation.integrators.adaptive import SOLVERS
from emdeg.simulation.integrators.methods import METHODS, OLD_NAMES
from emdeg.simulation.plant.programs import need_numbers
from emdeg.simulation.scenarios.trajectory_table import KEYS, trajectory_from
from emdeg.simulation.trajectories.joint_space import Trajectory, positive
from emdeg.simulation.trajectories.limits import drive_limits

MOST_STEPS = 10**9
MOST_NUMBERS = 2 * 10**8
"""A run may take so many steps and record so many numbers (1.6 GB)."""

THRESHOLDS = {"significance": SIGNIFICANCE, "joint_significance": JOINT_SIGNIFICANCE}
BELIEF = ("model", *THRESHOLDS)
"""Keys of a controller that works with a model of the robot, and the rule that shortens it."""

_TOP = (
    "schema",
    "name",
    "title",
    "source",
    "robot",
    "mode",
    "duration",
    "initial",
    "trajectory",
    "controller",
    "integration",
    "effects",
    "batch",
    "present",
)


@dataclass(frozen=True)
class Present:
    """How results are shown: the joints' order, and the joints whose effort is stated as acting on the inner body.

    `efforts` are the names of efforts by joint index, `motors` their order.
    """

    order: tuple[int, ...]
    motors: tuple[int, ...]
    inner: frozenset[int] = frozenset()
    efforts: dict[int, str] = field(default_factory=dict)

    def sign(self, k: int) -> float:
        return -1.0 if k in self.inner else 1.0


@dataclass(frozen=True)
class Scenario(Shown):
    """What to do with a robot. `mode` "torques": the trajectory is given, efforts are computed; "simulate"."""

    name: str
    title: str
    source: str
    robot: Robot
    mode: str
    duration: float
    present: Present
    trajectory: Trajectory | None = None
    law: Law | None = None
    q0: Array = field(default_factory=lambda: np.zeros(0))
    qd0: Array = field(default_factory=lambda: np.zeros(0))
    conditioning: Conditioning = Conditioning()
    options: dict[str, Any] = field(default_factory=dict)
    output_step: float = 0.01
    written_for: str = ""
    """The robot that the file names; others may try."""
    file: str | None = None
    """Where it was read, for messages."""


def scenario_names() -> tuple[str, ...]:
    """The scenarios that come with emdeg."""
    files = (entry.name for entry in resources.files("emdeg.simulation.scenarios").iterdir())
    return tuple(sorted(file.removesuffix(".toml") for file in files if file.endswith(".toml")))


def scenario_text(name_or_path: str) -> tuple[str, str, Path | None]:
    """(text, file, folder) of a shipped scenario or of a file."""
    if name_or_path in scenario_names():
        file = resources.files("emdeg.simulation.scenarios").joinpath(f"{name_or_path}.toml")
        return file.read_text(encoding="utf-8"), f"{name_or_path}.toml", None
    path = Path(name_or_path)
    if path.suffix != ".toml":
        raise ScenarioError(
            f"there is no scenario {name_or_path!r}; there are {', '.join(scenario_names())}, or give "
            "a .toml file's path"
        )
    return read_text(str(path)), str(path), path.parent


def load_scenario(name_or_path: str, robot: Robot) -> Scenario:
    """The scenario of that name or file, for `robot`."""
    return read_scenario(*scenario_text(name_or_path), robot)


def load_trajectory(name_or_path: str, robot: Robot) -> tuple[Trajectory, Scenario]:
    """The trajectory of a file or scenario, with the scenario for how to show it."""
    text, file, folder = scenario_text(name_or_path)
    document = TomlDocument(text, file)
    if "trajectory" not in document.data:
        raise ScenarioError(f"it has no table [trajectory]; kinds are {', '.join(KEYS)}", file=file)
    scenario = read_scenario(text, file, folder, robot, trajectory_only=True)
    assert scenario.trajectory is not None
    return scenario.trajectory, scenario


def read_scenario(
    text: str, file: str, folder: Path | None, robot: Robot, *, trajectory_only: bool = False
) -> Scenario:
    """The scenario that `text` describes, checked against the robot; `file` names it in messages."""
    need_numbers(robot)
    document = TomlDocument(text, file)
    top = TomlTable(document.data, document, Remarks())
    top.only(_TOP)
    if top.data.get("schema") != 1 or top.data["schema"] is True:
        raise top.error("schema = 1 must stand at the top: the version of the scenario file's form", "schema")
    mode = "torques" if trajectory_only else top.choice("mode", ("simulate", "torques"), "simulate")
    part = _parts(top)
    trajectory = trajectory_from(part["trajectory"], robot, folder) if "trajectory" in part else None
    if mode == "torques" and trajectory is None:
        raise top.error("mode 'torques' needs a table [trajectory]")
    duration = real(top, "duration", trajectory.duration if trajectory else None, least=0)
    try:
        positive(duration)
    except ScenarioError as problem:
        raise top.error(problem.rule, "duration") from None
    integration = part.get("integration", _empty(top, "integration"))
    integration.only(("method", "step", "output_step", "rtol", "atol", "drift_tolerance", "check_step"))
    output_step = real(integration, "output_step", _usual_output_step(integration, duration), least=1e-9)
    common = {
        "name": top.text("name", Path(file).stem),
        "title": top.text("title", ""),
        "source": top.text("source", ""),
        "robot": robot,
        "duration": duration,
        "trajectory": trajectory,
        "present": _present(part.get("present", _empty(top, "present")), robot),
        "output_step": output_step,
        "written_for": top.text("robot", ""),
        "file": file,
    }
    if mode == "torques":
        return Scenario(mode="torques", **common)
    try:
        conditioning, law = _controller(part.get("controller"), robot, trajectory)
        q0, qd0 = _initial(part.get("initial", _empty(top, "initial")), robot, trajectory)
        q0, qd0 = _batch(part.get("batch"), robot, q0, qd0)
        options = _integration(integration) | _effects(part.get("effects", _empty(top, "effects")))
        _need_budget(duration, output_step, options, q0, robot)
    except RobotError as problem:
        raise problem.at(file=file) from None
    return Scenario(mode="simulate", law=law, q0=q0, qd0=qd0, conditioning=conditioning, options=options, **common)


def _parts(top: TomlTable) -> dict[str, TomlTable]:
    found = {}
    for key in ("initial", "trajectory", "controller", "integration", "effects", "batch", "present"):
        value = top.data.get(key)
        if value is not None:
            if not isinstance(value, dict):
                raise top.error(f"{key} must be a table [{key}]", key)
            found[key] = TomlTable(value, top.document, top.remarks, key)
    return found


def _empty(top: TomlTable, key: str) -> TomlTable:
    return TomlTable({}, top.document, top.remarks, key)


def _usual_output_step(integration: TomlTable, duration: float) -> float:
    """Five hundred records; with a fixed step as many as fill the run with whole steps, or one a step."""
    step = real(integration, "step", 0.0)
    if not 0 < step < duration:
        return duration / 500
    steps = round(duration / step)
    least = -(-steps // 500)
    return step * next((k for k in range(least, 2 * least + 1) if steps % k == 0), 1)


def _present(table: TomlTable, robot: Robot) -> Present:
    table.only(("order", "inner", "efforts"))
    order = joint_list(table, "order", robot) or tuple(range(robot.freedoms))
    if sorted(order) != list(range(robot.freedoms)):
        raise table.error("order must name every joint once", "order")
    names = table.subtable("efforts")
    efforts = {}
    for key in () if names is None else names.data:
        assert names is not None
        efforts[joint_index(table, key, robot, "efforts", robot.driven)] = names.name(key)
    if len(set(efforts.values())) < len(efforts):
        raise table.error("two efforts would have the same name", "efforts")
    # Motors that are more than the coordinates have an order of their own, the file's.
    motors = order if len(robot.driven) == robot.freedoms else tuple(range(len(robot.driven)))
    return Present(order, motors, frozenset(joint_list(table, "inner", robot, robot.driven)), efforts)


def _controller(
    table: TomlTable | None, robot: Robot, trajectory: Trajectory | None
) -> tuple[Conditioning, Law | None]:
    if table is None:
        return Conditioning(), None
    kind = table.choice("kind", ("pd", "computed_torque", "feed_forward", "none"))
    own = {
        "pd": ("kp", "kd", "target", "gravity", "off"),
        "computed_torque": ("kp", "kd", "target", "configuration_period", *BELIEF),
        "feed_forward": BELIEF,
        "none": (),
    }[kind]
    table.only(("kind", "period", "delay", "max_effort", "converter_bits", "position_step", *own))
    conditioning = Conditioning(
        _max_effort(table, robot),
        converter_steps(robot, table.integer("converter_bits", 2, 48)) if "converter_bits" in table else None,
        tuple(per_joint(table, "position_step", robot, 0.0, spread=True)) if "position_step" in table else None,
        optional_real(table, "period"),
        real(table, "delay", 0.0),
    )
    if kind == "none":
        return conditioning, None
    if kind == "feed_forward":
        if trajectory is None:
            raise table.error("feed_forward needs a table [trajectory]")
        return conditioning, laws.feed_forward(robot, trajectory, _believed(table, robot))
    target: Any = per_joint(table, "target", robot) if "target" in table else trajectory
    if target is None:
        raise table.error(f"{kind} needs a target, or a table [trajectory]")
    gains: dict[str, Any] = {key: per_joint(table, key, robot, spread=True) for key in ("kp", "kd")}
    if kind == "pd":
        weight, off = flag(table, "gravity", True), joint_list(table, "off", robot, robot.driven)
        return conditioning, laws.pd(robot, **gains, target=target, gravity=weight, off=off)
    slow = optional_real(table, "configuration_period")
    if slow is None:
        return conditioning, laws.computed_torque(robot, **gains, target=target, model=_believed(table, robot))
    if conditioning.period is None:
        raise table.error("configuration_period needs a sampling period", "configuration_period")
    followed = laws.as_trajectory(robot, target)
    return conditioning, laws.MultiRate(
        robot, **gains, trajectory=followed, configuration_period=slow, model=_believed(table, robot)
    )


def _believed(table: TomlTable, robot: Robot) -> Program | None:
    """The inverse dynamics that the controller works with, where it is not the robot's own."""
    if table.choice("model", ("full", "abbreviated"), "full") == "full":
        for key in THRESHOLDS:
            if key in table:
                raise table.error(f"{key} belongs to model = 'abbreviated'", key)
        return None
    if kind_of(robot).explicit != "formulas":
        raise table.error(f"there are no abbreviated models of {kind_of(robot).name}", "model")
    shares = {key: real(table, key, default) for key, default in THRESHOLDS.items()}
    for key, share in shares.items():
        if not 0 <= share < 1:
            raise table.error(f"{key} must be at least 0 and below 1; got {share}", key)
    return laws.abbreviated_model(robot, **shares)


def _max_effort(table: TomlTable, robot: Robot) -> tuple[float, ...] | None:
    if "max_effort" not in table:
        return None
    if table.data["max_effort"] == "drive":
        limits = drive_limits(robot)
        if not np.isfinite(limits).any():
            raise table.error("max_effort = 'drive', but no drive of the robot states one", "max_effort")
        return limits
    return tuple(per_joint(table, "max_effort", robot, float("inf"), spread=True, driven=True))


def _initial(table: TomlTable, robot: Robot, trajectory: Trajectory | None) -> tuple[Array, Array]:
    table.only(("q", "qd", "joints") if robot.hidden else ("q", "qd"))
    rest = np.zeros(robot.freedoms)
    home = kind_of(robot).home(robot)
    q, qd = (home, rest) if trajectory is None else trajectory(0.0)[:2]
    if "joints" in table:
        q, qd = _of_all_joints(table, robot), rest
    elif "q" in table:
        q, qd = per_joint(table, "q", robot, home), rest
    return q, per_joint(table, "qd", robot, 0.0) if "qd" in table else qd


def _of_all_joints(table: TomlTable, robot: Robot) -> Array:
    """The coordinates of a configuration in which every joint of the tree is named; its loops must be closed."""
    given = need_table(table, "joints")
    if "q" in table:
        raise table.error("give q, the independent coordinates, or joints, all of the tree's; not both", "joints")
    given.only(tuple(joint.name for joint in robot.joints))
    return coordinates_of(robot, [real(given, joint.name) for joint in robot.joints])


def _batch(table: TomlTable | None, robot: Robot, q: Array, qd: Array) -> tuple[Array, Array]:
    """Initial states spread evenly about the one given, reproducibly."""
    if table is None:
        return q, qd
    table.only(("count", "seed", "q_spread", "qd_spread"))
    count = table.integer("count", 1, 10**6)
    if count is None:
        raise table.error("count is missing: how many trajectories")
    rng = np.random.default_rng(table.integer("seed", 0, 2**63) or 0)
    spreads = [per_joint(table, key, robot, 0.0, spread=True) for key in ("q_spread", "qd_spread")]
    if any((spread < 0).any() for spread in spreads):
        raise table.error("spreads must not be negative")
    return tuple(v + s * rng.uniform(-1, 1, (count, robot.freedoms)) for v, s in zip((q, qd), spreads))  # type: ignore[return-value]


def _integration(table: TomlTable) -> dict[str, Any]:
    written = table.choice("method", (*SOLVERS, *METHODS, *OLD_NAMES), "DOP853")
    method = OLD_NAMES.get(written, written)
    options: dict[str, Any] = {"check_step": flag(table, "check_step", True)}
    if "method" in table:
        options["method"] = method
    for key in ("step", "rtol", "atol", "drift_tolerance"):
        if key in table:
            options[key] = real(table, key, least=0)
            if not options[key] and key != "drift_tolerance":
                raise table.error(f"{key} must be positive; got 0", key)
    if method in METHODS and "step" not in options:
        raise table.error(f"{method} needs a step", "method")
    if method in SOLVERS and "step" in options:
        raise table.error(f"{method} chooses its steps itself; a step needs {', '.join(METHODS)}", "step")
    return options


def _effects(table: TomlTable) -> dict[str, Any]:
    table.only(("friction", "effort_limits", "stops", "stiffness", "damping", "restitution"))
    options: dict[str, Any] = {
        "friction": flag(table, "friction", False),
        "effort_limits": flag(table, "effort_limits", True),
        "stops": table.choice("stops", ("record", "halt", "bounce", "spring", "ignore"), "record"),
    }
    for key in ("stiffness", "damping", "restitution"):
        if key in table:
            options[key] = real(table, key, least=0)
    return options


def _need_budget(duration: float, output_step: float, options: dict[str, Any], q0: Array, robot: Robot) -> None:
    steps = duration / options.get("step", output_step)
    if steps * np.atleast_2d(q0).shape[0] > MOST_STEPS:
        raise TooLarge(f"the run would take {steps:.3g} steps a trajectory; the budget is {MOST_STEPS:g} in all")
    recorded = duration / output_step * q0.size * 3
    if recorded > MOST_NUMBERS:
        raise TooLarge(
            f"the run would record {recorded:.3g} numbers; the budget is {MOST_NUMBERS:g}: raise output_step"
        )
