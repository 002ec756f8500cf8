"""emdeg: the explicit equations of motion of robots, exact, compact and fast.

>>> import emdeg
>>> robot = emdeg.load("planar2r")
>>> emdeg.mass_matrix(robot, [0.0, 0.5]).shape
(2, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from emdeg._version import __version__
from emdeg.equations import Model, derive
from emdeg.errors import ClosureError, EmdegError, OverBudget, RobotError, ScenarioError, SimulationError, StateError
from emdeg.mechanics.functions.numeric import (
    bias,
    coriolis_matrix,
    drive_jacobian,
    elements,
    forward_dynamics,
    forward_dynamics_derivatives,
    forward_kinematics,
    gravity,
    inverse_dynamics,
    inverse_dynamics_derivatives,
    jacobian,
    jacobian_rate,
    kinetic_energy,
    link_transforms,
    mass_matrix,
    momentum,
    potential_energy,
    regressor,
)
from emdeg.mechanics.kane import load_setup
from emdeg.mechanics.loops.views import (
    branches,
    closure_error,
    coordinates_of,
    drive_friction,
    joint_positions,
    motor_inertias,
    named_jacobians,
    reduced_model,
    singularity,
    singularity_map,
    state_rate,
)
from emdeg.mechanics.parameters.base import BaseParameters, base_parameters, base_values, regrouped
from emdeg.mechanics.parameters.regressor_formulas import regressor_formulas
from emdeg.programs.best import program
from emdeg.programs.search.optimise import Optimised, optimise
from emdeg.reduce import abbreviate
from emdeg.robot import Robot, substitute
from emdeg.robot.choose import with_coordinates, with_driven, with_modes, with_start
from emdeg.robot.load import library_names, load
from emdeg.runtime import compile
from emdeg.runtime.kane import KaneModel

if TYPE_CHECKING:
    from emdeg.simulation.controllers.linearisation import linearise
    from emdeg.simulation.run import simulate
    from emdeg.simulation.trajectories.reaching import inverse_kinematics
    from emdeg.sweeps import sweep

_LAZY = {
    "inverse_kinematics": "emdeg.simulation",
    "linearise": "emdeg.simulation",
    "simulate": "emdeg.simulation",
    "sweep": "emdeg.sweeps",
}


def __getattr__(name: str) -> Any:
    """Simulation and sweeps are loaded when they are asked for: they bring half of SciPy along."""
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'emdeg' has no attribute {name!r}")


__all__ = [
    "BaseParameters",
    "ClosureError",
    "EmdegError",
    "KaneModel",
    "Model",
    "Optimised",
    "OverBudget",
    "Robot",
    "RobotError",
    "ScenarioError",
    "SimulationError",
    "StateError",
    "__version__",
    "abbreviate",
    "base_parameters",
    "base_values",
    "bias",
    "branches",
    "closure_error",
    "compile",
    "coordinates_of",
    "coriolis_matrix",
    "derive",
    "drive_friction",
    "drive_jacobian",
    "elements",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "gravity",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_kinematics",
    "jacobian",
    "jacobian_rate",
    "joint_positions",
    "kinetic_energy",
    "library_names",
    "linearise",
    "link_transforms",
    "load",
    "load_setup",
    "mass_matrix",
    "momentum",
    "motor_inertias",
    "named_jacobians",
    "potential_energy",
    "optimise",
    "program",
    "reduced_model",
    "regressor",
    "regressor_formulas",
    "regrouped",
    "simulate",
    "singularity",
    "singularity_map",
    "state_rate",
    "substitute",
    "sweep",
    "with_coordinates",
    "with_driven",
    "with_modes",
    "with_start",
]
