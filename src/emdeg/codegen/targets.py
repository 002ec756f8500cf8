"""The targets: for each its files' suffix, its printer, and which of a request's options it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from emdeg.codegen.c import beside_c, c_library, c_text
from emdeg.codegen.cpp import emit_cpp
from emdeg.codegen.execution import Executed, compiled_c, compiled_c_library
from emdeg.codegen.fmu import executed_fmu, of_one_program
from emdeg.codegen.fortran import emit_fortran
from emdeg.codegen.interpreted import executed_jax, executed_numpy, executed_python
from emdeg.codegen.jax import emit_jax
from emdeg.codegen.js import emit_js
from emdeg.codegen.languages import SPOKEN
from emdeg.codegen.numpy import emit_numpy
from emdeg.codegen.object import beside_object, emit_object, executed_object
from emdeg.codegen.octave import beside_octave, emit_octave, octave_class
from emdeg.codegen.ptx import beside_ptx, emit_ptx, executed_ptx
from emdeg.codegen.python import emit_python
from emdeg.codegen.rust import emit_rust, rust_crate

Target = Literal["c", "cpp", "numpy", "python", "jax", "js", "rust", "octave", "fortran", "object", "ptx", "fmu"]


@dataclass(frozen=True, slots=True)
class Printing:
    """How a target writes a program: `emit(program, name=, robot=, command=, **options)` is its text or bytes."""

    suffix: str
    emit: Callable[..., str | bytes]
    execute: Callable[..., Executed]
    """`execute(text, name, program, **options)` runs the text itself; NotExecutable where that cannot be done here."""
    options: frozenset[str] = frozenset()
    """Names of a request's options that `emit` takes; any other one is refused."""
    beside: Callable[..., dict[str, str]] | None = None
    """`beside(text, program, name=, meaning=, units=, **options)`: further files, by name, that go with the text."""
    library: Callable[..., Mapping[str, str]] | None = None
    """What makes one library of many functions: `(name, {function's name: program}, **options)` is text by file."""
    execute_library: Callable[..., Mapping[str, Executed]] | None = None
    """`(files, name, {function's name: program}, **options)`: what executes the functions that the library adds."""
    is_text: bool = True
    """Whether the file is text that a person reads."""


TARGETS: Mapping[str, Printing] = {
    "c": Printing(
        ".c",
        c_text,
        compiled_c,
        frozenset({"trig", "batch", "casadi", "acados", "multirate", "single"}),
        beside_c,
        c_library,
        compiled_c_library,
    ),
    "cpp": Printing(".hpp", emit_cpp, SPOKEN["cpp"], frozenset({"multirate"})),
    "numpy": Printing(".py", emit_numpy, executed_numpy),
    "python": Printing(".py", emit_python, executed_python),
    "jax": Printing(".py", emit_jax, executed_jax),
    "js": Printing(".mjs", emit_js, SPOKEN["js"], frozenset({"multirate"})),
    "rust": Printing(".rs", emit_rust, SPOKEN["rust"], frozenset({"multirate", "single"}), library=rust_crate),
    "octave": Printing(".m", emit_octave, SPOKEN["octave"], frozenset({"multirate"}), beside_octave, octave_class),
    "fortran": Printing(".f90", emit_fortran, SPOKEN["fortran"], frozenset({"multirate", "single"})),
    "object": Printing(
        ".o", emit_object, executed_object, frozenset({"multirate", "single", "cpu"}), beside_object, is_text=False
    ),
    "ptx": Printing(".ptx", emit_ptx, executed_ptx, frozenset({"single", "layout", "sm", "loader"}), beside_ptx),
    "fmu": Printing(".fmu", of_one_program, executed_fmu, frozenset({"fmi", "pd", "tunable"}), is_text=False),
}
