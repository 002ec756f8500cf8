"""Plain Python: a function on sequences of floats, no library but math."""

from emdeg.codegen.python.printer import emit_python

__all__ = ["emit_python"]
