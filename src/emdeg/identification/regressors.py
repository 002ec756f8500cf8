"""The base regressor by the motors' motion."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics.parameters import BaseParameters, base_values
from emdeg.identification.linear_model import Evaluate
from emdeg.programs import program
from emdeg.robot import Robot, by_kind, geometry, need_numbers, remembered
from emdeg.runtime import compile

State = tuple[Array, Array, Array]
"""q, qd, qdd (m, n)."""
Slopes = Callable[..., tuple[Array, ...]]
"""q, qd, qdd (m, n), weights of Y's entries (m, n p) -> the gradients of their sum by q, qd and qdd (m, n)."""


@by_kind
def by_motors(robot: Robot) -> Robot:
    """The robot described by the positions of its driven joints: what a motor's encoder shows."""
    return robot


@by_kind
def described(robot: Robot) -> Robot:
    """The robot in coordinates in which its functions have programs."""
    return robot


def base_regressor(robot: Robot) -> Evaluate:
    """The base regressor by its motors' motion: q, qd, qdd (m, n) -> Y (m, n, p); NaN where they cannot stand so."""
    own = described(robot)
    evaluate_own = own_regressor(own)
    if moves_by_motors(own):
        return evaluate_own
    motion = coordinate_motion(robot)
    return lambda q, qd, qdd: evaluate_own(*motion(q, qd, qdd))


def moves_by_motors(robot: Robot) -> bool:
    """Whether its coordinates are its motors' positions."""
    return robot.coordinates == robot.driven


@by_kind
@remembered(4)
def own_regressor(robot: Robot) -> Evaluate:
    """The same by the robot's own coordinates."""
    shape = geometry(robot)
    need_numbers(shape)
    return compile(program(shape, "regressor", base=True, effort=0))


@by_kind
def regressor_slopes(robot: Robot) -> Slopes:
    """The adjoint of the whole regressor by the robot's own coordinates."""
    return compile(program(geometry(robot), "regressor_vjp", effort=0))


def prior_values(robot: Robot, base: BaseParameters) -> Array:
    """(p) the base parameters of the robot's file; zero where its masses are symbols."""
    if robot.symbols:
        return np.zeros(len(base))
    return np.array([float(value) for value in base_values(robot, base)])


@by_kind
def coordinate_motion(robot: Robot) -> Callable[[Array, Array, Array], State]:
    """From its motors' motion to that of the coordinates of `described`, each q, qd, qdd (m, n)."""
    return lambda q, qd, qdd: (q, qd, qdd)


@by_kind
def motor_motion(robot: Robot, q: Array, qd: Array, qdd: Array) -> State:
    """The motors' positions, speeds and accelerations (m, n) along a motion of the robot's own coordinates."""
    return q, qd, qdd
