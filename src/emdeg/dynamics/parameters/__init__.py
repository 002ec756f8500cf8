"""The dynamics as linear in its inertial parameters: regressor, base parameters, regrouping."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.dynamics.parameters.base import (
        BaseParameters,
        Column,
        ParameterRelation,
        base_parameters,
        base_values,
        bodies_of,
        combination_text,
        parameters,
        regrouped,
        regrouped_mechanism,
        with_base_values,
    )
    from emdeg.dynamics.parameters.regressor import COLUMNS
    from emdeg.dynamics.parameters.symbolic_regressor import Regressor, regressor_formulas
    from emdeg.dynamics.parameters.varied import VariedRobot, value_of

on_demand(globals())
