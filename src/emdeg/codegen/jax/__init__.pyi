from .printer import emit_jax as emit_jax
