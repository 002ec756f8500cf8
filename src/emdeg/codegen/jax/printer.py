"""A program as a module over jax.numpy."""

from __future__ import annotations

from emdeg.codegen.numpy.printer import array_module
from emdeg.programs import Program


def emit_jax(program: Program, *, name: str | None = None, robot: str = "", command: str = "") -> str:
    """The text of `<name>.py`, pure and traceable. Precision is JAX's: enable x64 for doubles."""
    return array_module(program, "import jax.numpy as jnp", "jnp", name=name, robot=robot, command=command)
