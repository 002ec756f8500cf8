"""Exact linear algebra over any field: matrices, determinants, systems, echelon forms."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
