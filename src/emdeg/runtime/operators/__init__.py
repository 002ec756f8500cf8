"""A robot's functions as operators of torch and JAX, differentiated by the adjoint programs, and of CasADi."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
