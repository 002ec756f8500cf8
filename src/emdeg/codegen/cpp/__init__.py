"""C++17: a header of function templates over the scalar, for doubles and for types that differentiate."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
