"""Rust: functions on slices that need nothing but `core`, sines and roots included."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
