"""Small programs that have been found, kept for the next time: those that come with emdeg, and a user's own.

A program is plain data, number for number; it lies under a readable name, `<robot>/<function>.json`, with the digest of
everything its function depends on inside, so a changed robot never meets a stale program. A user's program is not
believed: whoever takes it out proves it again (`search.on_file`) and sets it aside where the proof fails. What
comes with the package is as trustworthy as the package, and its `index.json` says which file is whose.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from emdeg._version import __version__
from emdeg.algebra import Angle, is_symbol_name
from emdeg.documents import MODE, plain, read_plain, write_whole
from emdeg.errors import NotAProgram, OldFormat, Poisoned, RobotError
from emdeg.programs.ir import NOTHING, Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref
from emdeg.robot import Robot, loaded_inertias

FORMAT = 2
"""Of a filed program. 1 had no number and no readable name: `<digest>.program.json`, by emdeg before 0.2.0."""
INDEX = "index.json"
LARGEST = 8 * 2**20
LONGEST_NAME = 120
_OLD_SUFFIX = ".program.json"
_ODD = re.compile(r"[^A-Za-z0-9_.,=+-]")


def robot_digest(robot: Robot) -> str:
    """24 hexadecimal digits of all that stored programs depend on: a robot's constants, joints' names, parameters.

    Friction's numbers are in no stored program, but letters among them are an input of every program.
    """
    letters = any(value.symbols for link in robot.links for value in link.joint.drive.friction.stated)
    parts = (*_constants(robot), sorted(robot.symbols)) if letters else _constants(robot)
    return hashlib.sha256(json.dumps(_plain(parts)).encode()).hexdigest()[:24]


def normal_digest(robot: Robot) -> str:
    """The sha256 of a robot's normal form, however it was written: what its functions depend on, friction too."""
    parts = (_constants(robot), [link.joint.drive.friction for link in robot.links])
    return hashlib.sha256(json.dumps(_plain(parts)).encode()).hexdigest()


def _constants(robot: Robot) -> tuple[object, ...]:
    links = [
        (link.parent, link.joint.name, link.joint.kind, link.joint.placement, inertia, link.joint.drive.inertia)
        for link, inertia in zip(robot.links, loaded_inertias(robot))
    ]
    return links, robot.base, robot.tool, robot.gravity, robot.constraints.digested


def _plain(value: object) -> Any:
    """Nested lists of texts: exact numbers and angles as they write themselves, records by their fields."""
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return [[str(key), _plain(one)] for key, one in value.items()]
    if is_dataclass(value) and type(value).__str__ is object.__str__:
        told = [one for one in fields(value) if not (one.metadata.get("later") and not getattr(value, one.name))]
        return [_plain(getattr(value, one.name)) for one in told]
    return str(value)


