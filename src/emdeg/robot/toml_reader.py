"""emdeg's own robot files (TOML) -> a draft. The format is described in docs/robot_file.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from emdeg.algebra import ZERO, Exact
from emdeg.robot.assembly import GRAVITY, Draft
from emdeg.robot.constraints import ConstraintsDraft
from emdeg.robot.drive_toml import DRIVE, FRICTION, read_drive
from emdeg.robot.joint_types import JOINT_TYPES, joint_type
from emdeg.robot.kinds import known_kinds, resolved
from emdeg.robot.model import (
    NOWHERE,
    Drive,
    Inertia,
    JointKind,
    Limits,
    Payload,
    Placement,
    Pose,
    Stated,
    Vector,
)
from emdeg.robot.normal_form import Body
from emdeg.robot.toml_table import MAX_PARAMETER_TERMS, Remarks, TomlDocument, TomlTable, array, single
from emdeg.robot.transform import ExactTransform, about, move_inertia, of_pose, turn

SCHEMA = 1
_ROBOT = (
    "schema",
    "name",
    "title",
    "source",
    "convention",
    "gravity",
    "nonphysical",
    "notes",
    "base",
    "tool",
    "link",
    "frame",
    "payload",
    "tolerances",
    "sources",
)
_DH = ("alpha", "a", "theta", "d")
_EXTRA = ("gamma", "b", "beta")
_LIMITS = ("lower", "upper", "velocity", "effort")
_COM_TENSOR: tuple[str, ...] = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_FRAME_TENSOR: tuple[str, ...] = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
_MOMENTS: tuple[str, ...] = ("MX", "MY", "MZ")
_PARAMETERS = {
    *_DH,
    *_EXTRA,
    *_COM_TENSOR,
    *_FRAME_TENSOR,
    *_MOMENTS,
    "M",
    "mass",
    "com.x",
    "com.y",
    "com.z",
    "inertia",
    "joint",
    "drive",
    *(f"drive.{key}" for key in (*DRIVE, *FRICTION)),
}
"""What a path in [tolerances] or [sources] may end in, after a link's or joint's name."""


def read_toml(text: str, file: str) -> Draft:
    """The robot that `text` describes, not yet merged, locked or checked; `file` names it in messages."""
    document = TomlDocument(text, file)
    remarks = Remarks()
    top = TomlTable(document.data, document, remarks)
    top.only((*_ROBOT, *(key for kind in known_kinds() for key in kind.sections)))
    _check_schema(top)
    name = top.text("name")
    if not re.fullmatch(r"[a-z0-9_]{1,64}", name):
        raise top.error(f"name must be 1 to 64 characters of a-z, 0-9 and _, not {name[:40]!r}", "name")
    root, base = _base(top)
    bodies = _bodies(top, root)
    written, sources = _written_remarks(top, bodies)
    tolerances = remarks.tolerances | written
    elsewhere = _stated_elsewhere(tolerances, bodies) if top.data.get("convention") == "standard" else []
    return Draft(
        name=name,
        bodies=tuple(bodies),
        root=root,
        base=base,
        tool=_tool(top, bodies),
        gravity=top.vector("gravity") or GRAVITY,
        payloads=_payloads(top, bodies[-1].name),
        frames=tuple(_frames(top)),
        title=top.text("title", ""),
        source=top.text("source", ""),
        nonphysical=top.text("nonphysical", ""),
        tolerances={path: v for path, v in tolerances.items() if path not in elsewhere},
        sources=remarks.sources | sources,
        notes=(*_notes(top), *_lost(elsewhere)),
        constraints=_constraints(top, bodies),
        file=file,
    )


def read_payloads(text: str, file: str, link: str) -> tuple[Payload, ...]:
    """The payloads of a file that holds nothing else; those that name no link are carried by `link`."""
    document = TomlDocument(text, file)
    top = TomlTable(document.data, document, Remarks())
    top.only(("schema", "source", "payload"))
    _check_schema(top)
    top.text("source", "")
    payloads = _payloads(top, link)
    if not payloads:
        raise top.error("it holds no [[payload]]")
    return payloads


def _check_schema(top: TomlTable) -> None:
    schema = top.data.get("schema")
    if schema is None:
        raise top.error(f"schema is missing: write schema = {SCHEMA} on the first line")
    if schema != SCHEMA or isinstance(schema, bool):
        raise top.error(f"schema must be {SCHEMA}: this emdeg knows no other", "schema")


def _constraints(top: TomlTable, bodies: list[Body]) -> ConstraintsDraft:
    """What the sections of extensions say; RobotError where they are of more than one kind of mechanism."""
    found = [kind for kind in known_kinds() if any(key in top.data for key in kind.sections)]
    if len(found) > 1:
        names = " and of ".join(kind.name for kind in found)
        raise top.error(f"it has sections of {names}: a robot is of one kind", found[1].sections[0])
    return resolved(found[0].read_sections)(top, bodies) if found else ConstraintsDraft()


def _base(top: TomlTable) -> tuple[str, ExactTransform]:
    table = single(top, "base")
    if table is None:
        return "base", ExactTransform()
    table.only(("name", "xyz", "rpy"))
    return table.name("name", "base"), of_pose(table.pose())


def _tool(top: TomlTable, bodies: list[Body]) -> tuple[str, Pose] | None:
    table = single(top, "tool")
    if table is None:
        return None
    table.only(("link", "xyz", "rpy"))
    return table.name("link", bodies[-1].name), table.pose()


def _frames(top: TomlTable):
    for table in array(top, "frame"):
        table.only(("name", "link", "xyz", "rpy"))
        yield table.name("name"), table.name("link"), table.pose()


def _payloads(top: TomlTable, link: str) -> tuple[Payload, ...]:
    payloads = []
    for table in array(top, "payload"):
        table.only(("name", "link", "mass", "com", *_COM_TENSOR))
        mass = table.number("mass")
        if mass is None:
            raise table.error("mass is missing")
        tensor = tuple(table.number(key) or ZERO for key in _COM_TENSOR)
        carrier, name = table.name("link", link), table.name("name", "payload")
        payloads.append(Payload(carrier, mass, table.vector("com") or NOWHERE, tensor, name))
    return tuple(payloads)


def _notes(top: TomlTable) -> tuple[str, ...]:
    notes = top.data.get("notes", [])
    if not isinstance(notes, list) or not all(type(note) is str and note.isprintable() for note in notes):
        raise top.error("notes must be an array of lines of text", "notes")
    return tuple(notes)


def _written_remarks(top: TomlTable, bodies: list[Body]) -> tuple[dict[str, Fraction], dict[str, str]]:
    """The tables [tolerances] and [sources]: path -> value."""
    known = {name for body in bodies for name in (body.name, body.joint)}
    tolerances: dict[str, Fraction] = {}
    sources: dict[str, str] = {}
    for key in ("tolerances", "sources"):
        table = single(top, key)
        for path in () if table is None else table.data:
            assert table is not None
            if not any(path.startswith(f"{n}.") and path[len(n) + 1 :] in _PARAMETERS for n in known):
                raise table.error(f"{path[:60]!r} is not the path of a parameter, such as 'link1.mass'", path)
            if key == "sources":
                sources[path] = table.text(path)
            elif (value := table.rational(path)) is not None and value >= 0:
                tolerances[path] = value
            else:
                raise table.error("a tolerance must not be negative", path)
    return tolerances, sources


def _stated_elsewhere(tolerances: Iterable[str], bodies: list[Body]) -> list[str]:
    """The tolerances of the standard convention's lengths and twists past the joint, and of what stands in that frame.

    They move the next joint and the link's mass centre together: no single number of the normal form is theirs.
    """
    own = (*_COM_TENSOR, *_FRAME_TENSOR, *_MOMENTS, "com.x", "com.y", "com.z")
    places = {f"{body.joint}.{key}" for body in bodies for key in ("a", "alpha")}
    turned = [body.name for body in bodies if body.frame != ExactTransform()]
    places |= {f"{name}.{key}" for name in turned for key in own}
    return [path for path in tolerances if path in places]


def _lost(paths: list[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    shown = ", ".join(paths[:4]) + (", ..." if len(paths) > 4 else "")
    rule = 'tolerances past the joint are carried only with convention = "modified"'
    return (f"not carried: {len(paths)} tolerance{'s' * (len(paths) > 1)} ({shown}); {rule}",)


@dataclass(frozen=True, slots=True)
class _Row:
    """A link and its joint's Denavit-Hartenberg row as the file states them."""

    body: Body
    row: Placement


