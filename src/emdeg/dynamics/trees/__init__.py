"""Chains and trees: their state, and their functions by every formulation."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.state import tree_state

on_demand(globals())
