"""Commands about a robot: what chooses it (ROBOT and the options that all of them share), and how it is loaded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer

from emdeg.algebra import Exact, parse_number
from emdeg.cli.common import UsageError, assignments, say
from emdeg.loops import choose
from emdeg.robot import SNAP, Robot, Vector, load, substitute

ROBOT = typer.Argument(metavar="ROBOT", help="A library robot's name, or a file's path.")

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
            list[str] | None,
            typer.Option(
                metavar="FILE|SPEC",
                help="A load: a TOML file, or mass=1.8,com=0:0:0,inertia=xx:yy:zz@LINK. Repeatable.",
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
    "coordinates": (
        Annotated[
            str | None,
            typer.Option(
                metavar="JOINTS",
                help="Closed loops: other independent coordinates, say q1,q2,q3 for a Delta's motors.",
                rich_help_panel=_OPTIONS,
            ),
        ],
        None,
    ),
    "mode": (
        Annotated[
            str | None,
            typer.Option(
                metavar="LABEL",
                help="Closed loops: another way to close, as `emdeg loops ROBOT --branches` lists them, or LOOP=-1,...",
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
    "notes": (
        Annotated[
            bool,
            typer.Option("--notes", help="Every number that was made exact in reading.", rich_help_panel=_OPTIONS),
        ],
        False,
    ),
}


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


def load_robot(
    robot: str,
    *,
    gravity: str | None = None,
    tip: str | None = None,
    lock: list[str] | None = None,
    payload: str | Sequence[str] | None = None,
    set_: list[str] | None = None,
    coordinates: str | None = None,
    mode: str | None = None,
    snap: float = SNAP,
    allow_nonphysical: bool = False,
    notes: bool = False,
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
    if coordinates is not None:
        found = choose.with_coordinates(found, [name.strip() for name in coordinates.split(",")])
    if mode is not None:
        from emdeg.loops import with_mode  # a third of what starting `emdeg count` would import

        found = with_mode(found, mode)
    # Of inertias that no body can have the file itself says so, and why.
    say_notes([note for note in found.notes if not (found.nonphysical and note.startswith("nonphysical"))], notes)
    return found


def say_notes(notes: Sequence[str], every: bool = False) -> None:
    """What was changed or left out in reading a file: every note, or one line for those that say the same of parts."""
    several: dict[str, list[str]] = {}
    for words, what in _ALIKE.items():
        some = [note for note in notes if words in note]
        if len(some) > 2 and not every:
            several[what] = some
    for note in notes:
        if not any(note in some for some in several.values()):
            say(f"note: {note}")
    for what, some in several.items():
        say(f"note: {len(some)} {what}, such as {some[0]} (--notes shows all)")


_ALIKE = {"was read as": "numbers were made exact", "round-off was taken away": "bodies had round-off"}
"""Words in notes of which there may be many -> what they have in common."""


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
            if key == "notes":  # it chooses no other robot
                continue
            value, option = self.options[key], "--" + key.strip("_").replace("_", "-")
            if value == default:
                continue
            for one in value if isinstance(value, list) else [value]:
                words.append(option if value is True else f"{option}={one}")
        return words


def robot_command(app: typer.Typer, name: str) -> Callable[[Callable[..., None]], None]:
    """Register a command whose first parameter is a loaded Robot; the common options are added to its own.

    A command that wants to know what was written, or to load later, annotates that parameter as `Chosen`; one that
    names ROBOT otherwise, as `Annotated[..., typer.Argument(...)]`.
    """

    def register(command: Callable[..., None]) -> None:
        own = inspect.signature(command, eval_str=True).parameters
        wanted = own["robot"].annotation
        wanted, *words = get_args(wanted) if get_origin(wanted) is Annotated else (wanted, ROBOT)

        @wraps(command)
        def run(robot: str, **given: Any) -> None:
            common = {key: given.pop(key) for key in _COMMON}
            chosen = Chosen(robot, common)
            command(chosen if wanted is Chosen else chosen.load(), **given)

        kind = inspect.Parameter.KEYWORD_ONLY
        positional = inspect.Parameter(
            "robot", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Annotated[str, *words]
        )
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
        app.command(name)(run)

    return register
