"""emdeg: the explicit equations of motion of robots, exact, compact and fast.

>>> import emdeg
>>> emdeg.mass_matrix("planar2r", [0.0, 0.5]).shape
(2, 2)

Whatever takes a robot takes what `load` gives, the name of a library robot, or the path of a file. What concerns closed
loops alone is in `emdeg.loops`, Kane's method in `emdeg.kane`, every error in `emdeg.errors`. The derivatives of every
function are functions, too: `emdeg.gravity_vjp("planar2r", q, g_c)`, and likewise `_jvp`, `_hvp` and `_hessian`.
"""

from typing import TYPE_CHECKING

from emdeg import _extensions
from emdeg._exports import MODEL_FUNCTIONS, on_demand

if TYPE_CHECKING:
    from emdeg import errors, jax, kane, loops, torch
    from emdeg._version import __version__
    from emdeg.analysis import analyse
    from emdeg.approximation import abbreviate
    from emdeg.codegen import generate, verify
    from emdeg.dynamics.functions import (
        bias,
        bias_with_friction,
        coriolis_matrix,
        elements,
        forward_dynamics,
        forward_dynamics_derivatives,
        forward_dynamics_derivatives_with_friction,
        forward_dynamics_with_friction,
        forward_kinematics,
        friction,
        gravity,
        inverse_dynamics,
        inverse_dynamics_derivatives,
        inverse_dynamics_derivatives_with_friction,
        inverse_dynamics_with_friction,
        inverse_jacobian,
        jacobian,
        jacobian_determinant,
        jacobian_rate,
        kinetic_energy,
        link_transforms,
        mass_matrix,
        momenta,
        momentum,
        momentum_rates,
        potential_energy,
        regressor,
        velocities,
    )
    from emdeg.dynamics.parameters import base_parameters
    from emdeg.equations import Model, derive
    from emdeg.errors import (
        ClosureError,
        EmdegError,
        NotCertified,
        OverBudget,
        Refuted,
        RobotError,
        ScenarioError,
        StateError,
        UnknownFunction,
    )
    from emdeg.programs import Program, optimise, program
    from emdeg.reports import report
    from emdeg.robot import Robot, library_names, load, substitute
    from emdeg.runtime import compile
    from emdeg.runtime.operators import casadi
    from emdeg.simulation import inverse_kinematics, linearise, rollout, simulate
    from emdeg.sweeps import sweep

on_demand(globals(), MODEL_FUNCTIONS)
