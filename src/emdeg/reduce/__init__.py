"""Short models: significance rules, certified error bounds, two rates, several processors."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.reduce.abbreviation import SECONDS, Abbreviated, abbreviate, is_long
    from emdeg.reduce.changed_robot import ChangedRobot, fewer_parameters
    from emdeg.reduce.efforts import OF_LINKS
    from emdeg.reduce.limits import friction_limits, rule_limits, tolerance_limits
    from emdeg.reduce.loop_error import MARGIN, LoopError, enclosed
    from emdeg.reduce.model_error import largest_efforts
    from emdeg.reduce.processors import Split, split
    from emdeg.reduce.program_error import ProgramError
    from emdeg.reduce.programs import LARGE, printed_program, program, term_program
    from emdeg.reduce.rates_apart import Multirate, holding_error, multirate
    from emdeg.reduce.row_error import EffortRow, RowObjective, largest_error, row, search
    from emdeg.reduce.shared import SharedEfforts
    from emdeg.reduce.short_mechanism import judged_beside, shortest_of_loops
    from emdeg.reduce.short_model import FullModel, ShortModel, Term, full_model
    from emdeg.reduce.short_program import SHORT_FUNCTIONS, ShortProgram
    from emdeg.reduce.shortening.rates import of_rates, unit_rates
    from emdeg.reduce.shortest_program import shortest, shortest_within_each
    from emdeg.reduce.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant, sizes
    from emdeg.reduce.statement import (
        StatedModel,
        inverse_dynamics_of,
        read_stated,
        show_again,
        show_program_again,
        stated,
        stated_program,
    )
    from emdeg.reduce.tables import general_recursion, reduction_tables, totals
    from emdeg.reduce.tradeoff import TradeoffPoint, curve, curve_csv, curve_of_programs, draw

on_demand(globals())
