"""JAX: the NumPy target's function over jax.numpy; jit, vmap and grad apply to it."""

from emdeg.codegen.jax.printer import emit_jax

__all__ = ["emit_jax"]
