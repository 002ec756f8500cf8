"""Programs on NVIDIA GPUs: PTX by LLVM, loaded by the driver; no toolkit, no compiler."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
