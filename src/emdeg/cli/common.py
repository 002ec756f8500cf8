"""What every command shares: printing results, exit codes. Nothing heavy is imported here: `emdeg --help` needs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.text import Text

from emdeg.cli.terminal import SafeConsole
from emdeg.documents import write_whole
from emdeg.errors import EmdegError, RobotError, StateError

SCHEMA_VERSION = 1

DONE, CHECK_FAILED, USAGE, BAD_INPUT, OVER_BUDGET, INTERRUPTED = 0, 1, 2, 3, 4, 130
"""The exit codes; see docs/command_line.md."""

BEGAN: ContextVar[float | None] = ContextVar("BEGAN", default=None)
"""When the program began on the processor's clock [s]: what a command promises to take is counted from there."""

# Names from robot files are printed as they are: neither tags nor emoji codes mean anything in them, nor do control
# codes reach the terminal.
out = SafeConsole(highlight=False, markup=False, emoji=False)
err = SafeConsole(stderr=True, highlight=False, emoji=False)


def print_json(result: Any) -> None:
    """The one object a command with --json prints."""
    sys.stdout.write(as_json(result))


def as_json(result: Any, indent: int | None = None) -> str:
    """The text of that object."""
    whole = {"schema_version": SCHEMA_VERSION, "result": result}
    try:
        return json.dumps(whole, default=_plain, allow_nan=False, indent=indent) + "\n"
    except ValueError:
        raise StateError("a number of the result is not finite, and JSON has no word for that") from None


def print_json_error(code: str, message: str, file: str | None = None, line: int | None = None) -> None:
    """Print the one object on stdout that a command with --json ends with where it fails; nothing without --json.

    It is asked of the command line itself, since options may be what is wrong.
    """
    if "--json" in sys.argv[1:]:
        error = {"code": code, "message": message, "file": file, "line": line}
        sys.stdout.write(json.dumps({"schema_version": SCHEMA_VERSION, "error": error}) + "\n")


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


class UsageError(EmdegError, typer.BadParameter, code="usage", exit_code=2):
    """A wrong option value: exit code 2."""


def assignments(texts: list[str], what: str) -> dict[str, str]:
    """{NAME: VALUE} from NAME=VALUE."""
    pairs = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or not value:
            raise UsageError(f"{what} needs NAME=VALUE; got {text!r}")
        if name in pairs:
            raise UsageError(f"{what} says {name} twice")
        pairs[name] = value
    return pairs


def refuse(options: Mapping[str, object], why: str) -> None:
    """UsageError for the first of these options that was given: what has no effect is not passed over in silence.

    Each stands by its name with its value, None or False where it was not given.
    """
    for name, value in options.items():
        if value is not None and value is not False:
            raise UsageError(f"{name} {why}")


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Use this dask scheduler, HOST:PORT; a PORT alone is on this machine."),
]
TrustNetwork = Annotated[
    bool, typer.Option("--trust-network", help="Speak to a scheduler on another machine without TLS.")
]
BestEffort = Annotated[bool, typer.Option("--best-effort", help="Write files although a target was missed.")]


def end_if_missed(missed: Sequence[str], best_effort: bool = False, files: bool = True, interrupted: str = "") -> None:
    """Ends with exit code 1 where targets were missed, each said with what was reached; called last.

    `files`: whether there was something to write, which is done with `best_effort` alone where a target is missed.
    `interrupted`: in words, what there was when somebody interrupted; exit code 130. It is written as at the end.
    """
    if not missed and not interrupted:
        return
    for one in missed:
        say(f"TARGET MISSED: {one}")
    if interrupted:
        say(f"interrupted{interrupted}")
    if files and missed:
        say("written all the same: --best-effort" if best_effort else "nothing is written (--best-effort writes it)")
    raise typer.Exit(INTERRUPTED if interrupted else CHECK_FAILED)


BEST_SO_FAR = ": this is the best found so far, certified like any other"
"""What an interrupted search for a short model says."""


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
