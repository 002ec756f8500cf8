"""A robot file's numbers as a table to edit: every cell knows its place in the file.

The file is the robot in normal form (`to_toml`). A cell's text is put into the file, and the file's reader says whether
that is a robot; what it says of a wrong entry is shown as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from emdeg.algebra import Exact
from emdeg.errors import EmdegError
from emdeg.robot import GRAVITY, quoted

Place = tuple[str | int, ...]
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")

JOINT = ("gamma", "b", "alpha", "a", "beta", "theta", "d", "lower", "upper", "velocity", "effort")
BRANCH = ("gamma", "b", "beta")
TENSOR = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
FRAME = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
DRIVE = ("inertia", "max_torque", "gear_ratio", "motor_inertia", "stall_torque")
FRICTION = ("viscous", "coulomb", "break_away", "stribeck", "stribeck_velocity", "rest_speed")
CENTRE: tuple[tuple[str, Place], ...] = (
    ("mass", ("mass",)),
    *((f"com {axis}", ("com", k)) for k, axis in enumerate("xyz")),
    *((name, (name,)) for name in TENSOR),
)

ROD: tuple[tuple[str, Place, str], ...] = (
    *((key, (key,), key) for key in ("length", "com", "mass", "inertia")),
    *(
        (f"{end} {axis}", (end, "xyz", k), f"{path}.{axis}")
        for end, path in (("from", "first"), ("to", "second"))
        for k, axis in enumerate("xyz")
    ),
)
"""(head, place in a rod's table, how its path ends)"""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A number of the file: where it stands, how it is written, by which path others call it, tolerance and source."""

    place: Place
    text: str
    path: str = ""
    tolerance: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class EditableTable:
    """Cells under heads, a row a body."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[TableCell, ...]], ...] = field(default=())


def tables(text: str) -> list[dict[str, Any]]:
    """The tables of a robot's file, as plain data."""
    data = parsed(text)
    links: list[dict[str, Any]] = data.get("link", [])
    remarks = _Remarks(data)
    used = {key for link in links for key in link.get("joint", {})}
    joint = [key for key in JOINT if key not in BRANCH or key in used]
    found = [
        EditableTable(
            "Joints: modified Denavit-Hartenberg parameters and limits [m, rad; 1/s; N m, N]",
            tuple(joint),
            tuple(
                (name, tuple(remarks.cell(("link", k, "joint", key), f"{name}.{key}") for key in joint))
                for k, name in enumerate(link["joint"]["name"] for link in links)
            ),
        )
    ]
    centre = [k for k, link in enumerate(links) if link.get("inertia", {}).get("about", "com") == "com"]
    frame = [k for k in range(len(links)) if k not in centre]
    if centre:
        rows = tuple(_inertia_row(remarks, links, k, CENTRE) for k in centre)
        found.append(
            EditableTable("Inertia about the centre of mass [kg, m, kg m²]", tuple(h for h, _ in CENTRE), rows)
        )
    if frame:
        columns = tuple((name, (name,)) for name in FRAME)
        rows = tuple(_inertia_row(remarks, links, k, columns) for k in frame)
        found.append(EditableTable("Inertia about the frame's origin [kg, kg m, kg m²]", FRAME, rows))
    found.append(
        EditableTable(
            "Drives and friction, at the joint [kg m², N m; kg, N]",
            DRIVE + FRICTION,
            tuple(
                (
                    link["joint"]["name"],
                    tuple(
                        remarks.cell(("link", k, "drive", key), f"{link['joint']['name']}.drive.{key}")
                        for key in DRIVE + FRICTION
                    ),
                )
                for k, link in enumerate(links)
            ),
        )
    )
    cells = tuple(remarks.cell(("gravity", k), f"gravity.{axis}") for k, axis in enumerate("xyz"))
    found.append(EditableTable("Gravity in the base frame [m/s²]", ("x", "y", "z"), (("gravity", cells),)))
    cells = tuple(remarks.cell(("tool", "xyz", k), f"tool.{axis}", "0") for k, axis in enumerate("xyz"))
    found.append(EditableTable("The tool in its link's frame [m]", ("x", "y", "z"), (("tool", cells),)))
    rods: list[dict[str, Any]] = data.get("rod", [])
    if rods:
        columns = [one for one in ROD if not any(isinstance(rod.get(one[0]), dict) for rod in rods)]
        rows = tuple(
            (name, tuple(remarks.cell(("rod", k, *place), f"{name}.{path}") for _, place, path in columns))
            for k, name in enumerate(str(rod["name"]) for rod in rods)
        )
        title = "Rods and the places of their ends; com is the mass centre's share of the length [m, kg, kg m²]"
        found.append(EditableTable(title, tuple(head for head, *_ in columns), rows))
    loads = data.get("payload", [])
    if loads:
        found.append(
            EditableTable(
                "Loads [kg, m, kg m²]",
                tuple(h for h, _ in CENTRE),
                tuple(
                    (
                        str(load.get("name", k)),
                        tuple(
                            remarks.cell(("payload", k, *place), f"{load.get('name', k)}.{_dotted(place)}")
                            for _, place in CENTRE
                        ),
                    )
                    for k, load in enumerate(loads)
                ),
            )
        )
    return [asdict(one) for one in found]


def edited(text: str, place: Sequence[str | int], entry: str) -> str:
    """The file's text with another entry at a place; without one the key goes. EmdegError for no such place."""
    data = parsed(text)
    known = {tuple(cell["place"]) for one in tables(text) for _, row in one["rows"] for cell in row}
    if tuple(place) not in known:
        raise EmdegError("there is no such place in the robot's file")
    if place[0] == "gravity" and "gravity" not in data:
        data["gravity"] = [_decimal(v) for v in GRAVITY]
    at: Any = data
    entry = entry.strip()
    for k, step in enumerate(place[:-1]):
        if isinstance(at, dict) and step not in at:
            if not entry:
                return text  # it is not there, and is not wanted
            table = {"about": "com", "mass": 0, "com": [0, 0, 0]} if step == "inertia" else {}
            at[step] = table if isinstance(place[k + 1], str) else [0, 0, 0]
        at = at[step]
    last = place[-1]
    if entry:
        at[last] = Decimal(entry) if _NUMBER.match(entry) else entry
    elif isinstance(at, dict):
        at.pop(last, None)
    else:
        at[last] = 0
    return written(data)


def with_payload(text: str) -> str:
    """The file's text with one load more, of 1 kg on the link that carries the tool."""
    data = parsed(text)
    link = data["tool"]["link"]
    loads = data.setdefault("payload", [])
    taken = {load.get("name") for load in loads}
    name = next(name for k in range(1, len(loads) + 2) if (name := f"load{k}") not in taken)
    loads.append({"name": name, "link": link, "mass": 1, "com": [0, 0, 0]})
    return written(data)


def parsed(text: str) -> dict[str, Any]:
    """The file's tables, numbers to their last digit."""
    return tomllib.loads(text, parse_float=Decimal)


def written(data: Mapping[str, Any], name: str = "") -> str:
    """Tables as the text of a TOML file."""
    plain = {key: value for key, value in data.items() if not _is_table(value)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in data.items():
        inner = f"{name}.{_key(key)}" if name else _key(key)
        if isinstance(value, dict):
            lines += ["", f"[{inner}]", written(value, inner)]
        elif _is_table(value):
            for one in value:
                lines += ["", f"[[{inner}]]", written(one, inner)]
    return "\n".join(lines) + ("" if name else "\n")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _key(key: str) -> str:
    return key if _BARE.match(key) else quoted(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case list():
            return "[" + ", ".join(_value(one) for one in value) + "]"
        case _:
            return str(value).replace("E", "e")


def _decimal(value: Exact) -> Decimal:
    number = float(value)
    return Decimal(int(number) if number == int(number) else str(number))


def _shown(value: Any) -> str:
    return "" if value is None else str(value).replace("E", "e")


def _dotted(place: Place) -> str:
    return ".".join("xyz"[part] if isinstance(part, int) else part for part in place)


def _inertia_row(
    remarks: _Remarks, links: Sequence[Mapping[str, Any]], k: int, columns: Iterable[tuple[str, Place]]
) -> tuple[str, tuple[TableCell, ...]]:
    name = str(links[k]["name"])
    return name, tuple(remarks.cell(("link", k, "inertia", *place), f"{name}.{_dotted(place)}") for _, place in columns)


@dataclass(frozen=True, slots=True)
class _Remarks:
    """A file's tables, with what they say of single values: their tolerances and sources by path."""

    data: Mapping[str, Any]

    def cell(self, place: Place, path: str, usual: str = "") -> TableCell:
        at: Any = self.data
        for step in place:
            if isinstance(at, dict):
                at = at.get(str(step))
            else:
                at = at[step] if isinstance(at, list) and isinstance(step, int) and step < len(at) else None
        if at is None and place[0] == "gravity" and isinstance(place[1], int):
            at = _decimal(GRAVITY[place[1]])
        told = [str(self.data.get(kind, {}).get(path, "")) for kind in ("tolerances", "sources")]
        return TableCell(place, usual if at is None else _shown(at), path, *told)
