"""NumPy: a function on arrays whose last axis runs over joints, leading axes over states."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.numpy.printer import emit_numpy

on_demand(globals())
