"""The catalogue of functions, and its run over doubles."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.functions import numeric
    from emdeg.dynamics.functions.catalogue import CATALOGUE, FUNCTIONS
    from emdeg.dynamics.functions.derived import (
        COTANGENT,
        PROBE,
        TANGENT,
        flat,
        probe_name,
        probed_outputs,
    )
    from emdeg.dynamics.functions.function import INPUTS, Derivation, Function, Input, Output, Run, Ways, in_radians
    from emdeg.dynamics.functions.lookup import (
        axis_names,
        functions_of,
        input_sizes,
        inputs_of,
        known_functions,
        measures_of,
        proved_by,
        ways_of,
    )
    from emdeg.dynamics.functions.names import DERIVED, RUBBING, WITH_FRICTION, parts_of, with_friction_in
    from emdeg.dynamics.functions.numeric import (
        NumericFunction,
        bias,
        bias_with_friction,
        coriolis_matrix,
        drive_jacobian,
        drive_rates,
        elements,
        evaluate,
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
        numeric_function,
        potential_energy,
        regressor,
        velocities,
    )
    from emdeg.dynamics.functions.regularity import need_regular_somewhere, solves_for_motion

on_demand(globals())
