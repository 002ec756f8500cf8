"""Objects for small processors, and for this one: ELF files made by LLVM, without a compiler."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.object.execution import executed_object
    from emdeg.codegen.object.processors import PROCESSORS, Processor
    from emdeg.codegen.object.writer import beside_object, emit_object, instructions

on_demand(globals())
