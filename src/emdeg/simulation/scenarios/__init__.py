"""Scenarios: files that say what a robot shall do, read, carried out, and what came of them. Some come with emdeg."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
