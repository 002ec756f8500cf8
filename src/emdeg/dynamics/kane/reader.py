"""A file of generalized speeds (TOML) -> a `Setup`, every name checked against the robot. See docs/kane.md."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any

from emdeg.algebra import ONE, ZERO, Exact, Expression, parsed
from emdeg.dynamics.formulations.friction import law_of
from emdeg.dynamics.kane.closed import check_loop_setup
from emdeg.dynamics.kane.setup import (
    BASE_AXES,
    WORLD,
    AngularVelocity,
    BaseAxis,
    JointSpring,
    LinearForm,
    Load,
    PointSpring,
    PointVelocity,
    Rate,
    Setup,
    Speed,
    coordinates_of,
)
from emdeg.robot import NOWHERE, Frame, Remarks, Robot, TomlDocument, TomlTable, Vector, kind_of, read_text

SCHEMA = 1
MAX_ENTRIES = 200
_TOP = ("schema", "title", "speed", "prescribed", "force", "torque", "joint_spring", "point_spring", "drives")
_WAYS = ("rate", "angular_velocity", "velocity", "form")
_AXES: dict[str, Vector] = {"x": (ONE, ZERO, ZERO), "y": (ZERO, ONE, ZERO), "z": (ZERO, ZERO, ONE)}
_AXES |= {f"-{name}": (-v[0], -v[1], -v[2]) for name, v in _AXES.items()}


def load_setup(path: str | PathLike[str], robot: Robot) -> Setup:
    """The setup that a file describes for `robot`; RobotError says what is wrong, and where."""
    return read_setup(read_text(fspath(path)), robot, fspath(path))


def read_setup(text: str, robot: Robot, file: str = "speeds") -> Setup:
    """The setup that TOML `text` describes for `robot`; `file` names it in messages."""
    document = TomlDocument(text, file)
    top = TomlTable(document.data, document, Remarks())
    top.only(_TOP)
    if top.data.get("schema", SCHEMA) != SCHEMA:
        raise top.error(f"schema must be {SCHEMA}", "schema")
    names = _Names(robot)
    prescribed, base = _prescribed(_tables(top, "prescribed"), names)
    speeds: list[Speed] = []
    called: list[str] = []
    for table in _tables(top, "speed"):
        found, words = _speeds(table, names, len(speeds))
        speeds += found
        called += words
    independent = coordinates_of(robot)
    free = [k for k in independent if k not in prescribed]
    if not free:
        raise top.error("every joint's motion is prescribed: no generalized speed is left", "prescribed")
    if len(speeds) != len(free):
        given = f", {len(prescribed)} of {len(independent)} being prescribed" if prescribed else ""
        what = "joints" if robot.is_tree else "coordinates"
        rule = f"{len(speeds)} generalized speeds for {len(free)} free {what}{given}: there must be as many"
        raise top.error(rule, "speed" if speeds else None)
    if len(set(called)) != len(called):
        raise top.error(f"two speeds share a name: {', '.join(called)}", "speed")
    for speed in speeds:
        if isinstance(speed, Rate) and speed.joint in prescribed:
            name = robot.joints[speed.joint].name
            raise top.error(f"the rate of {name} is prescribed and cannot be a speed", "speed")
    friction, smoothing = _drives(top, robot)
    setup = Setup(
        tuple(speeds),
        tuple(called),
        prescribed,
        base,
        (*_loads(top, "force", names), *_loads(top, "torque", names)),
        tuple(_joint_spring(table, names) for table in _tables(top, "joint_spring")),
        tuple(_point_spring(table, names) for table in _tables(top, "point_spring")),
        friction,
        smoothing,
        top.text("title", ""),
    )
    if not robot.is_tree:
        check_loop_setup(robot, setup)
    return setup


class _Names:
    """The robot's joints and frames by name, with errors that list what there is."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.joints = {joint.name: k for k, joint in enumerate(robot.joints)}
        for k in range(robot.n):  # q1, q2, ... in the chain's order, where no joint has that name
            self.joints.setdefault(f"q{k + 1}", k)
        self.frames = {"world": Frame("world", WORLD), robot.tool.name: robot.tool}
        self.frames |= {frame.name: frame for frame in robot.frames}

    def joint(self, table: TomlTable, key: str, name: str | None = None) -> int:
        name = table.name(key) if name is None else name
        if name not in self.joints:
            raise table.error(_unknown("joint", name, (joint.name for joint in self.robot.joints)), key)
        return self.joints[name]

    def frame(self, table: TomlTable, key: str, default: Frame | None = None) -> Frame:
        if default is not None and key not in table:
            return default
        name = table.name(key)
        if name not in self.frames:
            raise table.error(_unknown("frame", name, self.frames), key)
        return self.frames[name]

    def body(self, table: TomlTable, key: str) -> Frame:
        name = table.name(key)
        found = self.frames.get(name)
        bodies = [name for name, frame in self.frames.items() if frame.link >= 0]
        if found is None:
            raise table.error(_unknown("body", name, bodies), key)
        return found

    def moving(self, table: TomlTable, key: str, base_moves: bool) -> Frame:
        body = self.body(table, key)
        if body.link == WORLD or (body.link < 0 and not base_moves):
            raise table.error(f"{body.name!r} does not move: its velocity is no generalized speed", key)
        return body

    def expression(self, table: TomlTable, key: str, value: Any) -> Expression:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise table.error(f"{key} must be a number or a formula in quotes, not {kind_of(value)}", key)
        try:
            formula = parsed(str(value))
        except ValueError as problem:
            raise table.error(str(problem), key) from None
        kinds = self.robot.joints

        def letter(name: str) -> int:
            k = self.joints.get(name)
            if k is None and name not in self.robot.symbols:
                known = (*(joint.name for joint in kinds), *sorted(self.robot.symbols))
                raise table.error(f"{key}: {_unknown('joint or symbol', name, known)}", key)
            if k is not None and kinds[k].kind == "revolute":
                raise table.error(f"{key}: {name} is an angle and may stand inside sin and cos only", key)
            return 0

        def angle(name: str) -> tuple[int, int]:
            k = self.joints.get(name)
            if k is None or kinds[k].kind != "revolute":
                turning = (joint.name for joint in kinds if joint.kind == "revolute")
                raise table.error(f"{key}: {_unknown('revolute joint', name, turning)}", key)
            return 0, 1

        formula.evaluate(lambda _: 0, letter, angle)
        return formula


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:30]) or 'none'}"
    return f"there is no {what} {name[:40]!r}; {hint}"


