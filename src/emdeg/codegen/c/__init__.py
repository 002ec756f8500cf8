"""C99: a function on the caller's arrays, no allocation, no state."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
