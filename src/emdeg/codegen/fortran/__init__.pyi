from .printer import emit_fortran as emit_fortran
