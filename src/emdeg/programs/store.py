"""Small programs that have been found, kept for the next time: those that come with emdeg, and a user's own.

A program is filed under a digest of everything its function depends on, so a changed robot never meets a stale
program; and whoever takes one out proves it again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from emdeg.errors import NotAProgram, RobotError
from emdeg.programs.ir import Program
from emdeg.programs.json_form import from_data, to_data
from emdeg.robot.assemble import loaded_inertias
from emdeg.robot.model import Robot
from emdeg.writing.files import write_whole

SUFFIX = ".program.json"
LARGEST = 8 * 2**20


def digest(robot: Robot, functions: Sequence[str], weights: str = "operations") -> str:
    """The name a program is filed under: of the robot's constants, the functions and what was weighed."""
    links = [
        (
            link.parent,
            link.joint.name,
            link.joint.kind,
            repr(link.joint.placement),
            repr(inertia.parameters),
            repr(link.joint.drive.inertia),
        )
        for link, inertia in zip(robot.links, loaded_inertias(robot))
    ]
    parts = (links, repr(robot.base), repr(robot.tool), repr(robot.gravity), list(functions), weights)
    if robot.loops is not None:
        parts = (*parts, repr(robot.loops))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def user_folder() -> Path:
    """Where a user's programs are kept: EMDEG_PROGRAMS, else the platform's cache folder."""
    if chosen := os.environ.get("EMDEG_PROGRAMS"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "emdeg" / "programs"


def stored(
    robot: Robot, functions: Sequence[str], weights: str = "operations", folder: Path | None = None
) -> list[Program]:
    """The filed programs that can be read, a user's own first; with `folder` what is filed there alone.

    They are not proved: a file may have been changed.
    """
    found = []
    for text in _texts(digest(robot, functions, weights) + SUFFIX, folder):
        try:
            found.append(from_data(json.loads(text)["program"]))
        except (ValueError, KeyError, TypeError, RecursionError, NotAProgram):
            continue
    return found


def _texts(name: str, folder: Path | None) -> Iterator[str]:
    own = (folder or user_folder()) / name
    try:
        if own.stat().st_size <= LARGEST:
            yield own.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        pass
    if folder is not None:
        return
    shipped = resources.files("emdeg.programs") / "shipped" / name
    if shipped.is_file():
        yield shipped.read_text(encoding="utf-8")


def keep(
    program: Program,
    robot: Robot,
    functions: Sequence[str],
    *,
    found: dict[str, object],
    folder: Path | None = None,
    weights: str = "operations",
) -> Path:
    """File the program (with `found`: how it was found, what proves it); the file's path."""
    folder = folder or user_folder()
    path = folder / (digest(robot, functions, weights) + SUFFIX)
    head = {"robot": robot.name, "functions": list(functions), "weights": weights, **found}
    text = json.dumps({**head, "program": to_data(program)}, indent=0) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole({path: text.encode()})
    except OSError as problem:
        raise RobotError(f"cannot be written: {problem.strerror or problem}", file=str(folder)) from None
    return path
