"""Approximate models and programs: the significance rule, the search for approximate programs, certified errors."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.approximation.abbreviation import SECONDS, AbbreviationOptions, abbreviate, as_near, is_long
    from emdeg.approximation.approximation import APPROXIMATED, Approximation, SearchOptions
    from emdeg.approximation.approximation import APPROXIMATED as SHORT_FUNCTIONS
    from emdeg.approximation.approximation import Approximation as Abbreviated
    from emdeg.approximation.approximation import Approximation as ShortProgram
    from emdeg.approximation.limits import friction_limits, rule_limits, tolerance_limits
    from emdeg.approximation.loop_error import MARGIN, LoopError, enclosed
    from emdeg.approximation.parameter_elimination import ChangedRobot, fewer_parameters
    from emdeg.approximation.program_error import ProgramError
    from emdeg.approximation.row_error import (
        TorqueRow,
        certified_errors,
        differences,
        largest_error,
        largest_torques,
        row,
    )
    from emdeg.approximation.shortening.rates import of_rates, unit_rates
    from emdeg.approximation.shortest_program import lumped_approximation, shortest, shortest_within_each
    from emdeg.approximation.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant, sizes
    from emdeg.approximation.statement import (
        StatedModel,
        read_stated,
        show_again,
        show_program_again,
        stated_model,
        stated_program,
    )
    from emdeg.approximation.tradeoff import TradeoffPoint, curve, curve_csv, curve_of_programs, draw, tradeoff_point

on_demand(globals())