def _tables(top: TomlTable, key: str) -> list[TomlTable]:
    entries = top.data.get(key, [])
    if not isinstance(entries, list) or any(not isinstance(entry, dict) for entry in entries):
        raise top.error(f"{key} must be written as tables [[{key}]]", key)
    if len(entries) > MAX_ENTRIES:
        raise top.error(f"there are more than {MAX_ENTRIES} tables [[{key}]]", key)
    return [TomlTable(entry, top.document, top.remarks, key, index) for index, entry in enumerate(entries)]


def _prescribed(tables: list[TomlTable], names: _Names) -> tuple[tuple[int, ...], tuple[BaseAxis, ...]]:
    joints: list[int] = []
    axes: list[BaseAxis] = []
    for table in tables:
        table.only(("joint", "base"))
        if ("joint" in table) == ("base" in table):
            raise table.error("a prescribed motion is of a joint (joint = NAME) or of the base (base = [AXES])")
        if "joint" in table:
            joint = names.joint(table, "joint")
            if joint in joints:
                raise table.error(f"{names.robot.joints[joint].name} is prescribed twice", "joint")
            joints.append(joint)
            continue
        wanted = table.data["base"]
        if not isinstance(wanted, list) or not wanted or any(axis not in BASE_AXES for axis in wanted) or axes:
            raise table.error(f"base must list some of {', '.join(BASE_AXES)}, once", "base")
        axes = [axis for axis in BASE_AXES if axis in wanted]
    return tuple(sorted(joints)), tuple(axes)


def _speeds(table: TomlTable, names: _Names, before: int) -> tuple[list[Speed], list[str]]:
    ways = [way for way in _WAYS if way in table]
    if len(ways) != 1:
        raise table.error(f"a speed is one of {', '.join(_WAYS)}; this has {' and '.join(ways) or 'none of them'}")
    way = ways[0]
    found: list[Speed]
    if way == "rate":
        table.only(("rate", "name", "names"))
        found = [Rate(names.joint(table, "rate"))]
    elif way == "form":
        table.only(("form", "constant", "name", "names"))
        found = [_form(table, names)]
    else:
        table.only((way, "point", "frame", "components", "name", "names"))
        if way == "angular_velocity" and "point" in table:
            raise table.error("an angular velocity is a body's, not a point's", "point")
        body = names.moving(table, way, False)
        frame = names.frame(table, "frame", body)
        directions = _directions(table)
        point = table.vector("point") or NOWHERE
        found = [
            AngularVelocity(body, frame, direction)
            if way == "angular_velocity"
            else PointVelocity(body, point, frame, direction)
            for direction in directions
        ]
    called = table.data.get("names", [table.data["name"]] if "name" in table else None)
    if called is None:
        return found, [f"u{before + i + 1}" for i in range(len(found))]
    if not isinstance(called, list) or len(called) != len(found) or not all(_is_name(name) for name in called):
        raise table.error(f"names must be {len(found)} names of letters, digits and _, one a speed", "names")
    return found, [str(name) for name in called]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier() and value.isascii() and len(value) <= 32


