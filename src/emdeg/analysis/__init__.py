"""The analysis of a design: loads over the workspace, couplings, servo view, capability, tolerances."""

from emdeg.analysis.capabilities import (
    Capability,
    Ellipsoid,
    capability,
    dynamic_manipulability,
    operational_inertia,
    steady_speed,
    torque_limits,
)
from emdeg.analysis.extremes import JointLoad, formula_extremes, gravity_ceiling, loads, unloaded
from emdeg.analysis.importance import Share, constant_shares, over_workspace, term_shares
from emdeg.analysis.motion import SampledMotion, across, point_to_point
from emdeg.analysis.overview import Analysis, analyse, parts_of
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
from emdeg.robot.workspaces import Workspace, joint_number, workspace

__all__ = [
    "Analysis",
    "Capability",
    "Curves",
    "Ellipsoid",
    "JointLoad",
    "RatioMap",
    "SampledMotion",
    "Ratio",
    "Restricted",
    "ServoView",
    "Share",
    "Spread",
    "Tolerances",
    "VelocityTerm",
    "Workspace",
    "across",
    "analyse",
    "capability",
    "constant_shares",
    "coupling_ratios",
    "curves",
    "dynamic_manipulability",
    "formula_extremes",
    "gravity_ceiling",
    "gravity_ratios",
    "joint_number",
    "largest_of",
    "loads",
    "most_influential",
    "operational_inertia",
    "over_workspace",
    "parts_of",
    "point_to_point",
    "ratio",
    "ratio_map",
    "restrict",
    "servo_view",
    "slow_fast_boundary",
    "steady_speed",
    "term_shares",
    "torque_limits",
    "unloaded",
    "velocity_terms",
    "workspace",
]
