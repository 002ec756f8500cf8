"""C++17: a header of function templates over the scalar, for doubles and for types that differentiate."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.cpp.printer import emit_cpp

on_demand(globals())
