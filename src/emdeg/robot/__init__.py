"""What a robot is, how it is read and written, the rules it must keep, where it moves, its numbers as symbols."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
