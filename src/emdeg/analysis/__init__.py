"""The analysis of a design: loads over the workspace, couplings, servo view, capability, tolerances."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.analysis.account import Account, AccountStep, account_figure, account_of
    from emdeg.analysis.capabilities import (
        Capability,
        Ellipsoid,
        capability,
        capability_from,
        dynamic_manipulability,
        ellipsoid_from,
        mobility,
        operational_inertia,
        steady_speed,
        torque_limits,
    )
    from emdeg.analysis.extremes import JointLoad, formula_extremes, gravity_ceiling, loads, unloaded
    from emdeg.analysis.figures import COLOURS, check_folder, new_figure, plain, save_figure
    from emdeg.analysis.importance import Share, constant_shares, over_workspace, term_shares
    from emdeg.analysis.improvement import Improvement, Influence, improvement_figure, improvement_of
    from emdeg.analysis.loops import closing_workspace
    from emdeg.analysis.motion import SampledMotion, across, point_to_point
    from emdeg.analysis.overview import LOOP_PARTS, TREE_PARTS, Analysis, analyse, parts_of
    from emdeg.analysis.ratios import (
        Curves,
        Ratio,
        RatioMap,
        coupling_ratios,
        curves,
        gravity_ratios,
        largest_of,
        most_influential,
        ratio,
        ratio_map,
    )
    from emdeg.analysis.restricted import Restricted, restrict
    from emdeg.analysis.servo import ServoView, servo_view, slow_fast_boundary
    from emdeg.analysis.tolerance import Spread, Tolerances
    from emdeg.analysis.velocity import VelocityTerm, velocity_terms
    from emdeg.robot import Workspace, joint_number, workspace

on_demand(globals())
