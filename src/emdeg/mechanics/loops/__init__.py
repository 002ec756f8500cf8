"""Closed loops: closure, mobility, reduction to independent coordinates."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.mechanics.loops import choose, functions, modes, reduction, views
    from emdeg.mechanics.loops.closing import closing_of, ready
    from emdeg.mechanics.loops.closure import solve
    from emdeg.mechanics.loops.continuation import continued, march, signs
    from emdeg.mechanics.loops.description import HALF, Closure, End, Loops, LoopsDraft, NamedEnd, Rod
    from emdeg.mechanics.loops.kind import numeric_loop_state
    from emdeg.mechanics.loops.linkage import (
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
    from emdeg.mechanics.loops.modes import Branch, FollowedPath, branches, follow_path, mode, with_branch, with_mode
    from emdeg.mechanics.loops.newton import evaluated, positions_of
    from emdeg.mechanics.loops.registration import EXTENSION
    from emdeg.mechanics.loops.singularity import Conditions, conditions
    from emdeg.mechanics.loops.state import LoopState
    from emdeg.mechanics.loops.views import (
        coordinates_of,
        joint_positions,
        open_by,
        reachable,
        singularity_figures,
        weak_loops,
        weakest,
    )
    from emdeg.mechanics.loops.virtual_work import equations_by_virtual_work, named_partials

on_demand(globals())
