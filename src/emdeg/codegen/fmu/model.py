"""What an FMU tells the world of a robot: its variables in order, with units, starts and what each of them means.

A variable's place in the list is its value reference, and its place in the array that the C behind the interface
computes with; variables of one kind stand together, as a group with a name that the C knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from emdeg.codegen.infix import escaped
from emdeg.dynamics import kind_of
from emdeg.dynamics.formulations import FrictionLaw, friction_laws, need_friction
from emdeg.dynamics.functions import mass_matrix
from emdeg.errors import BadRequest, RobotError
from emdeg.robot import Joint, Robot, opened, with_symbolic_payload
from emdeg.simulation import Passive, drive_limits

Role = Literal["independent", "state", "calculated", "input", "parameter", "switch"]

NONE = 1e100
"""A limit that is none: a number that every tool reads."""
BANDWIDTH = 10.0
"""[rad/s] of the servo that gains start with: critically damped, by the inertias of the first configuration."""
STEP = 1e-3
STIFFNESS, DAMPING = 1e5, 1e2
"""Of elastic stops, as `emdeg simulate` has them."""

GRAVITY = ("gravity.x", "gravity.y", "gravity.z")


@dataclass(frozen=True, slots=True)
class FmuVariable:
    """A variable: its name, what it is in the model, its unit, its start, whose rate it is (a value reference)."""

    name: str
    role: Role
    unit: str = ""
    start: float | None = None
    meaning: str = ""
    rate_of: int | None = None
    shown: bool = False
    """Whether it is an output of the model."""


@dataclass(frozen=True, slots=True)
class FmuModel:
    """The variables, group by group, and the robot whose functions are called: some of its numbers are parameters."""

    robot: Robot
    groups: Mapping[str, Sequence[FmuVariable]]
    servo: bool

    @property
    def variables(self) -> list[FmuVariable]:
        return [variable for group in self.groups.values() for variable in group]

    @property
    def places(self) -> dict[str, int]:
        """The value reference of each group's first variable."""
        counts = np.cumsum([0, *(len(group) for group in self.groups.values())])
        return {name: int(place) for name, place in zip(self.groups, counts)}

    @property
    def own_motors(self) -> bool:
        """Whether the motors' joints are others than the coordinates."""
        return self.robot.driven != self.robot.coordinates

    @property
    def functions(self) -> tuple[str, ...]:
        """The functions of the robot that the model calls."""
        of_motors = ("drive_rates", *(("drive_jacobian",) if self.servo else ())) if self.own_motors else ()
        return ("forward_dynamics", *(("gravity",) if self.servo else ()), *of_motors)


def fmu_model(robot: Robot, *, servo: bool, friction: bool, tunable: Sequence[str] = ()) -> FmuModel:
    """The model of a robot; RobotError or BadRequest where there is none.

    Parameters are gravity, a load at the tool, the robot's symbols and the numbers at `tunable`, by path.
    """
    if not robot.freedoms or not robot.driven:
        raise RobotError("it has no joint that is driven: there is nothing to simulate", body=robot.name)
    if not kind_of(robot).has_programs(robot):
        raise RobotError("its loops close numerically, so there is no program of its forward dynamics", body=robot.name)
    undriven = [joint.name for joint in robot.joints if joint not in robot.driven]
    if friction:
        need_friction(robot)
        rough = [joint.name for joint in robot.joints if joint.name in undriven and not joint.drive.friction.is_none]
        if rough:
            raise RobotError(f"its undriven joints {', '.join(rough)} rub, which steps do not know", body=robot.name)
    tuned, parameters = opened_robot(robot, tunable)
    coordinates, motors = robot.coordinates, robot.driven
    home = [float(x) for x in kind_of(robot).home(robot)]
    groups: dict[str, list[FmuVariable]] = {
        "TIME": [FmuVariable("time", "independent", "s", meaning="time")],
        "Q": _each("q", coordinates, "state", "position of {}", POSITION, home, shown=True),
        "QD": _each("qd", coordinates, "state", "rate of {}", SPEED, [0.0] * len(coordinates), shown=True),
    }
    n = len(coordinates)
    groups["RATE"] = [
        replace(one, name=f"der(q[{k + 1}])", rate_of=1 + k)
        for k, one in enumerate(_each("", coordinates, "calculated", "rate of {}", SPEED))
    ]
    groups["QDD"] = [
        replace(one, rate_of=1 + n + k)
        for k, one in enumerate(_each("qdd", coordinates, "calculated", "acceleration of {}", ACCELERATION, shown=True))
    ]
    groups["EFFORT"] = _each("effort", motors, "calculated", "what the drive of {} gives", EFFORT, shown=True)
    groups["TAU"] = _each("tau", motors, "input", "effort asked of the drive of {}", EFFORT, [0.0] * len(motors))
    if servo:
        groups |= _servo(robot, home)
    limits = [limit if np.isfinite(limit) else NONE for limit in drive_limits(robot)]
    groups["EFFORT_LIMITS"] = [_switch("effort_limits", True, "whether drives give no more than max_effort")]
    groups["MAX_EFFORT"] = _each("max_effort", motors, "parameter", "largest effort of the drive of {}", EFFORT, limits)
    groups |= _friction(robot, friction)
    if robot.driven == robot.coordinates:
        groups |= _stops(coordinates)
    groups["STEP"] = [FmuVariable("step", "parameter", "s", STEP, "longest step that co-simulation makes by itself")]
    groups["PARAMETERS"] = parameters
    return FmuModel(tuned, groups, servo)


