"""The dynamics as linear in its inertial parameters: regressor, base parameters, regrouping."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
