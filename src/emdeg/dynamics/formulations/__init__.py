"""The formulations of mechanics, one a file, over any scalar."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.formulations import energy, rnea_link_frame
    from emdeg.dynamics.formulations.composite_body import mass_matrix
    from emdeg.dynamics.formulations.energy import potential_energy
    from emdeg.dynamics.formulations.extended_body import Extended, Scheme, dyadic_entry, dyadics, extended_bodies
    from emdeg.dynamics.formulations.friction import (
        FrictionLaw,
        friction_laws,
        need_friction,
        smooth_sign,
    )
    from emdeg.dynamics.formulations.kinematics import homogeneous, tool_pose
    from emdeg.dynamics.formulations.lagrange_uicker import (
        first_derivatives,
        inverse4,
        matmul4,
        pseudo_inertias,
        restated,
        second_derivatives,
        standard_frames,
    )
    from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
    from emdeg.dynamics.formulations.rnea_link_frame import MOMENTS

on_demand(globals())
