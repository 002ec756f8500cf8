"""Short models: significance rules, certified error bounds, two rates, several processors."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.approximation.abbreviation import SECONDS, Abbreviated, abbreviate, is_long
    from emdeg.approximation.changed_robot import ChangedRobot, fewer_parameters
    from emdeg.approximation.efforts import OF_LINKS
    from emdeg.approximation.limits import friction_limits, rule_limits, tolerance_limits
    from emdeg.approximation.loop_error import MARGIN, LoopError, enclosed
    from emdeg.approximation.model_error import largest_efforts
    from emdeg.approximation.processors import Split, split
    from emdeg.approximation.program_error import ProgramError
    from emdeg.approximation.programs import LARGE, printed_program, program, term_program
    from emdeg.approximation.rates_apart import Multirate, holding_error, multirate
    from emdeg.approximation.row_error import EffortRow, RowObjective, largest_error, row, search
    from emdeg.approximation.shared import SharedEfforts
    from emdeg.approximation.short_mechanism import judged_beside, shortest_of_loops
    from emdeg.approximation.short_model import FullModel, ShortModel, Term, full_model
    from emdeg.approximation.short_program import SHORT_FUNCTIONS, ShortProgram
    from emdeg.approximation.shortening.rates import of_rates, unit_rates
    from emdeg.approximation.shortest_program import shortest, shortest_within_each
    from emdeg.approximation.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant, sizes
    from emdeg.approximation.statement import (
        StatedModel,
        inverse_dynamics_of,
        read_stated,
        show_again,
        show_program_again,
        stated,
        stated_program,
    )
    from emdeg.approximation.tables import general_recursion, reduction_tables, totals
    from emdeg.approximation.tradeoff import TradeoffPoint, curve, curve_csv, curve_of_programs, draw

on_demand(globals())
