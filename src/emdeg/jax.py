"""emdeg's functions over JAX's arrays: `emdeg.jax.function("panda", "forward_dynamics")`."""

from emdeg.runtime.operators import jax_function as function

__all__ = ["function"]
