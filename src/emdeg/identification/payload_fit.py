"""A load alone, from a log without it and one with it: its mass, mass centre and tensor in the frame of its carrier.

Efforts are linear in a load's ten numbers. Both logs are fitted together: the robot's base parameters and friction are
in both, the load's columns in the second only, so that what the file says of the robot's masses does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from emdeg.algebra import ZERO, Array, Exact
from emdeg.documents import Shown
from emdeg.dynamics.functions import inverse_dynamics
from emdeg.errors import RobotError
from emdeg.identification.estimation import NORMAL, Fit, estimate
from emdeg.identification.friction_choice import FrictionChoice
from emdeg.identification.identifying import Path, Told, ready_logs
from emdeg.identification.linear_model import BodyRows, Evaluate, rows_of
from emdeg.identification.measured import Estimate
from emdeg.identification.recording import Log
from emdeg.identification.regressors import coordinate_motion, described
from emdeg.identification.samples import LogSamples
from emdeg.robot import Payload, Robot, quoted

NUMBERS = ("mass", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")
"""Of a load, about the origin of its carrier's frame [kg, kg m, kg m^2]."""
MOST_ROWS = 20_000
"""Rows of both logs together: ten numbers need no more."""


@dataclass(frozen=True)
class PayloadFit(Shown):
    """A load carried by `link`: mass [kg], mass centre [m], tensor about it [kg m^2] in the link's frame.

    What the motion does not show is None, and said in `hidden`.
    """

    robot: Robot = field(repr=False)
    fit: Fit = field(repr=False)
    link: str
    mass: Estimate
    com: tuple[Estimate, Estimate, Estimate] | None
    tensor: Mapping[str, Estimate] | None
    """XX, XY, XZ, YY, YZ, ZZ."""
    hidden: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def can_exist(self) -> bool:
        """Whether the tensor is that of a body."""
        if self.tensor is None:
            return False
        xx, xy, xz, yy, yz, zz = (value.value for value in self.tensor.values())
        moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        return bool(moments[0] >= 0 and moments[2] <= moments[0] + moments[1])


def identify_payload(
    robot: Robot,
    without: Path | Log,
    loaded: Path | Log,
    *,
    friction: FrictionChoice = "auto",
    torque_constants: Mapping[str, float] | None = None,
    accept_doubts: bool = False,
    progress: Told = lambda text: None,
) -> PayloadFit:
    """The load at the robot's tip, from a log without it and one with it; options as in `identify`."""
    given = torque_constants or {}
    ready = ready_logs(robot, [without, loaded], given, accept_doubts, progress, MOST_ROWS, loaded=1)
    link = robot.links[robot.tool.link].name
    bodies = _with_load(robot, link, ready.regressor)
    prior = np.concatenate([ready.prior, np.zeros(len(NUMBERS))])
    fit = estimate(bodies, len(prior), ready.samples, prior, friction, progress)
    places = slice(len(ready.prior), len(prior))
    values, covariance = fit.theta[places], fit.covariance[places, places]
    told: dict[str, bool] = dict(zip(NUMBERS, map(bool, fit.told[places])))
    if not told["mass"]:
        words = "the motion does not show the load's mass: some joint that lifts it must move, in both logs"
        raise RobotError(words, body=robot.name)
    mass = _estimate(values[0], covariance[0, 0])
    if mass.high < 0:
        words = f"the second log's load would weigh {mass.value:.3g} kg: the first log is the one without it"
        raise RobotError(words, body=robot.name)
    heavy = mass.low > 0
    com = _mass_centre(values, covariance) if heavy and all(told[k] for k in NUMBERS[:4]) else None
    tensor = _tensor(values, covariance) if com is not None and all(told.values()) else None
    return PayloadFit(robot, fit, link, mass, com, tensor, _hidden(told, heavy), ready.notes)


