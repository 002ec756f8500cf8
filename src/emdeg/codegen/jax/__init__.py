"""JAX: the NumPy target's function over jax.numpy; jit, vmap and grad apply to it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
