"""Mechanisms with closed loops in formulas."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.equations.loops.blocks import LOOP_PARTS, derive_loops, loop_document
    from emdeg.equations.loops.expanded import EXPANDED_PARTS, expand_loops, expanded_document

on_demand(globals())
