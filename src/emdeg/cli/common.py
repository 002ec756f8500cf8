"""What every command shares: loading a robot by its options, printing results, exit codes."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from emdeg.algebra import Exact, parse_number
from emdeg.errors import EmdegError, RobotError
from emdeg.robot.load import SNAP, load
from emdeg.robot.model import Robot, Vector
from emdeg.robot.substitute import substitute
from emdeg.writing.files import write_whole

SCHEMA_VERSION = 1

DONE, CHECK_FAILED, USAGE, BAD_INPUT, OVER_BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit codes; see docs/command_line.md."""

# Names from robot files are printed as they are: neither tags nor emoji codes mean anything in them.
out = Console(highlight=False, markup=False, emoji=False)
err = Console(stderr=True, highlight=False, emoji=False)


def print_json(result: Any) -> None:
    """The one object a command with --json prints."""
    sys.stdout.write(as_json(result))


def as_json(result: Any, indent: int | None = None) -> str:
    """The text of that object."""
    whole = {"schema_version": SCHEMA_VERSION, "result": result}
    return json.dumps(whole, default=_plain, allow_nan=False, indent=indent) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


def head(text: str, rest: str = "") -> None:
    """A line of the result that begins in bold."""
    out.print(Text.assemble((text, "bold"), f"  {rest}" if rest else ""))


def say(text: str) -> None:
    """A line for the person, on stderr, so that stdout stays the result's."""
    err.print(text, markup=False, soft_wrap=True)


class UsageError(EmdegError, typer.BadParameter):
    """A wrong option value: exit code 2."""


def vector(text: str, what: str) -> Vector:
    """Three exact numbers from "x,y,z"."""
    parts = text.split(",")
    if len(parts) != 3:
        raise UsageError(f"{what} needs three numbers x,y,z; got {text!r}")
    try:
        x, y, z = (Exact.of(parse_number(part)) for part in parts)
    except ValueError as problem:
        raise UsageError(f"{what}: {problem}") from None
    return x, y, z


def assignments(texts: list[str], what: str) -> dict[str, str]:
    """{NAME: VALUE} from NAME=VALUE."""
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise UsageError(f"{what} needs NAME=VALUE; got {text!r}")
        pairs[name] = value
    return pairs


RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help="A library robot's name, or a file's path.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]

_OPTIONS = "The robot"
_COMMON: dict[str, tuple[Any, Any]] = {
    "gravity": (
        Annotated[
            str | None,
            typer.Option(metavar="X,Y,Z", help="Gravity [m/s^2] in the base frame.", rich_help_panel=_OPTIONS),
        ],
        None,
    ),
    "tip": (
        Annotated[
            str | None,
            typer.Option(metavar="LINK", help="The link or frame that is the tool.", rich_help_panel=_OPTIONS),
        ],
        None,
    ),
    "lock": (
        Annotated[
            list[str] | None,
            typer.Option(
                metavar="JOINT=VALUE",
                help="Make a joint rigid at a value [rad, m, or '30 deg']. Repeatable.",
                rich_help_panel=_OPTIONS,
            ),
        ],
        None,
    ),
    "payload": (
        Annotated[
            str | None,
            typer.Option(
                metavar="FILE|SPEC",
                help="A load: a TOML file, or mass=1.8,com=0:0:0,inertia=xx:yy:zz@LINK.",
                rich_help_panel=_OPTIONS,
            ),
        ],
        None,
    ),
    "set_": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--set",
                metavar="NAME=VALUE",
                help="A number for a symbol. Repeatable.",
                rich_help_panel=_OPTIONS,
            ),
        ],
        None,
    ),
    "snap": (
        Annotated[
            float,
            typer.Option(
                metavar="ANGLE",
                help="URDF and MJCF angles within this [rad] of a multiple of pi/12 are made exact; 0 disables.",
                rich_help_panel=_OPTIONS,
            ),
        ],
        SNAP,
    ),
    "allow_nonphysical": (
        Annotated[
            bool,
            typer.Option(
                "--allow-nonphysical", help="Go on with inertias that no body can have.", rich_help_panel=_OPTIONS
            ),
        ],
        False,
    ),
}


def load_robot(
    robot: str,
    *,
    gravity: str | None = None,
    tip: str | None = None,
    lock: list[str] | None = None,
    payload: str | None = None,
    set_: list[str] | None = None,
    snap: float = SNAP,
    allow_nonphysical: bool = False,
) -> Robot:
    """The robot that the common options describe; what was changed on the way is said on stderr."""
    if not 0 <= snap < 0.1:
        raise UsageError(f"--snap must lie in [0, 0.1) rad; got {snap}")
    found = load(
        robot,
        tip=tip,
        lock=assignments(lock or [], "--lock"),
        payload=payload,
        gravity=None if gravity is None else vector(gravity, "--gravity"),
        snap=snap,
        allow_nonphysical=allow_nonphysical,
    )
    values = assignments(set_ or [], "--set")
    if values:
        try:
            numbers: Mapping[str, Exact] = {name: Exact.of(parse_number(text)) for name, text in values.items()}
        except ValueError as problem:
            raise UsageError(f"--set: {problem}") from None
        found = substitute(found, numbers)
    for note in found.notes:
        if not (found.nonphysical and note.startswith("nonphysical")):  # the file itself says so, and why
            say(f"note: {note}")
    return found


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a person wrote for ROBOT and the common options; not loaded yet."""

    argument: str
    options: Mapping[str, Any]

    def load(self) -> Robot:
        return load_robot(self.argument, **self.options)

    @property
    def words(self) -> list[str]:
        """The words of a command that choose the same robot."""
        words = [self.argument]
        for key, (_, default) in _COMMON.items():
            value, option = self.options[key], "--" + key.strip("_").replace("_", "-")
            if value == default:
                continue
            for one in value if isinstance(value, list) else [value]:
                words.append(option if value is True else f"{option}={one}")
        return words


def robot_command(
    app: typer.Typer, name: str, argument: Any = RobotArgument, **settings: Any
) -> Callable[[Callable[..., None]], None]:
    """Register a command whose first parameter is a loaded Robot; the common options are added to its own.

    A command that wants to know what was written, or to load later, annotates that parameter as `Chosen`.
    """

    def register(command: Callable[..., None]) -> None:
        own = inspect.signature(command, eval_str=True).parameters

        @wraps(command)
        def run(robot: str, **given: Any) -> None:
            common = {key: given.pop(key) for key in _COMMON}
            chosen = Chosen(robot, common)
            command(chosen if own["robot"].annotation is Chosen else chosen.load(), **given)

        kind = inspect.Parameter.KEYWORD_ONLY
        positional = inspect.Parameter("robot", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=argument)
        parameters = [
            positional,
            *(p.replace(kind=kind) for key, p in own.items() if key != "robot"),
            *(
                inspect.Parameter(key, kind, default=default, annotation=note)
                for key, (note, default) in _COMMON.items()
            ),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        del run.__wrapped__  # type: ignore[attr-defined]
        app.command(name, **settings)(run)

    return register


def write_new(path: Path, text: str, force: bool = False) -> None:
    """Write a file whole or not at all; an existing one only with `force`."""
    if path.exists() and not force:
        raise RobotError(
            f"it exists already; pass --force to replace it (or choose another name than {path.name})", file=str(path)
        )
    try:
        write_whole({path: text.encode()})
    except OSError as problem:
        raise RobotError(f"cannot be written: {problem.strerror or problem}", file=str(path)) from None
