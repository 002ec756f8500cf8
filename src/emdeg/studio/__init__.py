"""The live page: a robot, its equations, its code and its motion as one thing, served on this machine alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