def _form(table: TomlTable, names: _Names) -> LinearForm:
    inner = table.subtable("form")
    assert inner is not None
    coefficients: dict[int, Expression] = {}
    for name, value in inner.data.items():
        joint = names.joint(inner, name, name)
        if joint in coefficients:
            raise inner.error(f"the joint {name} is named twice", name)
        coefficients[joint] = names.expression(inner, name, value)
    constant = table.data.get("constant")
    return LinearForm(
        tuple(sorted(coefficients.items())),
        None if constant is None else names.expression(table, "constant", constant),
    )


def _directions(table: TomlTable) -> list[Vector]:
    wanted = table.data.get("components", ["x", "y", "z"])
    if not isinstance(wanted, list) or not wanted or len(wanted) > 6:
        raise table.error("components must be a list of axes, such as ['x', '-z'] or [[0, 0.6, 0.8]]", "components")
    found = []
    for entry in wanted:
        if isinstance(entry, str) and entry in _AXES:
            found.append(_AXES[entry])
            continue
        if not isinstance(entry, list):
            raise table.error(f"a component is x, y, z, -x, -y, -z or [x, y, z], not {str(entry)[:20]!r}", "components")
        direction = TomlTable({"components": entry}, table.document, table.remarks, table.table, table.index).vector(
            "components"
        )
        if direction is None or not any(direction):
            raise table.error("a component's direction is zero", "components")
        found.append(direction)
    return found


def _loads(top: TomlTable, kind: Any, names: _Names) -> list[Load]:
    found = []
    for table in _tables(top, kind):
        table.only(("body", "point", "frame", "value", "name"))
        if kind == "torque" and "point" in table:
            raise table.error("a torque acts on a body, not at a point", "point")
        body = names.body(table, "body")
        if body.link < 0:
            raise table.error(f"a {kind} acts on a moving body, not on {body.name!r}", "body")
        frame = names.frame(table, "frame", names.frames["world"])
        point, value = table.vector("point") or NOWHERE, table.vector("value")
        found.append(Load(kind, body, frame, point, value, table.text("name", f"{kind} on {body.name}")))
    return found


def _joint_spring(table: TomlTable, names: _Names) -> JointSpring:
    table.only(("joint", "stiffness", "rest", "damping"))
    joint = names.joint(table, "joint")
    stiffness, rest, damping = (table.number(key) or ZERO for key in ("stiffness", "rest", "damping"))
    _stiff(table, stiffness, damping)
    return JointSpring(joint, stiffness, rest, damping)


def _point_spring(table: TomlTable, names: _Names) -> PointSpring:
    table.only(("body", "point", "to", "to_point", "stiffness", "length", "damping"))
    first, second = names.body(table, "body"), names.frame(table, "to", names.frames["world"])
    if first.link == second.link:
        raise table.error(f"{first.name!r} and {second.name!r} do not move against each other", "to")
    stiffness, length, damping = (table.number(key) or ZERO for key in ("stiffness", "length", "damping"))
    _stiff(table, stiffness, damping)
    return PointSpring(
        first,
        table.vector("point") or NOWHERE,
        second,
        table.vector("to_point") or NOWHERE,
        stiffness,
        length,
        damping,
    )


def _stiff(table: TomlTable, stiffness: Exact, damping: Exact) -> None:
    if not stiffness and not damping:
        raise table.error("a spring needs a stiffness or a damping")


def _drives(top: TomlTable, robot: Robot) -> tuple[bool, Exact | None]:
    table = top.subtable("drives")
    if table is None:
        return False, None
    table.only(("friction", "smoothing"))
    wanted = table.data.get("friction", False)
    if not isinstance(wanted, bool):
        raise table.error("friction must be true or false", "friction")
    smoothing = table.number("smoothing")
    laws = {joint.name: law_of(joint.drive.friction, _something) for joint in robot.joints}
    if wanted:
        dry = [name for name, law in laws.items() if (law.coulomb or law.peak) and law.rest_speed is None]
        if dry and not smoothing:
            raise table.error(
                f"{', '.join(dry)} have Coulomb friction, which jumps at rest; give the speed below which it falls "
                "off, smoothing = 0.01",
                "friction",
            )
    return wanted, smoothing


def _something(value: Exact) -> float:
    """0 for nothing, else 1: which terms a law has, whatever letters stand in it."""
    return 1.0 if value else 0.0
