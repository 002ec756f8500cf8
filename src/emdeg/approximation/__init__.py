"""Approximate models and programs: the significance rule, the search for approximate programs, certified errors."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
