"""An explicit model as a person writes it down: lumped constants, the compact form, EMDEG's hierarchical form."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
