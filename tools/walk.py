"""The way the data takes: which rooms and files of src/emdeg a run walks through, in which order, what it derives.

    python tools/walk.py                      # the walk `urdf_to_c`
    python tools/walk.py --list               # the walks that have names
    python tools/walk.py abbreviate --files   # another one, file by file
    python tools/walk.py -- count puma560 inverse_dynamics      # a command line of one's own
    python tools/walk.py --json
    python tools/walk.py --keep               # for docs/architecture.md: docs/data/walk.json (then tools/tables.py)

A walk is one command line of emdeg or several, run one after the other in this process.

What is counted. A *file* is on the walk if a function, method, lambda or comprehension written in it ran, in this
process, because a command asked for it. Not counted: the body of a module or class and whatever runs while a module is
imported; `src/emdeg/cli`, which every walk passes; generated methods (a dataclass's `__init__`), which are in no file;
functions written in C; other processes.

A *room* is a package below src/emdeg. A *step back* is one along the plan (the layers of pyproject.toml): the command
line calls a room after it has called one further down (`algebra` and `documents`, tools of every room, do not count). A
call *against the plan* is one from a room straight to a module's function in a room further down: a function that was
handed over, or an import that hides. (Methods and closures do not count: an algorithm calls the operators of whatever
scalar it is given.) A call from a room into one above it is what rooms are for: it is neither.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import threading
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from unittest import mock

import emdeg
from emdeg.cli import main as command_line

ROOT = Path(emdeg.__file__).parent
HOME = Path(__file__).parents[1]
ARM = HOME / "examples" / "arm.urdf"
KEPT = HOME / "docs" / "data" / "walk.json"

OWN = "cli"
"""The command line: on every walk, on none counted."""

TOOLS = ("emdeg", "algebra", "documents")
"""Rooms that everyone uses, at any time: no stations on the way."""


def _plan() -> list[str]:
    """The rooms from the top of the plan downward: those that import-linter is told of, without the command line."""
    contract = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = contract["contracts"][0]["layers"]
    packages = [name.strip(" ()") for layer in reversed(layers) for name in layer.split(":")]
    return [package for package in packages if package != OWN]


PLAN = _plan()

VERBS = {
    "load": ("robot", "load"),
    "derive": ("equations", "derive"),
    "optimise": ("programs", "optimise"),
    "generate": ("codegen", "make_artefact"),
    "verify": ("programs", "verify_program"),
}
"""What a walk should do once: verb -> room, function."""

WALKS: dict[str, tuple[str, ...]] = {
    "urdf_to_c": (
        "derive arm.urdf --out equations.txt",
        "optimise arm.urdf inverse_dynamics --effort 5",
        "generate arm.urdf --function inverse_dynamics --target c --out code",
        "verify code/arm_inverse_dynamics.c",
    ),
    "abbreviate": ("abbreviate arm.urdf --significance 0.05 --seconds 2",),
    "count": ("count puma560 inverse_dynamics",),
    "loops": ("derive delta --out equations.txt", "generate delta --function inverse_dynamics --out code"),
}
"""Name -> command lines, run in a folder where examples/arm.urdf lies."""


@dataclass
class Walk:
    """What a run did, counted as the module says."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """Path below src/emdeg -> its functions that ran; both in the order of their first calls."""
    outside: list[str] = field(default_factory=list)
    """`file:function` that the command line called, in the order of the first calls."""
    against: list[tuple[str, str]] = field(default_factory=list)
    """Calling and called function of each call against the plan."""
    verbs: Counter[str] = field(default_factory=Counter)
    """Verb -> how often it ran."""

    @property
    def rooms(self) -> dict[str, list[str]]:
        """Room -> its files on the walk, both in the order in which they were reached."""
        rooms: dict[str, list[str]] = {}
        for file in self.files:
            rooms.setdefault(room_of(file), []).append(file)
        return rooms

    @property
    def back(self) -> list[tuple[str, str]]:
        """The steps back: what the command line called last, and what above it in the plan it called next."""
        stations = [function for function in self.outside if room_of(function) not in TOOLS]
        return [(here, there) for here, there in pairwise(stations) if rank(room_of(there)) < rank(room_of(here))]

    def as_data(self) -> dict[str, object]:
        """For JSON."""
        return {
            "files": len(self.files),
            "verbs": {verb: self.verbs[verb] for verb in VERBS},
            "rooms": self.rooms,
            "functions": self.files,
            "from_outside": self.outside,
            "back": [{"from": here, "to": there} for here, there in self.back],
            "against_the_plan": [{"from": here, "to": there} for here, there in self.against],
        }


def room_of(file: str) -> str:
    """The room of a path below src/emdeg; "emdeg" for the package's own modules."""
    return file.split("/")[0] if "/" in file else "emdeg"


def rank(room: str) -> int:
    """The room's place in the plan, from the top; the package's own modules stand above all."""
    return PLAN.index(room) if room in PLAN else -1