def _bodies(top: TomlTable, root: str) -> list[Body]:
    standard = top.choice("convention", ("modified", "standard")) == "standard"
    rows: list[_Row] = []
    for table in array(top, "link"):
        previous = rows[-1].body.name if rows else None
        rows.append(_link(table, root, previous, standard))
        if rows[-1].body.name == root:
            raise table.error(f"a link cannot be called {root!r}: that is the base", "name")
    if not rows:
        raise top.error("it has no links: write [[link]] tables")
    if not standard:
        return [row.body for row in rows]
    by_name = {row.body.name: row for row in rows}
    found = []
    for row in rows:
        parent = row.body.parent or ""
        carrier = row.body.drive.motor_link or parent
        found.append(_to_modified(row, by_name.get(parent), by_name.get(carrier), top))
    return found


def _to_modified(row: _Row, parent: _Row | None, carrier: _Row | None, top: TomlTable) -> Body:
    """From Rz(theta) Tz(d) Rx(alpha) Tx(a): the parent's Rx Tx comes before this joint, the own after it."""
    body, own = row.body, row.row
    before = parent.row if parent else Placement()
    try:
        frame = ExactTransform(about("x", own.alpha), (own.a, ZERO, ZERO))
    except ValueError:
        rule = 'a symbolic alpha needs convention = "modified"'
        raise top.document.error(rule, body=body.name) from None
    return replace(
        body,
        row=Placement(alpha=before.alpha, a=before.a, theta=own.theta, d=own.d),
        inertia=move_inertia(body.inertia, frame),
        stated=body.stated if frame == ExactTransform() else None,
        frame=frame,
        drive=_turned_motor(body.drive, carrier),
    )


