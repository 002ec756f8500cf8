"""Plain Python: a function on sequences of floats, no library but math."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.python.printer import emit_python

on_demand(globals())
