"""Objects for small processors, and for this one: ELF files made by LLVM, without a compiler."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
