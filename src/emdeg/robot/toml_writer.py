"""A robot in normal form -> TOML text that reads back to the same robot, number for number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from emdeg.algebra import Angle, Exact
from emdeg.robot.assembly import GRAVITY
from emdeg.robot.model import BASE, Drive, Frame, Inertia, Joint, Link, Payload, Pose, Robot, Stated, Vector
from emdeg.robot.transform import of_pose, to_pose

WIDTH = 110
"""Inline tables longer than this are written as tables of their own, one key a line."""

_COM_TENSOR = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_PARAMETERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")

Pairs = list[tuple[str, str]]


def to_toml(robot: Robot) -> str:
    """The robot as the text of an emdeg robot file (modified Denavit-Hartenberg, SI units, exact numbers)."""
    parts = [_head(robot), *_links(robot)]
    parts += [_table("[[frame]]", _attached(robot, frame)) for frame in _further_frames(robot)]
    parts += [_table("[[payload]]", _payload(payload)) for payload in robot.payloads]
    parts += robot.constraints.to_toml(robot.links, _root(robot))
    if robot.tolerances:
        parts.append(_table("[tolerances]", [(quoted(k), number(v)) for k, v in robot.tolerances.items()]))
    if robot.sources:
        parts.append(_table("[sources]", [(quoted(k), quoted(v)) for k, v in robot.sources.items()]))
    return "\n".join(parts)


def quoted(text: str) -> str:
    """`text` as a TOML basic string."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else _escaped(c)) for c in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def number(value: Exact | Fraction) -> str:
    """A value as TOML: a decimal where that is exact, else a string such as "2159/5003" or "2*m2"."""
    if isinstance(value, Exact):
        if not value.is_number:
            return quoted(str(value))
        value = value.number
    return decimal(value) or quoted(str(value))