def user_folder() -> Path:
    """Where a user's programs are kept: EMDEG_PROGRAMS, else the platform's cache folder."""
    if chosen := os.environ.get("EMDEG_PROGRAMS"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "emdeg" / "programs"


def file_name(functions: Sequence[str], weights: str = "operations") -> str:
    """`inverse_dynamics.json`, `mass_matrix+bias.cycles.json`: what was asked for, and what was weighed."""
    stem = "+".join(functions) + ("" if weights == "operations" else f".{weights}")
    if len(stem) > LONGEST_NAME:  # file systems end at 255 bytes
        stem = f"{stem[:LONGEST_NAME]}-{hashlib.sha256(stem.encode()).hexdigest()[:8]}"
    return _ODD.sub("_", stem) + ".json"


def place(robot: Robot, functions: Sequence[str], weights: str = "operations", folder: Path | None = None) -> Path:
    """Where a user's program is filed. Two robots of one name have two folders: their digests begin differently."""
    name = _ODD.sub("_", robot.name).strip(".")[:60] or "robot"
    return (folder or user_folder()) / f"{name}-{robot_digest(robot)[:8]}" / file_name(functions, weights)


@dataclass(frozen=True, slots=True)
class Filed:
    """A program as it lies in a user's folder, not proved; and where."""

    program: Program
    path: Path
    found: Mapping[str, Any]
    """How it was found, as whoever filed it said (see `keep`)."""

    @property
    def effort(self) -> float:
        """Seconds of the search that found it; infinite where its file does not say."""
        effort = self.found.get("effort")
        return float(effort) if isinstance(effort, int | float) else math.inf


FOUND = ("operations", "seed", "effort", "certificate")
"""What a file says of how its program was found."""


def kept(
    robot: Robot, functions: Sequence[str], weights: str = "operations", folder: Path | None = None
) -> Program | None:
    """The program that a user (or whoever wrote into `folder`) filed, not proved; None where there is none."""
    found = filed(robot, functions, weights, folder)
    return None if found is None else found.program


def filed(
    robot: Robot, functions: Sequence[str], weights: str = "operations", folder: Path | None = None
) -> Filed | None:
    """The program that a user (or whoever wrote into `folder`) filed, and its file; None where there is none.

    It is not proved: a file may have been changed. One that is no program at all is set aside; one that another version
    of emdeg wrote is not used, and a warning (`OldFormat`) says so.
    """
    path = place(robot, functions, weights, folder)
    again = f"search again: emdeg optimise {_ODD.sub('_', robot.name)} {'+'.join(functions)}"
    for there in (path, *_of_old_format(folder or user_folder())):
        text = _text(there)
        data = None if text is None else _head(text)
        if there == path and text is not None and data is None:
            set_aside(path, "it is no stored program")
        if data is None or (data.get("robot"), data.get("functions")) != (robot.name, list(functions)):
            continue
        if (word := wrong_format(data, FORMAT, again)) is not None:
            warnings.warn(f"{there} is not used: {word}", OldFormat, stacklevel=2)
        elif (data.get("digest"), data.get("weights")) == (robot_digest(robot), weights):
            try:
                how = {key: data[key] for key in FOUND if key in data}
                return Filed(from_data(data.get("program")), there, how)
            except NotAProgram as problem:
                set_aside(there, str(problem))
    return None


def set_aside(path: Path, why: str) -> None:
    """Take a file that must not be used out of the way, and say so (`Poisoned`)."""
    aside = path.with_name(f"{path.name}.poisoned")
    try:
        path.replace(aside)
        done = f"it was set aside as {aside.name}"
    except OSError as problem:
        done = f"it could not be set aside ({problem.strerror}): remove it"
    warnings.warn(f"{path} is not used: {plain(why)[:300]}; {done}", Poisoned, stacklevel=2)


def wrong_format(data: Mapping[str, Any], known: int, again: str) -> str | None:
    """Who wrote a file of another format, and what to do; None where the format is `known`."""
    if data.get("format") == known:
        return None
    version = data.get("emdeg")
    writer = f"emdeg {_ODD.sub('_', version)[:20]}" if isinstance(version, str) else "an emdeg before 0.2.0"
    return f"it was written by {writer} in another format than emdeg {__version__} reads; {again}"


def _of_old_format(folder: Path) -> Iterator[Path]:
    """What emdeg before 0.2.0 filed there."""
    return folder.glob(f"*{_OLD_SUFFIX}")


def _text(path: Path) -> str | None:
    """What the file says, "" where that is too long or no text; None where there is no file to read."""
    try:
        data = read_plain(path, LARGEST)
        return data.decode() if len(data) <= LARGEST else ""
    except OSError:
        return None
    except UnicodeDecodeError:
        return ""


def _head(text: str) -> dict[str, Any] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def shipped(robot: Robot, functions: Sequence[str], weights: str = "operations") -> Program | None:
    """The program that comes with the package for a robot of these constants, whatever its name; None without one."""
    wanted = {"digest": robot_digest(robot), "functions": list(functions), "weights": weights}
    for name, entry in shipped_index().items():
        if all(entry[key] == value for key, value in wanted.items()):
            return from_data(json.loads((_package() / name).read_text(encoding="utf-8"))["program"])
    return None


@cache
def shipped_index() -> Mapping[str, Mapping[str, Any]]:
    """File below `shipped/` -> robot, digest, functions, weights, operations and the version that found it."""
    return json.loads((_package() / INDEX).read_text(encoding="utf-8"))["programs"]


def _package() -> Any:
    return resources.files("emdeg.programs") / "shipped"


INDEXED = ("robot", "digest", "functions", "weights", "operations", "emdeg", "format")


def index(folder: Path) -> str:
    """The text of `index.json` for the programs below a folder, one a line."""
    files = sorted(path for path in folder.rglob("*.json") if path.parent != folder)
    heads = {path.relative_to(folder).as_posix(): json.loads(path.read_text(encoding="utf-8")) for path in files}
    lines = [f"  {json.dumps(name)}: {json.dumps({key: data[key] for key in INDEXED})}" for name, data in heads.items()]
    return f'{{\n "format": {FORMAT},\n "programs": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def filed_text(
    program: Program,
    robot: Robot,
    functions: Sequence[str],
    *,
    found: Mapping[str, object],
    weights: str = "operations",
) -> str:
    """What a file holds: whose program it is, `found` (how it was found, what proves it), and the program."""
    head = {
        "format": FORMAT,
        "emdeg": __version__,
        "robot": robot.name,
        "digest": robot_digest(robot),
        "functions": list(functions),
        "weights": weights,
    }
    return json.dumps({**head, **found, "program": to_data(program)}, indent=0) + "\n"


