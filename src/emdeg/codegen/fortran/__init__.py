"""Fortran 2008, the language of EMDEG's own output: a module of pure subroutines."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
