"""A functional mock-up unit: forward dynamics with friction and limits for FMI 3.0 and 2.0; sources and a binary."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
