"""emdeg: the explicit equations of motion of robots, exact, compact and fast.

>>> import emdeg
>>> emdeg.mass_matrix("planar2r", [0.0, 0.5]).shape
(2, 2)

Whatever takes a robot takes what `load` gives, the name of a library robot, or the path of a file. What concerns closed
loops alone is in `emdeg.loops`, Kane's method in `emdeg.kane`, every error in `emdeg.errors`. The derivatives of every
function are functions, too: `emdeg.gravity_vjp("planar2r", q, g_c)`, and likewise `_jvp`, `_hvp` and `_hessian`.
"""

from emdeg import _extensions  # noqa: F401  (registers what comes with emdeg)
from emdeg._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
