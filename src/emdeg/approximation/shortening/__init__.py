"""The search for approximate programs: operations left out of exact ones, what remains tuned to states."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
