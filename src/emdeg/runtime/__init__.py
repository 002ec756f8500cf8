"""Programs as callables: one state or a batch, compiled in this process, on all cores."""

from emdeg.runtime.compiled import BoundProgram, CompiledProgram, compile

__all__ = ["BoundProgram", "CompiledProgram", "compile"]
