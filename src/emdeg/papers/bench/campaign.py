"""A measuring campaign as its file tells it: raw readings, and what was done with which body and joint.

Nothing is computed here; `emdeg.papers.bench.measuring` does. The form of the file is in docs/measuring.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.papers.bench.formulas import Measured, reading
from emdeg.robot import (
    BUDGET,
    Remarks,
    Robot,
    TomlDocument,
    TomlTable,
    as_real,
    flag,
    library_names,
    load,
    need_numbers,
    per_joint,
    read_text,
    real,
)

AXES = ("x", "y", "z")
MOMENTS = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
SIZES = {"cylinder": ("radius", "length", "inner_radius"), "sphere": ("radius",), "box": ("x", "y", "z")}
"""Shapes of uniform density -> their sizes [m]."""
_TOP = ("schema", "name", "title", "source", "robot", "gravity", "nonphysical", "body", "drive")
_BODY = ("name", "frame", "source", "mass", "density", "com", "swing", "shape", "plus", "minus", "pose", "diagonal")
_SWING = ("distance", "other_distance", "length", "period", "frequency", "amplitude", "source")
_SPRING = ("stiffness", "period", "frequency", "damping", "peaks", "feedback")
_STATED = ("inertia", "gear_ratio", "max_torque", "break_away", "viscous", "coulomb")
_DRIVE = ("joint", "pose", "source", *_SPRING, *_STATED)
MOST_READINGS = 1000


@dataclass(frozen=True)
class Reading(Shown):
    """One quantity read off an instrument, once or several times; SI units."""

    name: str
    values: tuple[float, ...]
    tolerance: float = 0.0
    """The instrument's: it does not shrink by reading again."""
    source: str = ""

    @property
    def mean(self) -> float:
        return math.fsum(self.values) / len(self.values)

    @property
    def scatter(self) -> float:
        """The standard deviation of one reading, from the readings; zero of a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def measured(self) -> Measured:
        """The mean. Its tolerance: the instrument's, and the mean's own by Student's law for so few readings."""
        count = len(self.values)
        of_mean = self.scatter / math.sqrt(count) * _student(count)
        return reading(self.mean, math.hypot(self.tolerance, of_mean), self.name)


def _student(count: int) -> float:
    """Within so many standard deviations of the mean lies the truth in 68 % of cases."""
    if count < 2:
        return 0.0
    from scipy.stats import t as student

    return float(student.ppf(0.8413447460685429, count - 1))


@dataclass(frozen=True)
class Swing(Shown):
    """A two-wire suspension; every entry names a reading: period [s] or frequency [Hz], the rest as in `bench`."""

    readings: Mapping[str, str]


@dataclass(frozen=True)
class Solid(Shown):
    """A shape of uniform density, or a thin shell; `along` is the axis of a cylinder."""

    kind: str
    along: str
    shell: bool
    sizes: Mapping[str, str]


@dataclass(frozen=True)
class BodyPlan(Shown):
    """How one body was measured; texts are names of readings. Positions and axes are those of `frame`."""

    name: str
    frame: str
    mass: str | None
    density: str | None
    com: Mapping[str, str]
    swings: Mapping[str, Swing]
    moments: Mapping[str, str]
    solid: Solid | None
    plus: tuple[str, ...]
    minus: tuple[str, ...]
    pose: Array = field(repr=False)
    diagonal: bool = False
    """Whether products of inertia about the mass centre are left out."""


@dataclass(frozen=True)
class DrivePlan(Shown):
    """How one joint's drive was measured: its readings by key, its turning points, where the arm stood."""

    joint: str
    readings: Mapping[str, str]
    peaks: tuple[str, ...]
    pose: Array = field(repr=False)


@dataclass(frozen=True)
class Campaign(Shown):
    """The readings and what they are of; `robot` gives the geometry, and the numbers that were not measured."""

    name: str
    robot: Robot
    readings: Mapping[str, Reading] = field(repr=False)
    bodies: tuple[BodyPlan, ...]
    drives: tuple[DrivePlan, ...]
    title: str = ""
    source: str = ""
    nonphysical: str = ""
    gravity: str | None = None
    file: str = ""


