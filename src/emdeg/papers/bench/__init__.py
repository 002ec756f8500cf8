"""Bench measurement of a robot's parameters: readings of a campaign, their formulas, the robot that follows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
