"""A package's public names, each imported when it is first asked for.

A package says what it exports in one place: the imports below `if TYPE_CHECKING:` in its `__init__`, which type
checkers and readers see as they stand. `on_demand(globals())` makes them work: nothing is imported that nobody uses
(`emdeg --help` needs next to nothing, simulation brings half of SciPy along), and rooms cannot get into each other's
way while they load.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

MODEL_FUNCTIONS = ("emdeg.dynamics.functions", "numeric_function")
"""Makes the functions of a model by their names, those that no import lists too: the derivatives are too many."""


def on_demand(package: dict[str, Any], family: tuple[str, str] | None = None) -> None:
    """Give a package or a module, by its globals, the `__getattr__` and `__dir__` that find what it exports.

    `family` = (module, function): what no import lists is what the function of the module makes of its name, or None.
    """
    home: str = package["__name__"]

    @cache
    def exports() -> dict[str, tuple[str, str]]:
        return exported(package["__loader__"].get_source(home))

    def look_up(name: str) -> object:
        if name == "__all__":
            return sorted(exports())
        if name not in exports():
            if family is not None and not name.startswith("_") and find_spec(f"{home}.{name}") is None:
                made = getattr(import_module(family[0]), family[1])(name)
                if made is not None:
                    package[name] = made
                    return made
            raise AttributeError(f"module {home!r} has no attribute {name!r}")
        module, inner = exports()[name]
        value = import_module(f"{home}.{inner}") if module == home else getattr(import_module(module), inner)
        package[name] = value
        return value

    def listed() -> list[str]:
        return sorted({*exports(), *package.get("__all__", ())})

    hooks: dict[str, Callable[..., object]] = {"__getattr__": look_up, "__dir__": listed}
    package.update(hooks)


def exported(source: str) -> dict[str, tuple[str, str]]:
    """{public name: (module, name there)} of the imports below `if TYPE_CHECKING:` in a package's `__init__`."""
    found: dict[str, tuple[str, str]] = {}
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.module:
                    found |= {each.asname or each.name: (line.module, each.name) for each in line.names}
    return found