def opened_robot(robot: Robot, tunable: Sequence[str]) -> tuple[Robot, list[FmuVariable]]:
    """The robot with symbols for gravity, a load at its tool and the numbers at `tunable`; its symbols' variables.

    They are in the order of the programs' parameters. What had a number starts with it, a load and symbols with 0.
    """
    paths = list(dict.fromkeys((*(path for path in GRAVITY if path not in tunable), *tunable)))
    fixed = [path for path, value in zip(GRAVITY, robot.gravity) if not value.is_number]
    found = opened(robot, [path for path in paths if path not in fixed])
    starts = {symbol: found.nominal[path] for path, symbol in found.symbols.items() if path in found.nominal}
    meanings = {symbol: path for path, symbol in found.symbols.items()}
    tuned = found.robot
    # Where no frame stands at the tool, or symbols have a load's names, there is no further load.
    with suppress(RobotError):
        tuned = with_symbolic_payload(tuned)
    # Lengths with which loops close.
    near = {} if robot.loops is None else {name: float(value) for name, value in robot.loops.values}
    names = sorted(tuned.symbols)
    loads = tuned.symbols - found.robot.symbols
    variables = []
    for k, name in enumerate(names):
        plain = name if name.isascii() and name.isidentifier() else f"p{k + 1}"
        meaning = meanings.get(name) or (f"{name} of a load at the tool" if name in loads else f"symbol {name}")
        unit = _unit_of(meanings.get(name, ""), _LOAD.get(name, "") if name in loads else "")
        start = starts.get(name, near.get(name, 0.0))
        variables.append(FmuVariable(f"parameters.{plain}", "parameter", unit, start, escaped(meaning)))
    if len({variable.name for variable in variables}) != len(variables):
        raise BadRequest("two of its parameters would have the same name")
    return tuned, variables


POSITION = ("rad", "m")
SPEED = ("rad/s", "m/s")
ACCELERATION = ("rad/s2", "m/s2")
EFFORT = ("N.m", "N")
STIFF = ("N.m/rad", "N/m")
DAMPED = ("N.m.s/rad", "N.s/m")
"""Units of a joint that turns, and of one that slides."""

UNITS: Mapping[str, Mapping[str, int]] = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N/m": {"kg": 1, "s": -2},
    "N.s/m": {"kg": 1, "s": -1},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "N.m/rad": {"kg": 1, "m": 2, "s": -2, "rad": -1},
    "N.m.s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "kg": {"kg": 1},
    "kg.m": {"kg": 1, "m": 1},
    "kg.m2": {"kg": 1, "m": 2},
}
"""Every unit, by the exponents of FMI's base units."""

_TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
_LOAD = {"mL": "kg"} | {f"r{axis}L": "m" for axis in "xyz"} | {f"I{ij}L": "kg.m2" for ij in _TENSOR}
_ENDINGS = {
    **dict.fromkeys(("gravity.x", "gravity.y", "gravity.z"), "m/s2"),
    **dict.fromkeys((".mass", ".M"), "kg"),
    **dict.fromkeys((".com.x", ".com.y", ".com.z", ".a", ".b", ".d", ".length"), "m"),
    **dict.fromkeys((".MX", ".MY", ".MZ"), "kg.m"),
    **dict.fromkeys((*(f".I{ij}" for ij in _TENSOR), *(f".{ij.upper()}" for ij in _TENSOR)), "kg.m2"),
    **dict.fromkeys((".alpha", ".beta", ".gamma", ".theta"), "rad"),
}


