"""Straight-line programs: data, tracing, counting, simplification, verification; the search is `search`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
