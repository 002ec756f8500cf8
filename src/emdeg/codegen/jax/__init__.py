"""JAX: the NumPy target's function over jax.numpy; jit, vmap and grad apply to it."""

from typing import TYPE_CHECKING

from emdeg._exports import on_demand

if TYPE_CHECKING:
    from emdeg.codegen.jax.printer import emit_jax

on_demand(globals())
