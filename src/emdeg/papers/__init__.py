"""The papers' historical formulations, validation of published models, and bench measurement."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.papers.processors import Split, split
    from emdeg.papers.rates import Multirate, holding_error, multirate
    from emdeg.papers.tables import general_recursion, reduction_tables, totals

on_demand(globals())