def decimal(value: Fraction) -> str | None:
    """The finite decimal that equals `value`, None if there is none."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator)
    sign = "-" if value < 0 else ""
    if not places:
        return sign + digits
    if len(digits) + 4 < places:  # 0.00001234 and smaller
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{len(digits) - 1 - places}"
    digits = digits.zfill(places + 1)
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def angle(value: Angle) -> str:
    """An angle as TOML: radians as a number, multiples of pi as "90 deg" or "pi/7", sums as a string."""
    parts: list[str] = []
    if value.pi_times:
        degrees = decimal(value.pi_times * 180)
        p, q = value.pi_times.numerator, value.pi_times.denominator
        parts.append(f"{degrees} deg" if degrees else f"{'-' if p < 0 else ''}{abs(p)}*pi/{q}")
    if value.radians or not (parts or value.symbol):
        parts.append(decimal(value.radians) or str(value.radians))
    if value.symbol:
        parts.append(value.symbol)
    plain = len(parts) == 1 and not value.pi_times and not value.symbol and "/" not in parts[0]
    return parts[0] if plain else quoted(" + ".join(parts))


def _vector(values: Vector) -> str:
    return "[" + ", ".join(number(v) for v in values) + "]"


def _pose(pose: Pose) -> Pairs:
    pairs: Pairs = []
    if any(pose.xyz):
        pairs.append(("xyz", _vector(pose.xyz)))
    if not all(a.is_zero for a in pose.rpy):
        pairs.append(("rpy", "[" + ", ".join(angle(a) for a in pose.rpy) + "]"))
    return pairs


def _table(header: str, pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join([header, *(f"{key} = {value}" for key, value in pairs)]) + "\n"


def _head(robot: Robot) -> str:
    name = re.sub(r"[^a-z0-9_]", "_", robot.name.lower())[:64] or "robot"
    pairs: Pairs = [("schema", "1"), ("name", quoted(name))]
    pairs += [(k, quoted(v)) for k, v in (("title", robot.title), ("source", robot.source)) if v]
    pairs.append(("convention", quoted("modified")))
    if robot.gravity != GRAVITY:
        pairs.append(("gravity", _vector(robot.gravity)))
    excused = [note for note in robot.notes if note.startswith("nonphysical: ")]
    if robot.nonphysical or excused:  # said again when the file is read
        pairs.append(("nonphysical", quoted(robot.nonphysical or "accepted with --allow-nonphysical")))
    if notes := [quoted(note) for note in robot.notes if note not in excused]:
        pairs.append(("notes", "[" + "".join(f"\n  {note}," for note in notes) + "\n]"))
    text = "\n".join(f"{key} = {value}" for key, value in pairs) + "\n"
    root = _root(robot)
    base = ([("name", quoted(root))] if root != "base" else []) + _pose(robot.base)
    if base:
        text += "\n" + _table("[base]", base)
    return text + "\n" + _table("[tool]", _attached(robot, robot.tool)[1:])


def _root(robot: Robot) -> str:
    """The name of the base: the first frame on it that stands where it stands."""
    for frame in robot.frames:
        if frame.link == BASE and frame.pose.is_identity:
            return frame.name
    return "base"


def _own_frames(robot: Robot) -> Mapping[str, Pose]:
    return {frame.name: frame.pose for frame in robot.frames}


def _further_frames(robot: Robot) -> list[Frame]:
    own = {link.name for link in robot.links} | {_root(robot)}
    return [frame for frame in robot.frames if frame.name not in own]


def _attached(robot: Robot, frame: Frame) -> Pairs:
    """name, link, xyz, rpy of a frame, said from the link's own frame where that is its joint's."""
    pose, own = frame.pose, _own_frames(robot)
    if frame.link == BASE:
        host = _root(robot)
    else:
        link = robot.links[frame.link]
        host, named = link.name, own.get(link.name, Pose())
        if not named.is_identity:
            if link.joint.name not in own:
                host = link.joint.name
            else:
                pose = to_pose(of_pose(named).inverse() @ of_pose(pose))
    return [("name", quoted(frame.name)), ("link", quoted(host)), *_pose(pose)]


def _payload(payload: Payload) -> Pairs:
    pairs = [("name", quoted(payload.name)), ("link", quoted(payload.link)), ("mass", number(payload.mass))]
    pairs.append(("com", _vector(payload.com)))
    return pairs + [(key, number(v)) for key, v in zip(_COM_TENSOR, payload.tensor) if v]


def _links(robot: Robot) -> Iterable[str]:
    own, root = _own_frames(robot), _root(robot)
    for i, link in enumerate(robot.links):
        pairs: Pairs = [("name", quoted(link.name))]
        if link.parent != i - 1:
            parent = root if link.parent == BASE else robot.links[link.parent].name
            pairs.append(("parent", quoted(parent)))
        tables = {
            "joint": _joint(link.joint),
            "inertia": _inertia(link),
            "drive": _drive(link.joint.drive),
            "frame": _pose(own.get(link.name, Pose())),
        }
        long: list[str] = []
        for key, inner in tables.items():
            inline = "{ " + ", ".join(f"{k} = {v}" for k, v in inner) + " }"
            if inner and len(key) + 3 + len(inline) <= WIDTH:
                pairs.append((key, inline))
            elif inner:
                long.append(_table(f"[link.{key}]", inner))
        yield _table("[[link]]", pairs) + "".join(long)


def _joint(joint: Joint) -> Pairs:
    pairs: Pairs = [("name", quoted(joint.name)), ("type", quoted(joint.kind))]
    place, limits = joint.placement, joint.limits
    pairs += [(k, angle(v)) for k, v in (("gamma", place.gamma),) if not v.is_zero]
    pairs += [("b", number(place.b))] if place.b else []
    pairs += [("alpha", angle(place.alpha)), ("a", number(place.a))]
    pairs += [("beta", angle(place.beta))] if not place.beta.is_zero else []
    pairs += [("theta", angle(place.theta)), ("d", number(place.d))]
    named = (("lower", limits.lower), ("upper", limits.upper))
    named += (("velocity", limits.velocity), ("effort", limits.effort))
    return pairs + [(key, number(value)) for key, value in named if value is not None]


def _inertia(link: Link) -> Pairs:
    stated: Stated | None = link.stated
    if stated is None or stated.com is None:
        return _parameters(link.inertia)
    keys = _COM_TENSOR if stated.about == "com" else _PARAMETERS[:6]
    pairs = [("about", quoted(stated.about)), ("mass", number(stated.mass)), ("com", _vector(stated.com))]
    return pairs + [(key, number(value)) for key, value in zip(keys, stated.tensor) if value]


def _parameters(inertia: Inertia) -> Pairs:
    pairs = [(key, number(value)) for key, value in zip(_PARAMETERS, inertia.parameters) if value]
    return [("about", quoted("frame")), *pairs] if pairs else []


def _drive(drive: Drive) -> Pairs:
    friction = drive.friction
    values = {
        "inertia": drive.inertia if drive.inertia or drive.motor_inertia is not None else None,
        "max_torque": drive.max_torque,
        "motor_inertia": drive.motor_inertia,
        "stall_torque": drive.stall_torque,
        "gear_ratio": drive.gear_ratio,
        "viscous": friction.viscous or None,
        "coulomb": friction.coulomb or None,
        "stribeck": friction.stribeck,
        "stribeck_velocity": friction.stribeck_velocity,
        "break_away": friction.break_away,
        "rest_speed": friction.rest_speed,
    }
    pairs = [(key, number(value)) for key, value in values.items() if value is not None]
    if drive.motor_axis is not None:
        pairs.append(("motor_axis", _vector(drive.motor_axis)))
    if drive.motor_link is not None:
        pairs.append(("motor_link", quoted(drive.motor_link)))
    if drive.resolution_bits is not None:
        pairs.append(("resolution_bits", str(drive.resolution_bits)))
    return pairs
