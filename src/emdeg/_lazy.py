"""Packages whose names are loaded when they are first used, functions of the registry among them.

A package's `__init__.pyi` says what it exports; `lazy_loader` reads it. `emdeg` and `emdeg.loops` have the functions of
a model besides, and the derivatives of each (`gravity_vjp`), which are too many to list.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import lazy_loader


def attach(package: str, filename: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """The `__getattr__`, `__dir__` and `__all__` of a package with a stub and the functions of the registry."""
    from_stub, listed, names = lazy_loader.attach_stub(package, filename)
    exported = frozenset(names)

    def look_up(name: str) -> Any:
        if name in exported:
            return from_stub(name)
        function = None
        if not name.startswith("_") and find_spec(f"{package}.{name}") is None:  # a module is imported by itself
            from emdeg.dynamics.functions import numeric_function

            function = numeric_function(name)
        if function is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, function)
        return function

    return look_up, listed, names
