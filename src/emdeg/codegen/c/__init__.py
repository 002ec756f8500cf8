"""C99: a function on the caller's arrays, no allocation, no state."""

from emdeg.codegen.c.template import COptions, emit_c

__all__ = ["COptions", "emit_c"]
