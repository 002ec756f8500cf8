"""PTX: a kernel for NVIDIA's driver, one thread a state; with a loader that needs NumPy and the driver alone."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
