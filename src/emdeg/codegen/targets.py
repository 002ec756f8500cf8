"""The targets: for each its files' suffix, its printer, and which of a request's options it understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from emdeg.codegen.c import c_text
from emdeg.codegen.jax import emit_jax
from emdeg.codegen.js import emit_js
from emdeg.codegen.numpy import emit_numpy
from emdeg.codegen.python import emit_python

Target = Literal["c", "numpy", "python", "jax", "js"]


@dataclass(frozen=True, slots=True)
class Printing:
    """How a target writes a program: `emit(program, name=, robot=, command=, **options)` is the file's text."""

    suffix: str
    emit: Callable[..., str]
    options: frozenset[str] = frozenset()
    """Names of a request's options that `emit` takes; any other one is refused."""


TARGETS: Mapping[str, Printing] = {
    "c": Printing(".c", c_text, frozenset({"trig", "batch", "casadi", "multirate", "single"})),
    "numpy": Printing(".py", emit_numpy),
    "python": Printing(".py", emit_python),
    "jax": Printing(".py", emit_jax),
    "js": Printing(".mjs", emit_js, frozenset({"multirate"})),
}
