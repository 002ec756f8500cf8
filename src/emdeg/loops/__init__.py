"""Closed-loop mechanisms: description, closure, mobility, reduction to independent coordinates, their formulas.

Every function of a model is here as it is at the top of `emdeg`. q are the independent coordinates [rad, m], tau the
torques [N m] or forces [N] of the actuated joints; arrays have shape (..., n).

>>> from emdeg import loops
>>> loops.joint_positions("fivebar", [2.0, 1.0]).shape
(4,)
"""

from emdeg._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
