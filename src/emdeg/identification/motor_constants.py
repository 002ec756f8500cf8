"""Efforts from currents: motor constants that are given, or with which the robot's own numbers explain them best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from emdeg.dynamics.functions import inverse_dynamics
from emdeg.errors import RobotError
from emdeg.identification.measured import Estimate
from emdeg.identification.samples import LogSamples
from emdeg.robot import Robot

PLAIN = 3
"""The friction terms that every joint has stand first."""
MOST = 20_000
"""Rows that constants are fitted to."""


def in_newton_metres(
    robot: Robot, samples: Sequence[LogSamples], given: Mapping[str, float]
) -> tuple[list[LogSamples], dict[str, Estimate], list[str]]:
    """(the samples with efforts [N m, N], the constants [N m/A, N/A] that made them, what is to be said of these)."""
    names = [joint.name for joint in robot.driven]
    for name, value in given.items():
        if name not in names:
            raise RobotError(f"it has no driven joint {name!r} to have a torque constant", body=robot.name)
        if not (np.isfinite(value) and value != 0):
            raise RobotError(f"its torque constant is {value:g} N m/A", body=name)
    in_amperes = [one for one in samples if one.in_amperes]
    if not in_amperes:
        if given:
            raise RobotError("torque constants are for currents, and its logs hold efforts", body=robot.name)
        return list(samples), {}, []
    constants = {name: Estimate(given[name], given[name], given[name]) for name in names if name in given}
    words = []
    missing = [name for name in names if name not in given]
    if missing:
        found = _fitted(robot, [one for one in in_amperes if not one.loaded] or in_amperes)
        constants |= {name: found[name] for name in missing}
        words.append(
            f"the torque constants of {', '.join(missing)} are those with which the file's own masses explain the "
            "currents best: every parameter leans on them (--torque-constant JOINT=VALUE gives what is known)"
        )
    factors = np.array([constants[name].value for name in names])
    return [one.in_efforts(factors) for one in samples], {name: constants[name] for name in names}, words


def _fitted(robot: Robot, samples: Sequence[LogSamples]) -> dict[str, Estimate]:
    """current = (the model's effort + friction) / constant, joint by joint, by least squares."""
    if robot.symbols:
        raise RobotError("logs hold currents, and without masses of its own constants are needed", body=robot.name)
    found = {}
    parts = [slice(0, None, max(1, len(one) // MOST)) for one in samples]
    efforts = np.concatenate(
        [inverse_dynamics(robot, one.q[part], one.qd[part], one.qdd[part]) for one, part in zip(samples, parts)]
    )
    for j, joint in enumerate(robot.driven):
        y = np.concatenate([one.tau[part, j] for one, part in zip(samples, parts)])
        rubbed = np.concatenate([one.friction[part, j, :PLAIN] for one, part in zip(samples, parts)])
        A = np.column_stack([efforts[:, j], rubbed])
        x, *_ = np.linalg.lstsq(A, y, rcond=None)
        rest = y - A @ x
        spread = float(np.sqrt(np.linalg.pinv(A.T @ A)[0, 0] * (rest @ rest) / max(1, len(y) - A.shape[1])))
        if not abs(x[0]) > 3 * spread:
            rule = "its current does not follow the efforts that the file's masses ask for: give its torque constant"
            raise RobotError(rule, body=joint.name)
        value, reach = 1 / float(x[0]), 2 * spread / float(x[0]) ** 2
        found[joint.name] = Estimate(value, value - reach, value + reach)
    return found
