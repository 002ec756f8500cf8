"""The analysis of a design: loads over the workspace, couplings, servo view, capability, tolerances."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
