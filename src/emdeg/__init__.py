"""emdeg: the explicit equations of motion of robots, exact, compact and fast.

>>> import emdeg
>>> robot = emdeg.load("planar2r")
>>> emdeg.mass_matrix(robot, [0.0, 0.5]).shape
(2, 2)
"""

from emdeg.equations import Model, derive
from emdeg.equations.base_parameters import BaseParameters, base_parameters, base_values, regrouped
from emdeg.equations.regressor import regressor, regressor_formulas
from emdeg.mechanics.numeric import (
    StateError,
    bias,
    coriolis_matrix,
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
)
from emdeg.program.build import program
from emdeg.reduce import abbreviate
from emdeg.robot import OverBudget, Robot, RobotError, substitute
from emdeg.robot.load import library_names, load
from emdeg.runtime import compile

__version__ = "0.1.0"

__all__ = [
    "BaseParameters",
    "Model",
    "OverBudget",
    "Robot",
    "RobotError",
    "StateError",
    "abbreviate",
    "base_parameters",
    "base_values",
    "bias",
    "compile",
    "coriolis_matrix",
    "derive",
    "elements",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "gravity",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_rate",
    "kinetic_energy",
    "library_names",
    "link_transforms",
    "load",
    "mass_matrix",
    "momentum",
    "potential_energy",
    "program",
    "regressor",
    "regressor_formulas",
    "regrouped",
    "substitute",
]
