"""Certified ranges of formulas over boxes of joint positions, rates and accelerations.

>>> from emdeg.algebra import TrigAlgebra
>>> algebra = TrigAlgebra(revolute=[1])
>>> s, c = algebra.joint_sincos(1)
>>> found = extremes(3 * s + 4 * c, {1: (-3.2, 3.2)})
>>> round(found.low.value, 6), round(found.high.value, 6), found.high.gap <= 1e-3
(-5.0, 5.0, True)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