def _unit_of(path: str, otherwise: str) -> str:
    """The unit of the number at a path, "" where its kind does not tell."""
    return next((unit for ending, unit in _ENDINGS.items() if path.endswith(ending)), otherwise)


def _each(
    name: str,
    joints: Sequence[Joint],
    role: Role,
    meaning: str,
    units: tuple[str, str],
    starts: Sequence[float] | None = None,
    shown: bool = False,
) -> list[FmuVariable]:
    """A variable for every joint."""
    return [
        FmuVariable(
            f"{name}[{k + 1}]",
            role,
            units[joint.kind == "prismatic"],
            None if starts is None else starts[k],
            meaning.format(escaped(joint.name)),
            shown=shown,
        )
        for k, joint in enumerate(joints)
    ]


def _switch(name: str, on: bool, meaning: str) -> FmuVariable:
    return FmuVariable(name, "switch", start=float(on), meaning=meaning)


def _servo(robot: Robot, home: Sequence[float]) -> dict[str, list[FmuVariable]]:
    """References and gains of kp (q* - q) + kd (qd* - qd) + g(q)."""
    joints, rest = robot.coordinates, [0.0] * len(home)
    inertia = rest if robot.symbols else [float(x) for x in np.diagonal(mass_matrix(robot, np.array(home)))]
    # Few digits: what rounds otherwise elsewhere shall not be another file.
    kp = [float(f"{BANDWIDTH**2 * each:.4g}") for each in inertia]
    kd = [float(f"{2 * BANDWIDTH * each:.4g}") for each in inertia]
    return {
        "Q_REF": _each("q_ref", joints, "input", "wanted position of {}", POSITION, home),
        "QD_REF": _each("qd_ref", joints, "input", "wanted rate of {}", SPEED, rest),
        "KP": _each("kp", joints, "parameter", "effort for each unit that {} is off", STIFF, kp),
        "KD": _each("kd", joints, "parameter", "effort for each unit that the rate of {} is off", DAMPED, kd),
        "COMPENSATION": [_switch("gravity_compensation", True, "whether the servo adds the effort that holds still")],
    }


def _friction(robot: Robot, on: bool) -> dict[str, list[FmuVariable]]:
    """The drives' laws, whose numbers start as the file states them."""
    laws, motors = friction_laws(robot.driven), robot.driven
    usual = Passive().rest_speed

    def group(name: str, meaning: str, units: tuple[str, str], starts: Iterator[float]) -> list[FmuVariable]:
        return _each(name, motors, "parameter", meaning, units, list(starts))

    return {
        "FRICTION": [_switch("friction", on, "whether drives rub")],
        "VISCOUS": group("viscous", "friction of {} with its rate", DAMPED, (_number(law.viscous) for law in laws)),
        "COULOMB": group("coulomb", "dry friction of {}", EFFORT, (_number(law.coulomb) for law in laws)),
        "STRIBECK_PEAK": group(
            "stribeck_peak",
            "dry friction of {} at rest above that in motion",
            EFFORT,
            (_number(law.peak) for law in laws),
        ),
        "STRIBECK_VELOCITY": group(
            "stribeck_velocity",
            "rate of {} over which that falls off",
            SPEED,
            (_number(law.stribeck_velocity) for law in laws),
        ),
        "REST_SPEED": group(
            "rest_speed", "rate of {} below which dry friction fades", SPEED, (_rest(law, usual) for law in laws)
        ),
    }


def _number(value: object) -> float:
    assert isinstance(value, float)
    return value


def _rest(law: FrictionLaw, usual: float) -> float:
    return usual if law.rest_speed is None else _number(law.rest_speed)


def _stops(joints: Sequence[Joint]) -> dict[str, list[FmuVariable]]:
    """Elastic stops at the positions' limits; the same for all joints, whether they turn or slide."""
    lower = [-NONE if joint.limits.lower is None else float(joint.limits.lower) for joint in joints]
    upper = [NONE if joint.limits.upper is None else float(joint.limits.upper) for joint in joints]
    stiffness = FmuVariable("stop_stiffness", "parameter", "", STIFFNESS, "of a stop [N m/rad, N/m]")
    damping = FmuVariable("stop_damping", "parameter", "", DAMPING, "of a stop [N m s/rad, N s/m]")
    return {
        "STOPS": [_switch("stops", False, "whether elastic stops push back beyond lower and upper")],
        "LOWER": _each("lower", joints, "parameter", "least position of {}", POSITION, lower),
        "UPPER": _each("upper", joints, "parameter", "greatest position of {}", POSITION, upper),
        "STOP_STIFFNESS": [stiffness],
        "STOP_DAMPING": [damping],
    }
