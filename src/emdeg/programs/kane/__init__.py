"""Programs of Kane's equations, which speeds make them short, and what proves them."""

from emdeg.programs.kane.build import INPUTS, METHODS, Function, kane_parts, kane_program
from emdeg.programs.kane.choice import Candidate, choose, natural_setups
from emdeg.programs.kane.reference import FORMULATION, verify_kane

__all__ = [
    "FORMULATION",
    "INPUTS",
    "METHODS",
    "Candidate",
    "Function",
    "choose",
    "kane_parts",
    "kane_program",
    "natural_setups",
    "verify_kane",
]
