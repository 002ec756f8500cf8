"""The public functions of `emdeg.loops`: each takes a robot, the name of a library robot, or the path of a file."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from emdeg.dynamics.functions import numeric as _numeric
from emdeg.loops import choose as _choose
from emdeg.loops import modes as _modes
from emdeg.loops import views as _views
from emdeg.robot import Robot, RobotLike, as_robot

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _of_any_robot(function: Callable[Concatenate[Robot, _P], _R]) -> Callable[Concatenate[RobotLike, _P], _R]:
    """The function for a robot, a library robot's name or a file's path."""

    @wraps(function)
    def of_any_robot(robot: RobotLike, *arguments: _P.args, **named: _P.kwargs) -> _R:
        return function(as_robot(robot), *arguments, **named)

    return of_any_robot


branches = _of_any_robot(_modes.branches)
closure = _numeric.closure
closure_error = _of_any_robot(_views.closure_error)
coordinates_of = _of_any_robot(_views.coordinates_of)
drive_friction = _of_any_robot(_views.drive_friction)
drive_jacobian = _numeric.drive_jacobian
drive_rates = _numeric.drive_rates
joint_positions = _of_any_robot(_views.joint_positions)
generalized_friction = _numeric.generalized_friction
follow_path = _of_any_robot(_modes.follow_path)
mode = _of_any_robot(_modes.mode)
motor_inertias = _of_any_robot(_views.motor_inertias)
named_jacobians = _of_any_robot(_views.named_jacobians)
reduced_model = _of_any_robot(_views.reduced_model)
reachable = _of_any_robot(_views.reachable)
singularity = _of_any_robot(_views.singularity)
singularity_map = _of_any_robot(_views.singularity_map)
state_rate = _of_any_robot(_views.state_rate)
with_allocation = _of_any_robot(_choose.with_allocation)
with_branch = _of_any_robot(_modes.with_branch)
with_coordinates = _of_any_robot(_choose.with_coordinates)
with_driven = _of_any_robot(_choose.with_driven)
with_mode = _of_any_robot(_modes.with_mode)
with_modes = _of_any_robot(_choose.with_modes)
with_start = _of_any_robot(_choose.with_start)
