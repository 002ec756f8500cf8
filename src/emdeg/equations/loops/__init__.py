"""Mechanisms with closed loops in formulas."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.equations.loops.blocks import LoopModel, derive_loops
    from emdeg.equations.loops.expanded import EXPANDED_PARTS, Expanded, expand_loops, expanded_document
    from emdeg.equations.loops.sections import LOOP_PARTS, default_parts, loop_document
    from emdeg.equations.loops.symbols import rate_of

on_demand(globals())