def _turned_motor(drive: Drive, carrier: _Row | None) -> Drive:
    """The drive with its motor's axis in the carrier's joint frame: stated it is past the carrier's twist."""
    if drive.motor_axis is None or carrier is None:
        return drive
    return replace(drive, motor_axis=turn(about("x", carrier.row.alpha), drive.motor_axis))


def _link(table: TomlTable, root: str, previous: str | None, standard: bool) -> _Row:
    table.only(("name", "parent", "joint", "inertia", "drive", "frame"))
    name = table.name("name")
    parent = table.name("parent", previous or root)
    joint = table.subtable("joint")
    if joint is None:
        raise table.error("joint is missing: joint = { name = .., type = .., alpha = .., a = .., d = .. }")
    hints = {key: f"{key} belongs to the modified convention" for key in _EXTRA}
    joint.only(("name", "type", "source", *_DH, *(() if standard else _EXTRA), *_LIMITS), hints)
    kind: JointKind = joint.choice("type", (*JOINT_TYPES, "fixed"))
    q = joint.name("name", f"{name}_fixed" if kind == "fixed" else None)
    row = _row(joint, q)
    inertia, stated = _inertia(table, name)
    frame = table.subtable("frame")
    if frame is not None:
        frame.only(("xyz", "rpy"))
        if standard:
            raise frame.error("the standard convention itself says where the link's frame is")
    body = Body(
        name=name,
        parent=None if parent == root else parent,
        joint=q,
        kind=kind,
        inertia=inertia,
        row=row,
        limits=_limits(joint, kind),
        drive=read_drive(table, q, kind),
        stated=stated,
        line=table.line,
        frame=ExactTransform() if frame is None else of_pose(frame.pose()),
    )
    return _Row(body, row)


