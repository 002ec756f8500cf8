"""The dynamics as linear in its inertial parameters: regressor, base parameters, regrouping."""

from emdeg.mechanics.parameters.base import (
    BaseParameters,
    Column,
    ParameterRelation,
    base_parameters,
    base_values,
    combination_text,
    parameters,
    regrouped,
    regrouped_mechanism,
)
from emdeg.mechanics.parameters.regressor import COLUMNS
from emdeg.mechanics.parameters.symbolic_regressor import Regressor, regressor_formulas

__all__ = [
    "COLUMNS",
    "BaseParameters",
    "Column",
    "Regressor",
    "ParameterRelation",
    "base_parameters",
    "base_values",
    "combination_text",
    "parameters",
    "regressor_formulas",
    "regrouped",
    "regrouped_mechanism",
]
