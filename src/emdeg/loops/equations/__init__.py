"""Mechanisms with closed loops in formulas."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.loops.equations.blocks import LoopModel, derive_loops
    from emdeg.loops.equations.expanded import EXPANDED_PARTS, Expanded, expand_loops, expanded_document
    from emdeg.loops.equations.letters import rate_of as rate_letter
    from emdeg.loops.equations.sections import LOOP_PARTS, default_parts, loop_document

on_demand(globals())