def _row(joint: TomlTable, q: str) -> Placement:
    _source(joint, f"{q}.joint")
    angles = {key: joint.angle(key, f"{q}.{key}") for key in ("alpha", "theta", "gamma", "beta")}
    lengths = {key: joint.number(key, f"{q}.{key}") or ZERO for key in ("a", "d", "b")}
    return Placement(
        alpha=angles["alpha"],
        a=lengths["a"],
        theta=angles["theta"],
        d=lengths["d"],
        gamma=angles["gamma"],
        b=lengths["b"],
        beta=angles["beta"],
    )


def _limits(joint: TomlTable, kind: JointKind) -> Limits:
    if kind == "fixed":
        for key in _LIMITS:
            if key in joint:
                raise joint.error("a fixed joint has no limits", key)
        return Limits()
    turning = kind != "fixed" and joint_type(kind).coordinate_units == ("rad",)
    lower, upper = joint.limit("lower", turning=turning), joint.limit("upper", turning=turning)
    if lower is not None and upper is not None and lower > upper:
        raise joint.error(f"lower ({float(lower):g}) is above upper ({float(upper):g})", "lower")
    velocity, effort = joint.rational("velocity"), joint.rational("effort")
    for key, value in (("velocity", velocity), ("effort", effort)):
        if value is not None and value < 0:
            raise joint.error(f"{key} must not be negative", key)
    return Limits(lower, upper, velocity, effort)


def _inertia(link: TomlTable, name: str) -> tuple[Inertia, Stated | None]:
    table = link.subtable("inertia")
    if table is None:
        return Inertia(), None
    _source(table, f"{name}.inertia")
    if "about" not in table and any(key not in ("mass", "com", "source") for key in table.data):
        raise table.error('about is missing: say about = "com" (mass centre) or about = "frame" (link frame)')
    if table.choice("about", ("com", "frame"), "com") == "com":
        hints = dict.fromkeys((*_FRAME_TENSOR, *_MOMENTS, "M"), 'this key needs about = "frame"')
        table.only(("about", "mass", "com", "source", *_COM_TENSOR), hints)
        mass = table.number("mass", f"{name}.mass") or ZERO
        com = table.vector("com", f"{name}.com") or NOWHERE
        tensor = tuple(table.number(key, f"{name}.{key}") or ZERO for key in _COM_TENSOR)
        return Inertia.about_mass_center(mass, com, tensor), Stated("com", mass, com, None, tensor)
    return _inertia_about_frame(table, name)


def _inertia_about_frame(table: TomlTable, name: str) -> tuple[Inertia, Stated | None]:
    hints = dict.fromkeys(_COM_TENSOR, 'this key needs about = "com"; write XX, XY, .. here')
    table.only(("about", "mass", "com", "source", *_FRAME_TENSOR, *_MOMENTS, "M"), hints)
    if "mass" in table and "M" in table:
        raise table.error("mass and M are the same: give one", "M")

    def parameter(key: str) -> Exact:
        return table.number(key, f"{name}.{key}", terms=MAX_PARAMETER_TERMS) or ZERO

    tensor = tuple(parameter(key) for key in _FRAME_TENSOR)
    # A tolerance of the mass is that of a body whose mass centre stays, or whose first moments do.
    path = f"{name}.{'mass' if 'com' in table else 'M'}"
    mass = table.number("mass" if "mass" in table else "M", path, terms=MAX_PARAMETER_TERMS) or ZERO
    com = table.vector("com", f"{name}.com")
    if com is None:
        mx, my, mz = (parameter(key) for key in _MOMENTS)
        return Inertia(mass, (mx, my, mz), tensor), None  # type: ignore[arg-type]
    for key in _MOMENTS:
        if key in table:
            raise table.error(f"com and {key} say the same: give one", key)
    if len(mass.terms) > 8:
        raise table.error("give the first moments MX, MY, MZ with so long a mass", "mass")
    moment: Vector = (mass * com[0], mass * com[1], mass * com[2])
    return Inertia(mass, moment, tensor), Stated("frame", mass, com, None, tensor)  # type: ignore[arg-type]


def _source(table: TomlTable, path: str) -> None:
    if "source" in table:
        table.remarks.sources[path] = table.text("source")


__all__ = ["SCHEMA", "read_payloads", "read_toml"]
