"""Programs of Kane's equations, which speeds make them short, and what proves them."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.programs.kane.build import METHODS, drives_of, kane_parts, kane_program
    from emdeg.programs.kane.choice import Candidate, choose, natural_setups
    from emdeg.programs.kane.inputs import INPUTS, Function
    from emdeg.programs.kane.reference import FORMULATION, verify_kane

on_demand(globals())
