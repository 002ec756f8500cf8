"""The explicit model: M, Christoffel symbols, gravity, kinematics, Jacobians and the relations among them.

Its constants and the forms a person reads: `lumped_constants`, `compact`, `hierarchy`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
