"""The algorithms of mechanics, each written once and generic in its scalar; `numeric` runs them over doubles."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