def keep(
    program: Program,
    robot: Robot,
    functions: Sequence[str],
    *,
    found: Mapping[str, object],
    folder: Path | None = None,
    weights: str = "operations",
) -> Path:
    """File the program in the user's folder, or in `folder`; the file's path.

    The user's folder is the user's alone; a folder that was named has the rights that are usual there.
    """
    path = place(robot, functions, weights, folder)
    text = filed_text(program, robot, functions, found=found, weights=weights)
    try:
        if folder is None:
            _private_folder(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole({path: text.encode()}, mode=0o600 if folder is None else MODE)
    except OSError as problem:
        raise RobotError(f"cannot be written: {problem.strerror or problem}", file=str(path.parent)) from None
    return path


def _private_folder(path: Path) -> None:
    """Make the folder, and what is missing above it, so that nobody else can look into it."""
    for each in reversed([path, *path.parents]):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)


MOST_OPS = 1_000_000
LONGEST_NUMBER = 2_000
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")


def to_data(program: Program) -> dict[str, Any]:
    """The program as lists, texts and whole numbers: one text an operation, +3, -3 or 0 an output's entry.

    Values are numbered from 1 here, so that a sign can stand before each.
    """
    return {
        "name": program.name,
        "inputs": [[g.name, g.size, g.depends.name.lower(), list(g.labels)] for g in program.inputs],
        "ops": [_op_text(op) for op in program.ops],
        "outputs": [
            [g.name, list(g.shape), [ref.sign * (ref.value + 1) for ref in g.entries]] for g in program.outputs
        ],
    }


def from_data(data: Any) -> Program:
    """The program that `to_data` wrote; NotAProgram where the data is something else."""
    try:
        return _checked(data)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise NotAProgram(f"this is no stored program: {problem}") from None


def _checked(data: Mapping[str, Any]) -> Program:
    if len(data["ops"]) > MOST_OPS:
        raise ValueError(f"it has more than {MOST_OPS} operations")
    inputs = tuple(
        InputGroup(name, _whole(size), Dependence[depends.upper()], tuple(map(str, labels)))
        for name, size, depends, labels in data["inputs"]
    )
    ops = tuple(_op(text.split()) for text in data["ops"])
    outputs = tuple(
        OutputGroup(name, tuple(map(_whole, shape)), tuple(map(_ref, entries)))
        for name, shape, entries in data["outputs"]
    )
    return Program(data["name"], inputs, ops, outputs)


def _op_text(op: Op) -> str:
    match op.kind:
        case Kind.INPUT:
            words: Sequence[object] = op.slot
        case Kind.NUMBER:
            words = (op.number,)
        case Kind.ANGLE:
            words = (op.angle.pi_times, op.angle.radians, op.angle.symbol or "")
        case _:
            words = tuple(arg + 1 for arg in op.args)
    return " ".join([op.kind.value, *map(str, words)]).rstrip()


def _op(words: list[str]) -> Op:
    kind, rest = Kind(words[0]), words[1:]
    match kind:
        case Kind.INPUT:
            name, place = rest
            return Op(kind, payload=(name, int(place)))
        case Kind.NUMBER:
            (number,) = rest
            return Op(kind, payload=_number(number))
        case Kind.ANGLE:
            symbol = rest[2] if len(rest) > 2 else None
            if len(rest) > 3 or (symbol is not None and not is_symbol_name(symbol)):
                raise ValueError(f"{' '.join(words)[:80]!r} is no angle")
            return Op(kind, payload=Angle(_number(rest[0]), _number(rest[1]), symbol))
        case _:
            return Op(kind, tuple(int(word) - 1 for word in rest))


def _number(text: str) -> Fraction:
    if len(text) > LONGEST_NUMBER or not _NUMBER.match(text):
        raise ValueError(f"{text[:40]!r} is no number")
    return Fraction(text)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no size")
    return value


def _ref(value: int) -> Ref:
    return Ref(abs(value) - 1, 1 if value > 0 else -1) if value else NOTHING
