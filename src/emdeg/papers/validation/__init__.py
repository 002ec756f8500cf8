"""Published models validated: their file, what its expressions mean, their errors, certified over the workspace."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