def read_campaign(path: str | PathLike[str]) -> Campaign:
    """The campaign in a TOML file; RobotError names the line at fault."""
    file = fspath(path)
    document = TomlDocument(read_text(file), file)
    return _Reader(TomlTable(document.data, document, Remarks()), file).campaign()


class _Reader:
    """Collects the readings while the tables are walked."""

    def __init__(self, top: TomlTable, file: str) -> None:
        self.top, self.file = top, file
        self.readings: dict[str, Reading] = {}

    def campaign(self) -> Campaign:
        top = self.top
        top.only(_TOP)
        if top.data.get("schema") != 1 or top.data["schema"] is True:
            raise top.error("schema = 1 must stand at the top: the version of the campaign file's form", "schema")
        self.robot = self._robot()
        name = top.name("name", Path(self.file).stem)
        gravity = self._reading(top, "gravity", "", positive=True) if "gravity" in top else None
        bodies = [self._body(table) for table in self._tables("body")]
        self._check_sums(bodies)
        drives = [self._drive(table) for table in self._tables("drive")]
        if len({plan.joint for plan in drives}) < len(drives):
            raise top.error("two [[drive]] tables are about one joint", "drive")
        if not bodies and not drives:
            raise top.error("it has neither a [[body]] nor a [[drive]]")
        return Campaign(
            name,
            self.robot,
            self.readings,
            tuple(bodies),
            tuple(drives),
            top.text("title", ""),
            top.text("source", ""),
            top.text("nonphysical", ""),
            gravity,
            self.file,
        )

    def _robot(self) -> Robot:
        name = self.top.text("robot")
        path = name if name in library_names() else str(Path(self.file).parent / name)
        robot = load(path, allow_nonphysical=True)
        need_numbers(robot)
        if not robot.is_tree:
            raise self.top.error("a campaign is about an open chain or tree of links", "robot")
        return robot

    def _tables(self, key: str) -> list[TomlTable]:
        value = self.top.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            raise self.top.error(f"write each {key} under its own [[{key}]], with two brackets", key)
        if len(value) > BUDGET.links:
            raise self.top.error(f"it has more than {BUDGET.links} x [[{key}]]", key)
        return [TomlTable(entry, self.top.document, Remarks(), key, i) for i, entry in enumerate(value)]

    def _body(self, table: TomlTable) -> BodyPlan:
        table.only((*_BODY, *MOMENTS))
        name = table.name("name")
        frames = {frame.name for frame in self.robot.frames} | {link.name for link in self.robot.links}
        frame = table.name("frame", name)
        if frame not in frames:
            known = ", ".join(link.name for link in self.robot.links)
            raise table.error(f"{self.robot.name} has no link or frame {frame[:40]!r}; links: {known}", "frame")
        sums = {key: self._names(table, key) for key in ("plus", "minus")}
        swings = {axis: self._swing(inner, f"{name}.swing.{axis}") for axis, inner in self._axes(table, "swing")}
        moments = {key: self._reading(table, key, name) for key in MOMENTS if key in table}
        solid = self._solid(table, name)
        for axis in AXES:
            ways = [f"swing.{axis}"] * (axis in swings) + [f"I{axis}{axis}"] * (f"I{axis}{axis}" in moments)
            if len(ways) + (solid is not None) > 1:
                raise table.error(f"its moment about {axis} is given twice: {', '.join(ways or ['shape'])}", ways[-1])
        own = [key for key in ("mass", "density", "com", "swing", "shape", *MOMENTS) if key in table]
        if (sums["plus"] or sums["minus"]) and own:
            raise table.error(f"a sum of other bodies has no {own[0]} of its own", own[0])
        if sums["minus"] and not sums["plus"]:
            raise table.error("minus needs plus: what it is taken from", "minus")
        if not sums["plus"] and ("mass" in table) == ("density" in table):
            raise table.error("say its mass, or the density of its shape")
        if "density" in table and solid is None:
            raise table.error("density needs a shape", "density")
        return BodyPlan(
            name,
            frame,
            self._mass(table, name),
            self._reading(table, "density", name, positive=True) if "density" in table else None,
            self._com(table, name),
            swings,
            moments,
            solid,
            sums["plus"],
            sums["minus"],
            per_joint(table, "pose", self.robot, 0.0),
            flag(table, "diagonal", False),
        )

    def _mass(self, table: TomlTable, name: str) -> str | None:
        if "mass" not in table:
            return None
        found = self._reading(table, "mass", name)
        if min(self.readings[found].values) < 0 or (not self._mean(found) and self.readings[found].tolerance):
            raise table.error("mass must not be negative, and one that was weighed must be positive", "mass")
        return found

    def _names(self, table: TomlTable, key: str) -> tuple[str, ...]:
        value = table.data.get(key, [])
        if not isinstance(value, list) or not all(type(entry) is str for entry in value):
            raise table.error(f"{key} must be a list of bodies' names", key)
        return tuple(value)

    def _check_sums(self, bodies: list[BodyPlan]) -> None:
        known: list[str] = []
        for index, body in enumerate(bodies):
            if body.name in known:
                raise self.top.document.error(f"two bodies are called {body.name!r}", "body", index, "name")
            for part in (*body.plus, *body.minus):
                if part not in known:
                    rule = f"{part[:40]!r} must be a body described above {body.name!r}"
                    raise self.top.document.error(rule, "body", index, "plus" if part in body.plus else "minus")
            known.append(body.name)

    def _com(self, table: TomlTable, name: str) -> dict[str, str]:
        value = table.data.get("com")
        if value is None:
            return {}
        if isinstance(value, list) and len(value) == 3:
            value = {str(axis): one for axis, one in zip(AXES, value)}
        if not isinstance(value, dict):
            raise table.error("com must be [x, y, z], or a table of x, y, z", "com")
        inner = TomlTable(value, table.document, table.remarks, table.table, table.index, (*table.keys, "com"))
        inner.only(AXES)
        return {axis: self._reading(inner, axis, f"{name}.com") for axis in value}

    def _axes(self, table: TomlTable, key: str) -> list[tuple[str, TomlTable]]:
        inner = table.subtable(key)
        if inner is None:
            return []
        inner.only(AXES)
        found = [(axis, inner.subtable(axis)) for axis in inner.data]
        return [(axis, one) for axis, one in found if one is not None]

    def _swing(self, table: TomlTable, name: str) -> Swing:
        table.only(_SWING)
        for key in ("distance", "length"):
            if key not in table:
                raise table.error(f"{key} is missing")
        self._one_of(table, "period", "frequency")
        keys = [key for key in _SWING if key in table and key != "source"]
        found = {key: self._reading(table, key, name, positive=key != "amplitude") for key in keys}
        if "amplitude" in found and not 0 <= self.readings[found["amplitude"]].mean < 2:
            raise table.error("amplitude must lie between 0 and 2 rad", "amplitude")
        return Swing(found)

    def _one_of(self, table: TomlTable, *keys: str) -> None:
        given = [key for key in keys if key in table]
        if len(given) != 1:
            raise table.error(f"say one of {' and '.join(keys)}", given[-1] if given else None)

    def _solid(self, table: TomlTable, name: str) -> Solid | None:
        inner = table.subtable("shape")
        if inner is None:
            return None
        kind = inner.choice("kind", tuple(SIZES))
        inner.only(("kind", "along", "shell", *SIZES[kind]))
        shell, along = flag(inner, "shell", False), inner.choice("along", AXES, "z")
        for key in SIZES[kind]:
            if key not in inner and key != "inner_radius":
                raise inner.error(f"{key} is missing")
        if shell and "inner_radius" in inner:
            raise inner.error("a thin shell has one radius", "inner_radius")
        sizes = {key: self._reading(inner, key, f"{name}.shape", positive=True) for key in SIZES[kind] if key in inner}
        if "inner_radius" in sizes and self._mean(sizes["inner_radius"]) >= self._mean(sizes["radius"]):
            raise inner.error("inner_radius must be smaller than radius", "inner_radius")
        return Solid(kind, along, shell, sizes)

    def _mean(self, name: str) -> float:
        return self.readings[name].mean

    def _drive(self, table: TomlTable) -> DrivePlan:
        table.only(_DRIVE)
        joint = table.name("joint")
        if joint not in (one.name for one in self.robot.joints):
            known = ", ".join(one.name for one in self.robot.joints)
            raise table.error(f"{self.robot.name} has no joint {joint[:40]!r}; joints: {known}", "joint")
        sprung = [key for key in _SPRING if key in table]
        if sprung:
            if "stiffness" not in table:
                raise table.error(f"{sprung[0]} needs stiffness: the spring that was commanded", sprung[0])
            self._one_of(table, "period", "frequency")
            if "damping" in table and "peaks" in table:
                raise table.error("damping follows from peaks: give one", "damping")
            if "inertia" in table:
                raise table.error("inertia follows from the swing: give one", "inertia")
        for key in ("viscous", "coulomb"):
            if key in table and "peaks" in table:
                raise table.error(f"{key} follows from peaks: give one", key)
        positive = ("stiffness", "period", "frequency", "max_torque", "inertia")
        keys = [key for key in (*_SPRING, *_STATED) if key in table and key != "peaks"]
        readings = {key: self._reading(table, key, joint, positive=key in positive) for key in keys}
        if "damping" in readings and not -1 < self._mean(readings["damping"]) < 1:
            raise table.error("damping is a ratio between -1 and 1: else nothing swings", "damping")
        return DrivePlan(joint, readings, self._peaks(table, joint), per_joint(table, "pose", self.robot, 0.0))

    def _peaks(self, table: TomlTable, joint: str) -> tuple[str, ...]:
        if "peaks" not in table:
            return ()
        one = self._parsed(table, "peaks", joint)
        sizes = [abs(v) for v in one.values]
        if len(sizes) < 3:
            raise table.error("peaks needs at least three turning points", "peaks")
        if len(set(sizes[:-1])) < 2 or min(sizes) <= 0:
            raise table.error("the turning points do not differ, or are zero: no decay can be read from them", "peaks")
        names = []
        for k, size in enumerate(sizes, 1):
            names.append(f"{joint}.peaks[{k}]")
            self._keep(table, Reading(names[-1], (size,), one.tolerance, one.source), "peaks")
        return tuple(names)

    def _reading(self, table: TomlTable, key: str, owner: str, *, positive: bool = False) -> str:
        """The name under which the reading is kept."""
        one = self._parsed(table, key, owner)
        if positive and min(one.values) <= 0:
            raise table.error(f"{key} must be positive", key)
        self._keep(table, one, key)
        return one.name

    def _keep(self, table: TomlTable, one: Reading, key: str) -> None:
        if len(self.readings) >= MOST_READINGS:
            raise table.error(f"it has more than {MOST_READINGS} readings", key)
        self.readings[one.name] = one

    def _parsed(self, table: TomlTable, key: str, owner: str) -> Reading:
        """A number, a list of them, or { value or values, tol, tol_percent, over, source }."""
        value, name = table.data[key], f"{owner}.{key}" if owner else key
        if not isinstance(value, dict):
            return Reading(name, self._values(table, value, key), source=table.text("source", "") if owner else "")
        inner = TomlTable(value, table.document, table.remarks, table.table, table.index, (*table.keys, key))
        inner.only(("value", "values", "tol", "tol_percent", "over", "source"))
        self._one_of(inner, "value", "values")
        values = self._values(inner, inner.data.get("values", inner.data.get("value")), key)
        # The time of `over` periods: values and the instrument's tolerance shrink alike.
        over = real(inner, "over", 1.0, least=1.0)
        mean = abs(math.fsum(values) / len(values))
        tolerance = real(inner, "tol", 0.0, least=0.0) + mean * real(inner, "tol_percent", 0.0, least=0.0) / 100
        shrunk = tuple(v / over for v in values)
        return Reading(name, shrunk, tolerance / over, inner.text("source", table.text("source", "")))

    def _values(self, table: TomlTable, value: Any, key: str) -> tuple[float, ...]:
        found = value if isinstance(value, list) else [value]
        if not 1 <= len(found) <= MOST_READINGS:
            raise table.error(f"{key} must hold between 1 and {MOST_READINGS} numbers", key)
        return tuple(as_real(table, item, key) for item in found)
