"""Closed-loop mechanisms: description, closure, mobility, reduction to independent coordinates, their formulas.

Every function of a model is here as it is at the top of `emdeg`. q are the independent coordinates [rad, m], tau the
torques [N m] or forces [N] of the actuated joints; arrays have shape (..., n).

>>> from emdeg import loops
>>> loops.joint_positions("fivebar", [2.0, 1.0]).shape
(4,)
"""

from typing import TYPE_CHECKING

from emdeg._exports import MODEL_FUNCTIONS, on_demand

if TYPE_CHECKING:
    from emdeg.loops import choose, functions, modes, reduction, views
    from emdeg.loops.analytic_closure import solve
    from emdeg.loops.closing import closing_of, ready
    from emdeg.loops.continuation import continued, march, signs
    from emdeg.loops.description import HALF, Closure, End, Loops, LoopsDraft, NamedEnd, Rod
    from emdeg.loops.kind import numeric_loop_state
    from emdeg.loops.linkage import (
        Anchor,
        Linkage,
        anchor_point,
        constraints,
        in_motion,
        jacobian_matrix,
        linkage_of,
        loops_of,
        rate_of,
        world_frames,
    )
    from emdeg.loops.modes import Branch, FollowedPath
    from emdeg.loops.newton import evaluated, positions_of
    from emdeg.loops.public import (
        branches,
        closure,
        closure_error,
        coordinates_of,
        drive_friction,
        drive_jacobian,
        drive_rates,
        follow_path,
        generalized_friction,
        joint_positions,
        mode,
        motor_inertias,
        named_jacobians,
        reachable,
        reduced_model,
        singularity,
        singularity_map,
        state_rate,
        with_allocation,
        with_branch,
        with_coordinates,
        with_driven,
        with_mode,
        with_modes,
        with_start,
    )
    from emdeg.loops.registration import EXTENSION
    from emdeg.loops.singularities import Conditions, conditions
    from emdeg.loops.state import LoopState
    from emdeg.loops.views import singularity_figures, weak_loops, weakest
    from emdeg.loops.virtual_work import equations_by_virtual_work, point_partials, turning_partials

on_demand(globals(), MODEL_FUNCTIONS)
