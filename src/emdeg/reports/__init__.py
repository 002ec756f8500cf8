"""Pages for people: what emdeg found of a robot, as one HTML page and as LaTeX."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
