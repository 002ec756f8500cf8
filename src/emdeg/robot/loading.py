"""A library name or a file -> a robot."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from os import PathLike, fspath
from pathlib import Path

from emdeg.algebra import ZERO, Angle, Exact, ExactLike, parse_number
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.assembly import Draft, assemble, end_of_longest_chain, findings, without_round_off
from emdeg.robot.checks import BUDGET, Finding
from emdeg.robot.model import NOWHERE, Payload, Robot, Vector
from emdeg.robot.toml_reader import read_payloads, read_toml

SNAP = 1e-5
"""Angles of URDF and MJCF files within this [rad] of a multiple of pi/12 are made exact."""
SUFFIXES = (".toml", ".urdf", ".xml")

RobotLike = Robot | str | PathLike[str]
"""A robot, the name of one of the library, or the path of a file."""
PayloadLike = Payload | str | PathLike[str]
Value = ExactLike | Angle


def load(
    name_or_path: str | PathLike[str],
    tip: str | None = None,
    lock: Mapping[str, Value] | None = None,
    payload: PayloadLike | Sequence[PayloadLike] | None = None,
    gravity: Sequence[ExactLike] | None = None,
    snap: float = SNAP,
    allow_nonphysical: bool = False,
) -> Robot:
    """The robot of the library with that name, or the one a .toml, .urdf or .xml file describes.

    `tip` names the link or frame that carries the tool. `lock` makes joints rigid at a value (rad or m, or
    text such as "90 deg"). `payload` is a `Payload`, a TOML file, the text form of `parse_payload`, or some of
    these. `gravity` [m/s^2] replaces the file's. RobotError says what is wrong, and where.

    >>> import emdeg
    >>> emdeg.load("puma560", lock={"q6": "90 deg"}).n
    5
    """
    draft = read_draft(name_or_path, snap)
    return assemble(
        draft,
        tip=tip,
        locks=parse_locks(lock or {}),
        payloads=_payloads(draft, payload),
        gravity=None if gravity is None else _gravity(gravity),
        allow_nonphysical=allow_nonphysical,
    )


def as_robot(robot: RobotLike) -> Robot:
    """The robot itself, or the one that a library name or a file's path stands for: what public functions take."""
    if isinstance(robot, Robot):
        return robot
    if isinstance(robot, str | PathLike):
        return load(robot)
    kind = type(robot)
    raise TypeError(
        f"a robot is expected (what emdeg.load gives, a library robot's name or a file's path), "
        f"not {kind.__module__}.{kind.__qualname__}"
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` finds: the robot, the physical rules it breaks, and the file's own reason for that."""

    robot: Robot
    findings: tuple[Finding, ...]
    nonphysical: str

    @property
    def passes(self) -> bool:
        """Whether nothing is broken, or the file itself says why."""
        return not self.findings or bool(self.nonphysical)


def check(name_or_path: str | PathLike[str], snap: float = SNAP) -> Checked:
    """The robot and every physical rule it breaks; RobotError if it is not a robot at all."""
    draft = read_draft(name_or_path, snap)
    robot = assemble(draft, allow_nonphysical=True)
    return Checked(robot, tuple(findings(draft)), draft.nonphysical)


def library_names() -> tuple[str, ...]:
    """The names of the robots that come with emdeg, sorted.

    >>> import emdeg
    >>> "puma560" in emdeg.library_names()
    True
    """
    files = (entry.name for entry in resources.files("emdeg.robot.library").iterdir())
    return tuple(sorted(file.removesuffix(".toml") for file in files if file.endswith(".toml")))


def read_draft(name_or_path: str | PathLike[str], snap: float = SNAP) -> Draft:
    """What the file says, before anything is merged, locked or checked; with `snap` 0 to its last digit."""
    draft = _draft_as_written(name_or_path, snap)
    return without_round_off(draft) if snap > 0 else draft


def _draft_as_written(name_or_path: str | PathLike[str], snap: float) -> Draft:
    name = fspath(name_or_path)
    if not isinstance(name, str):
        raise RobotError("a robot's file must be given as text, not bytes")
    if name in library_names():
        file = f"{name}.toml"
        return read_toml(resources.files("emdeg.robot.library").joinpath(file).read_text("utf-8"), file)
    if Path(name).suffix.lower() not in SUFFIXES:
        raise _unknown(name)
    return _draft_of_text(read_text(name), name, snap)


def load_text(text: str, file: str, *, snap: float = SNAP, allow_nonphysical: bool = False) -> Robot:
    """The robot that a file's text describes; the suffix of `file` says how to read it, and messages name it."""
    if Path(file).suffix.lower() not in SUFFIXES:
        raise _unknown(file)
    if len(text.encode()) > BUDGET.bytes:
        raise TooLarge(f"the file is larger than the budget of {BUDGET.bytes} bytes", file=file)
    draft = _draft_of_text(text, file, snap)
    return assemble(without_round_off(draft) if snap > 0 else draft, allow_nonphysical=allow_nonphysical)


def _draft_of_text(text: str, name: str, snap: float) -> Draft:
    suffix = Path(name).suffix.lower()
    if suffix == ".toml":
        return read_toml(text, name)
    if suffix == ".urdf":
        from emdeg.robot.urdf_reader import read_urdf

        return read_urdf(text, name, snap)
    from emdeg.robot.mjcf_reader import read_mjcf

    return read_mjcf(text, name, snap)


def _unknown(name: str) -> RobotError:
    near = difflib.get_close_matches(name.lower(), library_names(), n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    if Path(name).suffix:
        hint += f"a file must end in {', '.join(SUFFIXES)}; "
    return RobotError(f"there is no robot {name[:80]!r}; {hint}library: {', '.join(library_names())}")


def read_text(path: str) -> str:
    """The text of a file, within the budget; RobotError if it cannot be had."""
    try:
        place = Path(path)
        if place.is_dir():
            raise RobotError("it is a directory, not a file", file=path)
        if not place.exists():
            raise RobotError("there is no such file", file=path)
        if not place.is_file():
            raise RobotError("it is not a regular file", file=path)
        with place.open("rb") as stream:
            data = stream.read(BUDGET.bytes + 1)
    except (OSError, ValueError) as problem:
        if isinstance(problem, RobotError):
            raise
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise RobotError(f"it cannot be read: {reason}", file=path) from None
    if len(data) > BUDGET.bytes:
        raise TooLarge(f"the file is larger than the budget of {BUDGET.bytes} bytes", file=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise RobotError("the file is not UTF-8 text", file=path, line=line) from None


def parse_locks(lock: Mapping[str, Value]) -> dict[str, Exact | Angle]:
    """Joint -> the value it is locked at: numbers as they are, text as a number or an angle ("90 deg")."""
    return {joint: _position(joint, value) for joint, value in lock.items()}


def _position(joint: str, value: Value) -> Exact | Angle:
    if isinstance(value, Angle | Exact):
        return value
    try:
        if not isinstance(value, str):
            return Exact.of(value)
        angle = Angle.parse(value)
    except ValueError as problem:
        raise RobotError(f"it cannot be locked at {value!r}: {problem}", body=joint) from None
    return angle if angle.pi_times or angle.symbol else Exact.of(angle.radians)


def _gravity(values: Sequence[ExactLike]) -> Vector:
    try:
        x, y, z = (Exact.parse(v) if isinstance(v, str) else Exact.of(v) for v in values)
    except (TypeError, ValueError) as problem:
        raise RobotError(f"gravity must be three numbers: {problem}") from None
    return x, y, z


def _payloads(draft: Draft, payload: PayloadLike | Sequence[PayloadLike] | None) -> list[Payload]:
    if payload is None:
        return []
    several = [payload] if isinstance(payload, Payload | str | PathLike) else payload
    return [found for one in several for found in _payload(draft, one)]


def _payload(draft: Draft, payload: PayloadLike) -> tuple[Payload, ...]:
    if isinstance(payload, Payload):
        return (payload,)
    text = fspath(payload)
    link = end_of_longest_chain(draft)
    if "=" in text and not text.endswith(".toml"):
        return (parse_payload(text, link),)
    return read_payloads(read_text(text), text, link)


def parse_payload(text: str, link: str) -> Payload:
    """The payload "mass=1.8,com=0:0:0.1,inertia=Ixx:Iyy:Izz[:Ixy:Ixz:Iyz]@LINK" in kg, m, kg m^2.

    The mass centre is in LINK's frame, the tensor about it; without @LINK the payload is carried by `link`.
    """
    form = "mass=M,com=x:y:z,inertia=Ixx:Iyy:Izz[:Ixy:Ixz:Iyz]@LINK"
    body, at, carrier = text.partition("@")
    values: dict[str, list[Exact]] = {}
    for part in body.split(","):
        key, _, numbers = part.partition("=")
        key = key.strip()
        if key in values or key not in ("mass", "com", "inertia"):
            raise RobotError(f"the payload {text[:80]!r} is not of the form {form}")
        try:
            values[key] = [Exact.parse(one) for one in numbers.split(":")]
        except ValueError as problem:
            raise RobotError(f"the payload's {key}: {problem}; its form is {form}") from None
    mass, com = values.get("mass", []), values.get("com", [*NOWHERE])
    moments = values.get("inertia", [ZERO] * 3)
    if len(mass) != 1 or len(com) != 3 or len(moments) not in (3, 6) or (at and not carrier):
        raise RobotError(f"the payload {text[:80]!r} is not of the form {form}")
    xx, yy, zz, xy, xz, yz = (*moments, *[ZERO] * (6 - len(moments)))
    return Payload(carrier or link, mass[0], (com[0], com[1], com[2]), (xx, xy, xz, yy, yz, zz))


__all__ = [
    "SNAP",
    "RobotLike",
    "as_robot",
    "Checked",
    "check",
    "library_names",
    "load",
    "parse_locks",
    "parse_number",
    "parse_payload",
    "read_draft",
    "read_text",
]
