"""Fortran 2008, the language of EMDEG's own output: a module of pure subroutines."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.fortran.printer import emit_fortran

on_demand(globals())
