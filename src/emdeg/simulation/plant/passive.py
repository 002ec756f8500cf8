"""What acts on the joints without being asked: friction of the drives, and springs that stop a joint at its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.errors import ScenarioError
from emdeg.robot.model import Robot
from emdeg.writing.notebook import Shown

REST_SPEED = 1e-3
"""The speed [rad/s, m/s] below which dry friction fades out, so that the equations stay smooth."""


@dataclass(frozen=True, slots=True)
class Rubbing:
    """Joint-side friction at speed v: viscous v + dry(v) v / sqrt(v^2 + rest_speed^2).

    dry(v) = coulomb + peak exp(-(v / stribeck_velocity)^2). The root takes the place of sign(v), whose jump no
    integrator of fixed order can follow; a joint at rest therefore creeps instead of sticking.
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    peak: float = 0.0
    stribeck_velocity: float = 1.0
    rest_speed: float = REST_SPEED

    @property
    def is_none(self) -> bool:
        return not (self.viscous or self.coulomb or self.peak)


@dataclass(frozen=True, slots=True)
class Stop:
    """An elastic stop of joint `joint` at `lower` and `upper` [rad, m]: stiffness [N m/rad, N/m], damping."""

    joint: int
    lower: float
    upper: float
    stiffness: float
    damping: float


@dataclass(frozen=True, slots=True)
class Passive(Shown):
    """Friction by joint (None: without) and elastic stops."""

    friction: tuple[Rubbing, ...] | None = None
    stops: tuple[Stop, ...] = ()

    @property
    def is_none(self) -> bool:
        return not self.stops and (self.friction is None or all(law.is_none for law in self.friction))

    def efforts(self, q: Array, qd: Array, driven: Array | None = None) -> Array:
        """(..., n) [N m, N]: acting on the driven joints at the state q, qd (..., n); `driven` are their rates."""
        rubbed = qd if driven is None else driven
        result = np.zeros(np.broadcast_shapes(q.shape, qd.shape))
        for k, law in enumerate(self.friction or ()):
            if not law.is_none:
                v = rubbed[..., k]
                dry = law.coulomb + law.peak * np.exp(-((v / law.stribeck_velocity) ** 2))
                result[..., k] -= law.viscous * v + dry * v / np.sqrt(v * v + law.rest_speed**2)
        for stop in self.stops:
            k = stop.joint
            deep = np.minimum(q[..., k] - stop.lower, 0) + np.maximum(q[..., k] - stop.upper, 0)
            push = -stop.stiffness * deep - stop.damping * qd[..., k]
            # A stop pushes back; it never pulls.
            result[..., k] += np.where(deep < 0, np.maximum(push, 0), np.where(deep > 0, np.minimum(push, 0), 0.0))
        return result


def drive_friction(robot: Robot, rest_speed: float = REST_SPEED) -> tuple[Rubbing, ...]:
    """The friction of the robot's drives."""
    laws = []
    for joint in robot.driven:
        law = joint.drive.friction
        values = (law.viscous, law.coulomb, law.stribeck, law.stribeck_velocity)
        if any(value is not None and value.symbols for value in values):
            raise ScenarioError("its friction has symbols without a number", body=joint.name)
        has_peak = law.stribeck is not None and bool(law.stribeck_velocity)
        laws.append(
            Rubbing(
                float(law.viscous),
                float(law.coulomb),
                float(law.stribeck or 0) - float(law.coulomb) if has_peak else 0.0,
                float(law.stribeck_velocity or 1) if has_peak else 1.0,
                rest_speed,
            )
        )
    return tuple(laws)


def elastic_stops(robot: Robot, stiffness: float, damping: float) -> tuple[Stop, ...]:
    """A stop at every limit the robot's file gives."""
    if robot.loops is not None and robot.coordinates != robot.driven:
        raise ScenarioError("its loops' coordinates are not its motors, where elastic stops act", body=robot.name)
    stops = []
    for k, joint in enumerate(robot.coordinates):
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None or upper is not None:
            low = -math.inf if lower is None else float(lower)
            high = math.inf if upper is None else float(upper)
            stops.append(Stop(k, low, high, stiffness, damping))
    if not stops:
        raise ScenarioError("it has no position limits, so there is nothing to stop at", body=robot.name)
    return tuple(stops)
