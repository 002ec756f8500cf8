"""A functional mock-up unit: forward dynamics with friction and limits for FMI 3.0 and 2.0; sources and a binary."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.fmu.archive import executed_fmu, of_one_program
    from emdeg.codegen.fmu.unit import FmuRequest, make_fmu, recheck_fmu

on_demand(globals())
