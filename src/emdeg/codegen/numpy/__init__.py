"""NumPy: a function on arrays whose last axis runs over joints, leading axes over states."""

from emdeg.codegen.numpy.printer import emit_numpy

__all__ = ["emit_numpy"]
