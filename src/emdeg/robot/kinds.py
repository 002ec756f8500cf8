"""The kinds of mechanism: for each kind one record of what it adds to the core, imported when it is first needed.

The core knows trees. An extension registers its own kind by a `Kind` and marks its robots by their `constraints`. A
function of the core that the extension computes in another way is decorated with `by_kind` and named in `instead`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from emdeg.robot.model import Robot

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

TREE = "tree"
"""The kind of robots without constraints: chains and trees."""

Reference = Any
"""An object, or where it is: "package.module:name"."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What an extension adds for one kind of mechanism. Every value is an object or the place of one.

    `mechanism` is the kind's `MechanismKind`. `implementations`: function's name -> its `Ways` for this kind;
    `functions`: (function that it is listed behind, `Function`) of the kind's own; `measures`: name -> `Measure`.
    `sections` are the top-level keys of a robot file that belong to the kind, `read_sections` reads them;
    `read_equalities` reads the equality constraints of an MJCF file. `instead`: "module:function" of the core, which
    is decorated with `by_kind` -> what this kind does instead.
    """

    name: str
    mechanism: Reference
    implementations: Reference = field(default_factory=dict)
    functions: Reference = ()
    measures: Reference = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    read_sections: Reference = None
    read_equalities: Reference = None
    instead: Mapping[str, Reference] = field(default_factory=dict)


_KINDS: dict[str, Kind] = {}


def register_kind(kind: Kind) -> None:
    """Make a kind of mechanism known; ValueError if its name is taken."""
    if kind.name in _KINDS:
        raise ValueError(f"a kind of mechanism called {kind.name!r} is registered already")
    _KINDS[kind.name] = kind


@contextmanager
def registered(kind: Kind) -> Iterator[Kind]:
    """The kind is known inside the block only."""
    register_kind(kind)
    try:
        yield kind
    finally:
        del _KINDS[kind.name]


def known_kinds() -> tuple[Kind, ...]:
    """Every registered kind, in the order of registration."""
    return tuple(_KINDS.values())


def kind_named(name: str) -> Kind:
    """The record of a kind; LookupError if the extension that registers it was not imported."""
    if name not in _KINDS:
        raise LookupError(f"no extension registers the kind of mechanism {name!r}")
    return _KINDS[name]


def resolved(reference: Reference) -> Any:
    """The object that a reference names, or the object itself."""
    return _imported(reference) if isinstance(reference, str) else reference


@cache
def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def by_kind(function: Callable[Concatenate[Robot, P], R]) -> Callable[Concatenate[Robot, P], R]:
    """A function of a robot for which a kind of mechanism may register another one under `Kind.instead`."""
    place = f"{function.__module__}:{function.__qualname__}"
    REPLACEABLE.add(place)

    @wraps(function)
    def chosen(robot: Robot, *arguments: P.args, **named: P.kwargs) -> R:
        own = kind_named(robot.constraints.kind).instead.get(place)
        return (function if own is None else resolved(own))(robot, *arguments, **named)

    return chosen


REPLACEABLE: set[str] = set()
"""The places of all functions decorated with `by_kind` that were imported so far."""

register_kind(Kind(TREE, "emdeg.dynamics.state:TREE"))
