"""MATLAB text, run in GNU Octave: functions over many states at once, and a class of all of a robot's."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
