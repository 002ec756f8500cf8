"""The search for small programs: formulations tried and counted, then values said anew in terms of others."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
