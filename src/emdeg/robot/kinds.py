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

from emdeg.errors import RobotError

if TYPE_CHECKING:
    from emdeg.robot.model import Robot

P = ParamSpec("P")
R = TypeVar("R")
X = TypeVar("X")

TREE_KIND = "tree"
"""The kind of robots without constraints: chains and trees."""

Reference = Any
"""An object, or where it is: "package.module:name"."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """What an extension adds for one kind of mechanism. Every value is an object or the place of one.

    `mechanism` is the kind's `MechanismKind`. `implementations`: function's name -> its `Ways` for this kind;
    `functions`: (function that it is listed behind, `Function`) of the kind's own; `measures`: name -> `Measure`.
    `sections` are the top-level keys of a robot file that belong to the kind, `read_sections` reads them;
    `read_equalities` reads the equality constraints of an MJCF file. `options`: an option of the command line that
    chooses a robot -> (robot, text) -> robot. `instead`: "module:function" of the core, which
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
    options: Mapping[str, Reference] = field(default_factory=dict)
    instead: Mapping[str, Reference] = field(default_factory=dict)


_KINDS: dict[str, Kind] = {}
_ADDITIONS: dict[str, tuple[Reference, ...]] = {}


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


def register_addition(table: str, rows: Reference) -> None:
    """Add rows to a table of the core: "formulations" of functions, "parts" of a derivation, or "records" of code.

    A row of "records" is (key of a verification record, function that repeats the verification of (text, record)).
    """
    _ADDITIONS[table] = (*additions(table), rows)


@contextmanager
def registered_addition(table: str, rows: Reference) -> Iterator[None]:
    """The rows are in the table inside the block only."""
    before = additions(table)
    register_addition(table, rows)
    try:
        yield
    finally:
        _ADDITIONS[table] = before


def additions(table: str) -> tuple[Reference, ...]:
    """What extensions add to a table of the core, in the order of registration: sequences of rows, to be `resolved`."""
    return _ADDITIONS.get(table, ())


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


def by_kind(function: Callable[Concatenate[X, P], R]) -> Callable[Concatenate[X, P], R]:
    """A function for which a kind of mechanism may register another one under `Kind.instead`.

    The kind is that of the first argument: a robot, or an object with a robot as its attribute `robot`.
    """
    place = f"{function.__module__}:{function.__qualname__}"
    REPLACEABLE.add(place)

    @wraps(function)
    def chosen(subject: X, *arguments: P.args, **named: P.kwargs) -> R:
        robot: Any = getattr(subject, "robot", subject)
        own = kind_named(robot.constraints.kind).instead.get(place)
        return (function if own is None else resolved(own))(subject, *arguments, **named)

    return chosen


def with_option(robot: Robot, name: str, text: str) -> Robot:
    """The robot as an option that only some kinds of mechanism have says, such as --coordinates; else RobotError."""
    own = kind_named(robot.constraints.kind).options
    if name not in own:
        known = " or ".join(kind.name for kind in known_kinds() if name in kind.options)
        raise RobotError(f"it has no {known}", body=robot.name)
    return resolved(own[name])(robot, text)


REPLACEABLE: set[str] = set()
"""The places of all functions decorated with `by_kind` that were imported so far."""

register_kind(Kind(TREE_KIND, "emdeg.dynamics.state:TREE"))
