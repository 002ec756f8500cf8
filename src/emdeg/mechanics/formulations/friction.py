"""Joint friction: one law, over any scalar, for numbers, programs, compiled simulations, Kane's equations and fits.

    viscous v + (coulomb + peak exp(-(v / stribeck_velocity)^2)) sign(v)

It is what a drive must give to overcome friction at the speed v. The break-away torque of a robot file is what a
resting joint can hold; it is stated there and is no part of the law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import ONE, ZERO, Array, Exact, FieldScalar
from emdeg.errors import RobotError
from emdeg.mechanics.spatial import Scalar
from emdeg.robot import Friction, Joint, Robot

V = TypeVar("V", bound=Scalar)
Function = Callable[[Any], Scalar]
"""From the caller's scalars to the same kind."""


@dataclass(frozen=True, slots=True)
class FrictionLaw:
    """viscous [N m s/rad, N s/m]; coulomb and Stribeck's peak above it [N m, N]; stribeck_velocity [rad/s, m/s]."""

    viscous: Scalar = 0.0
    coulomb: Scalar = 0.0
    peak: Scalar = 0.0
    stribeck_velocity: FieldScalar = 1.0

    @property
    def is_none(self) -> bool:
        return not (self.viscous or self.coulomb or self.peak)

    def effort(self, v: V, sign: Function, exp: Function) -> V:
        """[N m, N] at the speed v [rad/s, m/s]; `sign` and `exp` are the scalar's. Zero terms are not formed."""
        result = self.viscous * v if self.viscous else None
        if self.coulomb or self.peak:
            dry = self.coulomb
            if self.peak:
                share = v / self.stribeck_velocity
                dry = dry + self.peak * exp(-(share * share))
            rubbed = dry * sign(v)
            result = rubbed if result is None else result + rubbed
        return v * 0 if result is None else result


def smooth_sign(rest_speed: Scalar, sqrt: Function) -> Function:
    """v / sqrt(v^2 + rest_speed^2) in the place of sign(v), whose jump no integrator and no program can follow.

    Dry friction fades out below `rest_speed` [rad/s, m/s], so that a joint at rest creeps instead of sticking.
    """
    return lambda v: v / sqrt(v * v + rest_speed * rest_speed)


def law_of(friction: Friction, written: Callable[[Exact], FieldScalar]) -> FrictionLaw:
    """A robot file's friction as a law over the scalars of `written`."""
    peak, velocity = ZERO, ONE
    if friction.stribeck is not None and friction.stribeck_velocity:
        peak, velocity = friction.stribeck - friction.coulomb, friction.stribeck_velocity
    return FrictionLaw(*(written(value) for value in (friction.viscous, friction.coulomb, peak, velocity)))


def friction_laws(joints: Iterable[Joint]) -> tuple[FrictionLaw, ...]:
    """The joints' laws in doubles; RobotError where a number is missing."""
    laws = []
    for joint in joints:
        law = joint.drive.friction
        values = (law.viscous, law.coulomb, law.stribeck, law.stribeck_velocity)
        if any(value is not None and value.symbols for value in values):
            raise RobotError("its friction has symbols without a number", body=joint.name)
        laws.append(law_of(law, float))
    return tuple(laws)


def friction(robot: Robot, qd: ArrayLike) -> Array:
    """(..., n) [N m, N]: the effort that overcomes friction at the speeds qd; zero at rest."""
    speed = np.asarray(qd, dtype=np.float64)
    laws = enumerate(friction_laws(robot.joints))
    return np.stack([law.effort(speed[..., k], np.sign, np.exp) for k, law in laws], axis=-1)
