"""The targets: for each its files' suffix, its printer, and which of a request's options it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from emdeg.codegen import cpp, fmu, fortran, jax, js, numpy, octave, ptx, python, rust
from emdeg.codegen import object as of_processors
from emdeg.codegen.c import beside_c, c_library, c_text
from emdeg.codegen.execution import Executed, compiled_c, compiled_c_library
from emdeg.codegen.interpreted import executed_jax, executed_numpy, executed_python
from emdeg.codegen.languages import SPOKEN

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


def _late(package: ModuleType, name: str) -> Callable[..., Any]:
    """A function of a package, loaded when it is first called: a command writes one language."""
    return lambda *given, **named: getattr(package, name)(*given, **named)


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
    "cpp": Printing(".hpp", _late(cpp, "emit_cpp"), SPOKEN["cpp"], frozenset({"multirate"})),
    "numpy": Printing(".py", _late(numpy, "emit_numpy"), executed_numpy),
    "python": Printing(".py", _late(python, "emit_python"), executed_python),
    "jax": Printing(".py", _late(jax, "emit_jax"), executed_jax),
    "js": Printing(".mjs", _late(js, "emit_js"), SPOKEN["js"], frozenset({"multirate"})),
    "rust": Printing(
        ".rs",
        _late(rust, "emit_rust"),
        SPOKEN["rust"],
        frozenset({"multirate", "single"}),
        library=_late(rust, "rust_crate"),
    ),
    "octave": Printing(
        ".m",
        _late(octave, "emit_octave"),
        SPOKEN["octave"],
        frozenset({"multirate"}),
        _late(octave, "beside_octave"),
        _late(octave, "octave_class"),
    ),
    "fortran": Printing(
        ".f90",
        _late(fortran, "emit_fortran"),
        SPOKEN["fortran"],
        frozenset({"multirate", "single"}),
    ),
    "object": Printing(
        ".o",
        _late(of_processors, "emit_object"),
        _late(of_processors, "executed_object"),
        frozenset({"multirate", "single", "cpu"}),
        _late(of_processors, "beside_object"),
        is_text=False,
    ),
    "ptx": Printing(
        ".ptx",
        _late(ptx, "emit_ptx"),
        _late(ptx, "executed_ptx"),
        frozenset({"single", "layout", "sm", "loader"}),
        _late(ptx, "beside_ptx"),
    ),
    "fmu": Printing(
        ".fmu",
        _late(fmu, "of_one_program"),
        _late(fmu, "executed_fmu"),
        frozenset({"fmi", "pd", "tunable"}),
        is_text=False,
    ),
}
