"""Programs as text: one folder a target, every artefact with its proof beside it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
