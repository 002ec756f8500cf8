"""PTX: a kernel for NVIDIA's driver, one thread a state; with a loader that needs NumPy and the driver alone."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.ptx.execution import executed_ptx
    from emdeg.codegen.ptx.loader import beside_ptx, emit_loader
    from emdeg.codegen.ptx.printer import emit_ptx

on_demand(globals())
