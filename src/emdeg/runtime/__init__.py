"""Programs as callables: one state or a batch, compiled in this process, on all cores."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
