"""Joint friction: one law, over any scalar, for numbers, programs, compiled simulations, Kane's equations and fits.

    viscous v + (coulomb + peak exp(-(v / stribeck_velocity)^2)) sign(v)

It is what a drive must give to overcome friction at the speed v, zero at rest; with a `rest_speed` tanh(v / rest_speed)
stands in sign(v)'s place. The break-away torque of a robot file is what a resting joint holds, so it is where dry
friction begins: the level at zero speed where a Stribeck velocity says how it falls off from there to Coulomb's, and
Coulomb's level itself where the file states no other. Beside a Coulomb level, and without such a velocity, it acts at
rest alone, where this law is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from emdeg.algebra import ONE, ZERO, Algebra, Exact, FieldScalar, over_duals
from emdeg.dynamics.mechanism import Mechanism, written
from emdeg.dynamics.spatial import Scalar
from emdeg.errors import RobotError
from emdeg.robot import Friction, Joint, Robot

V = TypeVar("V", bound=Scalar)
Function = Callable[[Any], Scalar]
"""From the caller's scalars to the same kind."""


class LawAlgebra(Algebra, Protocol):
    """An algebra that also has what laws of friction are made of."""

    def sign(self, value: Any) -> Any: ...
    def exp(self, value: Any) -> Any: ...
    def tanh(self, value: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class FrictionLaw:
    """viscous [N m s/rad, N s/m]; coulomb and Stribeck's peak above it [N m, N]; stribeck_velocity [rad/s, m/s]."""

    viscous: Scalar = 0.0
    coulomb: Scalar = 0.0
    peak: Scalar = 0.0
    stribeck_velocity: FieldScalar = 1.0
    rest_speed: FieldScalar | None = None
    """[rad/s, m/s] below which dry friction fades; None: it jumps at rest."""

    @property
    def is_none(self) -> bool:
        return not (self.viscous or self.coulomb or self.peak)

    def effort(self, v: V, sign: Function, exp: Function, tanh: Function = np.tanh) -> V:
        """[N m, N] at the speed v [rad/s, m/s]; the functions are the scalar's. Zero terms are not formed."""
        result = self.viscous * v if self.viscous else None
        if self.coulomb or self.peak:
            dry = self.coulomb
            if self.peak:
                share = v / self.stribeck_velocity
                dry = dry + self.peak * exp(-(share * share))
            rubbed = dry * (sign(v) if self.rest_speed is None else tanh(v / self.rest_speed))
            result = rubbed if result is None else result + rubbed
        return v * 0 if result is None else result


def smooth_sign(rest_speed: Scalar, sqrt: Function) -> Function:
    """v / sqrt(v^2 + rest_speed^2) in the place of sign(v), whose jump no integrator and no program can follow.

    Dry friction fades out below `rest_speed` [rad/s, m/s], so that a joint at rest creeps instead of sticking.
    """
    return lambda v: v / sqrt(v * v + rest_speed * rest_speed)


def law_of(friction: Friction, written: Callable[[Exact], FieldScalar]) -> FrictionLaw:
    """A robot file's friction as a law over the scalars of `written`; see the module for its break-away torque."""
    coulomb, peak, velocity = friction.coulomb, ZERO, ONE
    highest = friction.break_away if friction.stribeck is None else friction.stribeck
    if highest is not None and friction.stribeck_velocity:
        peak, velocity = highest - coulomb, friction.stribeck_velocity
    elif friction.break_away is not None and friction.stribeck is None and not coulomb:
        coulomb = friction.break_away
    rest = None if friction.rest_speed is None else written(friction.rest_speed)
    return FrictionLaw(written(friction.viscous), written(coulomb), written(peak), written(velocity), rest)


def friction_laws(joints: Iterable[Joint]) -> tuple[FrictionLaw, ...]:
    """The joints' laws in doubles; RobotError where a number is missing."""
    laws = []
    for joint in joints:
        law = joint.drive.friction
        values = (getattr(law, each.name) for each in fields(law))
        if any(value is not None and value.symbols for value in values):
            raise RobotError("its friction has symbols without a number", body=joint.name)
        laws.append(law_of(law, float))
    return tuple(laws)


def need_friction(robot: Robot) -> None:
    """RobotError where no drive of the robot states friction: leaving it out without a word would be a wrong number."""
    if not robot.rubs:
        raise RobotError(
            "friction is asked for, and its file states none: viscous, coulomb, stribeck or break_away of a drive",
            body=robot.name,
        )


def joint_friction(tree: Mechanism, speeds: Sequence[Scalar]) -> list[Scalar]:
    """[N m, N] of every joint at its speed: what a drive there would give to overcome friction."""
    algebra, parts = tree.algebra, parts_of_laws(tree)
    laws = [law_of(one, lambda value: written(algebra, value)) for one in tree.friction]
    return [law.effort(v, *parts) for law, v in zip(laws, speeds)]


def parts_of_laws(tree: Mechanism) -> tuple[Function, Function, Function]:
    """sign, exp and tanh, of dual numbers too: a sign is constant but where it jumps, and there it has no slope."""
    algebra, one = cast(LawAlgebra, tree.algebra), tree.one
    exp = over_duals(algebra.exp, lambda y: y)
    return over_duals(algebra.sign), exp, over_duals(algebra.tanh, lambda y: one - y * y)


def friction_term_by_term(tree: Mechanism, speeds: Sequence[Scalar]) -> list[Scalar]:
    """The same with the law multiplied out, each term at its own speed: what proves it."""
    algebra, (sign, exp, tanh), efforts = tree.algebra, parts_of_laws(tree), []
    for one, v in zip(tree.friction, speeds):
        law = law_of(one, lambda value: written(algebra, value))
        way = sign(v) if law.rest_speed is None else tanh(v / law.rest_speed)
        fall = exp(-(v * v) / (law.stribeck_velocity * law.stribeck_velocity)) if law.peak else tree.zero
        efforts.append(way * law.peak * fall + law.coulomb * way + v * law.viscous)
    return efforts
