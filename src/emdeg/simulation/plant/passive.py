"""What acts on the joints without being asked: friction of the drives, and springs that stop a joint at its limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.dynamics.formulations import FrictionLaw, smooth_sign
from emdeg.errors import ScenarioError
from emdeg.loops import choose
from emdeg.robot import Robot

REST_SPEED = 1e-3
"""The speed [rad/s, m/s] below which dry friction fades out, so that the equations stay smooth."""


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
    """Friction by driven joint (None: without), fading out below `rest_speed` [rad/s, m/s], and elastic stops.

    Behind the driven joints' laws stand those of the joints `also`, which nothing drives and which rub.
    """

    friction: tuple[FrictionLaw, ...] | None = None
    stops: tuple[Stop, ...] = ()
    rest_speed: float = REST_SPEED
    also: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        return not self.stops and (self.friction is None or all(law.is_none for law in self.friction))

    def efforts(self, q: Array, qd: Array, driven: Array | None = None) -> Array:
        """(..., joints) [N m, N]: acting on the driven joints, and on those that rub `also`, at q, qd (..., n).

        `driven` are these joints' rates, by default qd.
        """
        rubbed = qd if driven is None else driven
        result = np.zeros((*np.broadcast_shapes(q.shape, qd.shape)[:-1], rubbed.shape[-1]))
        sign = smooth_sign(self.rest_speed, np.sqrt)
        for k, law in enumerate(self.friction or ()):
            result[..., k] -= law.effort(rubbed[..., k], sign, np.exp, np.tanh)
        for stop in self.stops:
            k = stop.joint
            deep = np.minimum(q[..., k] - stop.lower, 0) + np.maximum(q[..., k] - stop.upper, 0)
            push = -stop.stiffness * deep - stop.damping * qd[..., k]
            # A stop pushes back; it never pulls.
            result[..., k] += np.where(deep < 0, np.maximum(push, 0), np.where(deep > 0, np.minimum(push, 0), 0.0))
        return result


def with_idle_motors(robot: Robot, passive: Passive) -> Robot:
    """The robot with a motor that gives nothing at every joint that rubs though nothing drives it: a plant takes these
    joints' friction as it takes efforts, behind those of the motors."""
    if not passive.also:
        return robot
    return choose.with_driven(robot, [*(joint.name for joint in robot.driven), *passive.also])


def elastic_stops(robot: Robot, stiffness: float, damping: float) -> tuple[Stop, ...]:
    """A stop at every limit the robot's file gives."""
    if robot.coordinates != robot.driven:
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
