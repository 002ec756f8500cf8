"""The formulations of mechanics, one a file, over any scalar."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.mechanics.formulations import energy
    from emdeg.mechanics.formulations.composite_body import mass_matrix
    from emdeg.mechanics.formulations.energy import potential_energy
    from emdeg.mechanics.formulations.extended_body import Extended, Scheme, dyadic_entry, dyadics, extended_bodies
    from emdeg.mechanics.formulations.friction import (
        FrictionLaw,
        friction_laws,
        need_friction,
        smooth_sign,
    )
    from emdeg.mechanics.formulations.kinematics import homogeneous, tool_pose
    from emdeg.mechanics.formulations.lagrange_uicker import (
        first_derivatives,
        inverse4,
        matmul4,
        pseudo_inertias,
        restated,
        second_derivatives,
        standard_frames,
    )
    from emdeg.mechanics.formulations.newton_euler import efforts_by_newton_euler

on_demand(globals())
