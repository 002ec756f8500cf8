"""The targets: for each its files' suffix, its printer, and which of a request's options it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from emdeg.codegen.c import beside_c, c_library, c_text
from emdeg.codegen.cpp import emit_cpp
from emdeg.codegen.execution import Run, compiled_c
from emdeg.codegen.fortran import emit_fortran
from emdeg.codegen.interpreted import executed_jax, executed_numpy, executed_python
from emdeg.codegen.jax import emit_jax
from emdeg.codegen.js import emit_js
from emdeg.codegen.numpy import emit_numpy
from emdeg.codegen.object import beside_object, emit_object
from emdeg.codegen.octave import beside_octave, emit_octave, octave_class
from emdeg.codegen.ptx import beside_ptx, emit_ptx, executed_ptx
from emdeg.codegen.python import emit_python
from emdeg.codegen.rust import emit_rust, rust_crate

Target = Literal["c", "cpp", "numpy", "python", "jax", "js", "rust", "octave", "fortran", "object", "ptx"]


@dataclass(frozen=True, slots=True)
class Printing:
    """How a target writes a program: `emit(program, name=, robot=, command=, **options)` is its text or bytes."""

    suffix: str
    emit: Callable[..., str | bytes]
    options: frozenset[str] = frozenset()
    """Names of a request's options that `emit` takes; any other one is refused."""
    execute: Callable[..., Run | None] | None = None
    """`execute(text, name, program, **options)` runs the text itself; None where that cannot be done here."""
    beside: Callable[..., dict[str, str]] | None = None
    """`beside(text, program, name=, meaning=, units=, **options)`: further files, by name, that go with the text."""
    library: Callable[..., Mapping[str, str]] | None = None
    """What makes one library of many functions: `(name, {function's name: program}, **options)` is text by file."""
    is_text: bool = True
    """Whether the file is text that a person reads."""


TARGETS: Mapping[str, Printing] = {
    "c": Printing(
        ".c",
        c_text,
        frozenset({"trig", "batch", "casadi", "acados", "multirate", "single"}),
        compiled_c,
        beside_c,
        c_library,
    ),
    "cpp": Printing(".hpp", emit_cpp, frozenset({"multirate"})),
    "numpy": Printing(".py", emit_numpy, execute=executed_numpy),
    "python": Printing(".py", emit_python, execute=executed_python),
    "jax": Printing(".py", emit_jax, execute=executed_jax),
    "js": Printing(".mjs", emit_js, frozenset({"multirate"})),
    "rust": Printing(".rs", emit_rust, frozenset({"multirate", "single"}), library=rust_crate),
    "octave": Printing(".m", emit_octave, frozenset({"multirate"}), None, beside_octave, octave_class),
    "fortran": Printing(".f90", emit_fortran, frozenset({"multirate", "single"})),
    "object": Printing(
        ".o", emit_object, frozenset({"multirate", "single", "cpu"}), None, beside_object, is_text=False
    ),
    "ptx": Printing(".ptx", emit_ptx, frozenset({"single", "layout", "sm", "loader"}), executed_ptx, beside_ptx),
}
