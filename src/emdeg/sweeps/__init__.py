"""Design studies: what varies, what is computed, on all cores or a cluster, resumable; see docs/sweeps.md."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
