"""Factoring of sums of products: what they share taken out, as symbols of its own or as nested brackets."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
