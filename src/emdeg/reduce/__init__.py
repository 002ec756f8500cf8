"""Approximate models and programs: the significance rule, the search for approximate programs, certified errors."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.reduce.abbreviation import SECONDS, AbbreviationOptions, abbreviate, as_near, is_long
    from emdeg.reduce.approximation import APPROXIMATED, Approximation, SearchOptions
    from emdeg.reduce.approximation import APPROXIMATED as SHORT_FUNCTIONS
    from emdeg.reduce.approximation import Approximation as Abbreviated
    from emdeg.reduce.approximation import Approximation as ShortProgram
    from emdeg.reduce.limits import friction_limits, rule_limits, tolerance_limits
    from emdeg.reduce.loop_error import MARGIN, LoopError, enclosed
    from emdeg.reduce.parameter_elimination import ChangedRobot, fewer_parameters
    from emdeg.reduce.program_error import ProgramError
    from emdeg.reduce.row_error import (
        TorqueRow,
        certified_errors,
        differences,
        largest_error,
        largest_torques,
        row,
    )
    from emdeg.reduce.shortening.rates import of_rates, unit_rates
    from emdeg.reduce.shortest_program import lumped_approximation, shortest, shortest_within_each
    from emdeg.reduce.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant, sizes
    from emdeg.reduce.statement import (
        StatedModel,
        read_stated,
        show_again,
        show_program_again,
        stated_model,
        stated_program,
    )
    from emdeg.reduce.tradeoff import TradeoffPoint, curve, curve_csv, curve_of_programs, draw, tradeoff_point

on_demand(globals())