def _with_load(robot: Robot, link: str, regressor: Evaluate) -> BodyRows:
    """The base regressor with a load's ten columns beside it: zero where nothing is carried."""
    motion, robot = coordinate_motion(robot), described(robot)
    plain, loads = rows_of(regressor), [replace(robot, payloads=(*robot.payloads, *unit)) for unit in unit_loads(link)]

    def rows(samples: LogSamples, part: slice) -> Array:
        Y = plain(samples, part)
        columns = np.zeros((*Y.shape[:2], len(NUMBERS)))
        if samples.loaded:
            state = motion(samples.q[part], samples.qd[part], samples.qdd[part])
            bare = inverse_dynamics(robot, *state)
            for k, one in enumerate(loads):
                columns[..., k] = inverse_dynamics(one, *state) - bare
        return np.concatenate([Y, columns], axis=2)

    return rows


def unit_loads(link: str) -> list[tuple[Payload, ...]]:
    """Loads that have one of NUMBERS equal to one and the others zero: none of them can exist, their sums can."""
    one, less = Exact.of(1), Exact.of(-1)
    nothing = (ZERO, ZERO, ZERO)
    found: list[tuple[Payload, ...]] = [(Payload(link, one),)]
    for k in range(3):
        com = tuple(one if i == k else ZERO for i in range(3))
        # A kilogram a metre away has moments of inertia about the other axes, which are taken away, as its mass is.
        about = tuple(less if name in (0, 3, 5) and name != (0, 3, 5)[k] else ZERO for name in range(6))
        found.append((Payload(link, one, (com[0], com[1], com[2]), about), Payload(link, less)))
    return found + [(Payload(link, ZERO, nothing, tuple(one if i == k else ZERO for i in range(6))),) for k in range(6)]


def _estimate(value: float, variance: float) -> Estimate:
    reach = NORMAL * float(np.sqrt(max(0.0, variance)))
    return Estimate(float(value), float(value) - reach, float(value) + reach)


def _mass_centre(values: Array, covariance: Array) -> tuple[Estimate, Estimate, Estimate]:
    """First moments over the mass, with the errors of both."""
    m = values[0]
    found = []
    for k in (1, 2, 3):
        slope = np.zeros(len(values))
        slope[0], slope[k] = -values[k] / m**2, 1 / m
        found.append(_estimate(values[k] / m, float(slope @ covariance @ slope)))
    return found[0], found[1], found[2]


def _tensor(values: Array, covariance: Array) -> dict[str, Estimate]:
    """About the mass centre: the tensor about the origin less what the mass there gives."""
    m, c = values[0], values[1:4] / values[0]
    found = {}
    for k, (name, (i, j)) in enumerate(zip(NUMBERS[4:], ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))), 4):
        delta = float(i == j)
        slope = np.zeros(len(values))
        slope[k] = 1.0
        # I - (|mc|^2 1 - mc mc') / m, and its slopes
        slope[0] = delta * (c @ c) - c[i] * c[j]
        slope[1:4] -= 2 * delta * c
        slope[1 + i] += c[j]
        slope[1 + j] += c[i]
        found[name] = _estimate(values[k] - m * (delta * (c @ c) - c[i] * c[j]), float(slope @ covariance @ slope))
    return found


def _hidden(told: Mapping[str, bool], heavy: bool) -> tuple[str, ...]:
    words = []
    if not heavy:
        words.append("the mass may be nothing at all, so that there is no mass centre to speak of")
    unseen = [name for name, shown in told.items() if not shown]
    if unseen:
        words.append(f"the motion does not show the load's {', '.join(unseen)} by themselves")
    return tuple(words)


def payload_toml(found: PayloadFit) -> str:
    """The load as a file for --payload; RobotError where its mass centre is not known."""
    if found.com is None:
        raise RobotError(f"no payload file is written: {'; '.join(found.hidden)}", body=found.robot.name)
    lines = ["# A load, identified from a log without it and one with it.", "schema = 1", "", "[[payload]]"]
    lines += ['name = "payload"', f"link = {quoted(found.link)}", f"mass = {found.mass.value:.9g}"]
    lines.append("com = [" + ", ".join(f"{value.value:.9g}" for value in found.com) + "]")
    if found.tensor is not None and found.can_exist:
        lines += [f"I{name.lower()} = {value.value:.9g}" for name, value in found.tensor.items()]
    return "\n".join(lines) + "\n"