def traced(commands: Sequence[Sequence[str]]) -> Walk:
    """The walk of these command lines, in a folder of their own with arm.urdf and an empty store of programs."""
    walk = Walk()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, XDG_CACHE_HOME=folder, XDG_DATA_HOME=folder),
    ):
        shutil.copy(ARM, folder)
        for words in commands:
            with _watched(walk):
                _run(words)
    return walk


def _run(words: Sequence[str]) -> None:
    """The command, its output kept back; SystemExit with what it said if it fails."""
    said = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
        mock.patch.object(sys, "argv", ["emdeg", *words]),
    ):
        try:
            command_line()
        except SystemExit as end:
            if end.code:
                raise SystemExit(f"emdeg {' '.join(words)}: exit code {end.code}\n{said.getvalue()}") from None


@contextlib.contextmanager
def _watched(walk: Walk) -> Iterator[None]:
    watch = _Watch(walk)
    threading.settrace(watch)
    sys.settrace(watch)
    try:
        yield
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


class _Watch:
    """A trace function that hears every call and looks at the first one from each function to each other."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.seen: set[tuple[CodeType | None, CodeType]] = set()
        self.verbs: dict[CodeType, str] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code in self.verbs:
            self.walk.verbs[self.verbs[code]] += 1
        call = (frame.f_back.f_code if frame.f_back is not None else None, code)
        if call in self.seen:
            return
        file = _place(code)
        if file is None or room_of(file) == OWN:
            self.seen.add(call)
        elif not _importing(frame):
            self.seen.add(call)
            self._note(call[0], code, file)

    def _note(self, caller: CodeType | None, code: CodeType, file: str) -> None:
        walk, name = self.walk, code.co_qualname
        functions = walk.files.setdefault(file, [])
        if name not in functions:
            functions.append(name)
        for verb, (room, function) in VERBS.items():
            if (room_of(file), name) == (room, function) and code not in self.verbs:
                self.verbs[code] = verb
                walk.verbs[verb] += 1
        place = _place(caller) if caller is not None else None
        if place is None or caller is None:
            return
        here = room_of(place)
        if here == OWN:
            walk.outside.append(f"{file}:{name}")
        elif rank(room_of(file)) > rank(here) >= 0 and "." not in name and name != "<lambda>":
            walk.against.append((f"{place}:{caller.co_qualname}", f"{file}:{name}"))


@cache
def _place(code: CodeType) -> str | None:
    """The path below src/emdeg of what the code was written in; None elsewhere."""
    path = Path(code.co_filename)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else None


def _importing(frame: FrameType | None) -> bool:
    """Whether a module of emdeg is being imported below this frame."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and _place(frame.f_code):
            return True
        frame = frame.f_back
    return False


def lines(walk: Walk, files: bool) -> Iterator[str]:
    """The walk in words."""
    yield f"{len(walk.files)} files in {len(walk.rooms)} rooms (src/emdeg/{OWN} not counted)"
    yield "ran: " + ", ".join(f"{verb} {walk.verbs[verb]} x" for verb in VERBS)
    yield "rooms in the order in which they were reached:"
    for room, reached in walk.rooms.items():
        yield f"  {room:<14} {len(reached):>3} files"
        if files:
            yield from (f"      {file.removeprefix(room + '/'):<40} {_some(walk.files[file])}" for file in reached)
    yield f"steps back: {len(walk.back)}"
    yield from (f"  after {here}: {there}" for here, there in walk.back)
    yield f"calls against the plan: {len(walk.against)}"
    yield from (f"  {here} -> {there}" for here, there in walk.against)


def _some(functions: Sequence[str], shown: int = 3) -> str:
    """The first of them, and how many there are."""
    named = [name for name in functions if "<" not in name] or list(functions)
    return ", ".join(named[:shown]) + (f" and {len(named) - shown} more" if len(named) > shown else "")


def main() -> None:
    """The command line of this tool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WALK | -- COMMAND ...", help="a named walk, or emdeg's words")
    parser.add_argument("--list", action="store_true", help="the walks that have names")
    parser.add_argument("--files", action="store_true", help="each file, with some of its functions")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", action="store_true", help="write docs/data/walk.json")
    given = parser.parse_args()
    if given.list:
        for name, commands in WALKS.items():
            print(name, *(f"  emdeg {command}" for command in commands), sep="\n")
        return
    words = given.words or ["urdf_to_c"]
    named = WALKS.get(words[0]) if len(words) == 1 else None
    walk = traced([command.split() for command in named] if named else [words])
    if given.keep:
        kept = {"command": "python tools/walk.py --keep", "commands": list(named or words), "figures": walk.as_data()}
        KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(walk.as_data(), indent=1) if given.json else "\n".join(lines(walk, given.files)))


if __name__ == "__main__":
    main()
