"""The formulations of mechanics, one a file, over any scalar."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.formulations import energy, rnea_link_frame
    from emdeg.dynamics.formulations.coefficients import Coefficients
    from emdeg.dynamics.formulations.composite_body import composite_inertias, mass_matrix
    from emdeg.dynamics.formulations.energy import potential_energy
    from emdeg.dynamics.formulations.friction import (
        FrictionLaw,
        friction_laws,
        need_friction,
        smooth_sign,
    )
    from emdeg.dynamics.formulations.kinematics import homogeneous, tool_pose
    from emdeg.dynamics.formulations.lagrange import (
        Mat4,
        after,
        homogeneous4,
        lagrange_coefficients,
        matmul4,
        pseudo_inertias,
        transforms,
        transpose4,
    )
    from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
    from emdeg.dynamics.formulations.rnea_link_frame import MOMENTS, LinkMotion, euler_moment, joint_torques, motion

on_demand(globals())
