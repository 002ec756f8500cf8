"""The papers' historical formulations, validation of published models, and bench measurement."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
