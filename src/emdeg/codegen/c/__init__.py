"""C99: a function on the caller's arrays, no allocation, no state."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.c.library import c_library
    from emdeg.codegen.c.template import COptions, beside_c, c_header, c_text, emit_c

on_demand(globals())
