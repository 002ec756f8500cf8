"""Numbers of a robot made symbols by the path that names them, so that they may vary.

A path is a link's, joint's or payload's name and what of it: `link2.mass`, `link2.com.x`, `link2.Ixx`, as the robot's
file states them; where it is no emdeg file with a mass centre, they are in the joint's frame, and `link2.M`,
`link2.MX`, `link2.XX` are the parameters in which the equations are linear. `q3.a`, `q3.d`, `q3.alpha`,
`q1.drive.inertia`, `payload.mass`; `gravity.z`, `tool.x`. A symbol is its own path.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from emdeg.algebra.angle import Angle
from emdeg.algebra.exact import Exact
from emdeg.errors import RobotError
from emdeg.robot.model import Inertia, Link, Payload, Robot, Stated

AXES = ("x", "y", "z")
ABOUT_CENTRE = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
ABOUT_FRAME = ("XX", "XY", "XZ", "YY", "YZ", "ZZ")
MOMENTS = ("MX", "MY", "MZ")
LENGTHS, ANGLES = ("a", "d", "b"), ("alpha", "theta", "gamma", "beta")

Value = Exact | Angle


@dataclass(frozen=True)
class Opened:
    """A robot some of whose numbers are symbols now: `symbols` by path, `nominal` the numbers they had, by path."""

    robot: Robot
    symbols: dict[str, str]
    nominal: dict[str, float]


@dataclass(frozen=True)
class _Place:
    """Where a number stands: its value, and the robot with another in its place."""

    value: Value
    put: Callable[[Robot, Value], Robot]


def opened(robot: Robot, paths: Sequence[str]) -> Opened:
    """`robot` with symbols at these paths; RobotError for a path that names nothing, with the nearest that does."""
    symbols: dict[str, str] = {}
    nominal: dict[str, float] = {}
    taken = set(robot.symbols)
    for path in paths:
        if path in robot.symbols:
            symbols[path] = path
            continue
        place = dict(_places(robot)).get(path)
        if place is None:
            raise RobotError(unknown_path(robot, path), body=robot.name)
        number = place.value.symbol is None if isinstance(place.value, Angle) else place.value.is_number
        if not number:
            raise RobotError(f"{path} is {place.value}: vary the symbols it is made of", body=robot.name)
        name = next(f"v{k}" for k in range(1, len(paths) + len(taken) + 2) if f"v{k}" not in taken)
        taken.add(name)
        symbols[path], nominal[path] = name, float(place.value)
        symbol = Angle.parse(name) if isinstance(place.value, Angle) else Exact.symbol(name)
        robot = place.put(robot, symbol)
    return Opened(robot, symbols, nominal)


def unknown_path(robot: Robot, path: str) -> str:
    """What to say of a path that names no parameter."""
    known = [*sorted(robot.symbols), *(name for name, _ in _places(robot))]
    near = difflib.get_close_matches(path, known, 3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known[:6])}, ..."
    return f"there is no parameter {path[:60]!r}; {hint}"


def parameter_paths(robot: Robot) -> list[str]:
    """Every path of the robot that may be opened."""
    return [name for name, _ in _places(robot)]


def _places(robot: Robot) -> Iterator[tuple[str, _Place]]:
    for i, link in enumerate(robot.links):
        for name, place in _inertia_places(link):
            yield f"{link.name}.{name}", _of_link(place, i)
    for i, link in enumerate(robot.links):
        for name, place in _joint_places(link):
            yield f"{link.joint.name}.{name}", _of_link(place, i)
    for k, payload in enumerate(robot.payloads):
        for name, value, put in _payload_values(payload):
            yield f"{payload.name}.{name}", _Place(value, lambda r, v, k=k, put=put: _with_payload(r, k, put(v)))
    for k, axis in enumerate(AXES):
        yield f"gravity.{axis}", _Place(robot.gravity[k], lambda r, v, k=k: replace(r, gravity=_put(r.gravity, k, v)))
        yield f"tool.{axis}", _Place(robot.tool.pose.xyz[k], lambda r, v, k=k: _with_tool(r, k, v))


_LinkPlace = tuple[Value, Callable[[Link, Value], Link]]


def _of_link(place: _LinkPlace, i: int) -> _Place:
    value, put = place
    return _Place(value, lambda robot, v: replace(robot, links=_put(robot.links, i, put(robot.links[i], v))))


def _inertia_places(link: Link) -> Iterator[tuple[str, _LinkPlace]]:
    stated = _stated(link)
    if stated is not link.stated or stated is None:
        for k, name in enumerate((*ABOUT_FRAME, *MOMENTS, "M")):
            yield name, (link.inertia.parameters[k], lambda one, v, k=k: _with_parameter(one, k, v))
    if stated is None or stated.com is None:
        return
    yield "mass", (stated.mass, lambda one, v: _with_stated(one, "mass", None, v))
    for k, axis in enumerate(AXES):
        yield f"com.{axis}", (stated.com[k], lambda one, v, k=k: _with_stated(one, "com", k, v))
    for k, name in enumerate(ABOUT_CENTRE if stated.about == "com" else ABOUT_FRAME):
        yield name, (stated.tensor[k], lambda one, v, k=k: _with_stated(one, "tensor", k, v))


def _stated(link: Link) -> Stated | None:
    """The inertia as the file states it; where it does not, about the mass centre, in the joint's frame."""
    stated, own = link.stated, link.inertia
    if stated is not None and stated.com is not None and _inertia(stated) == own:
        return stated
    if not own.mass or not all(value.is_number for value in own.parameters):
        return None
    mass = own.mass.number
    x, y, z = (moment / mass for moment in own.first_moment)
    # The parallel-axis theorem backwards: what a body of minus the mass at the same place would add.
    centre = Inertia.about_mass_center(-own.mass, (x, y, z), own.tensor)
    return Stated("com", own.mass, (x, y, z), None, centre.tensor)


def _inertia(stated: Stated) -> Inertia:
    assert stated.com is not None
    if stated.about == "com":
        return Inertia.about_mass_center(stated.mass, stated.com, stated.tensor)
    x, y, z = (stated.mass * r for r in stated.com)
    return Inertia(stated.mass, (x, y, z), stated.tensor)


def _with_stated(link: Link, name: str, k: int | None, value: Value) -> Link:
    old = _stated(link)
    assert old is not None
    new = value if k is None else _put(getattr(old, name), k, value)
    stated = replace(old, **{name: new})  # type: ignore[arg-type]
    return replace(link, stated=stated, inertia=_inertia(stated))


def _with_parameter(link: Link, k: int, value: Value) -> Link:
    inertia = Inertia.from_parameters(_put(link.inertia.parameters, k, value))
    return replace(link, inertia=inertia, stated=None)


def _joint_places(link: Link) -> Iterator[tuple[str, _LinkPlace]]:
    for name in (*LENGTHS, *ANGLES):
        yield name, (getattr(link.joint.placement, name), lambda one, v, name=name: _with_placement(one, name, v))
    yield "drive.inertia", (link.joint.drive.inertia, _with_drive_inertia)


def _with_placement(link: Link, name: str, value: Value) -> Link:
    placement = replace(link.joint.placement, **{name: value})  # type: ignore[arg-type]
    return replace(link, joint=replace(link.joint, placement=placement))


def _with_drive_inertia(link: Link, value: Value) -> Link:
    assert isinstance(value, Exact)
    return replace(link, joint=replace(link.joint, drive=replace(link.joint.drive, inertia=value)))


def _payload_values(payload: Payload) -> Iterator[tuple[str, Value, Callable[[Value], dict[str, object]]]]:
    yield "mass", payload.mass, lambda v: {"mass": v}
    for k, axis in enumerate(AXES):
        yield f"com.{axis}", payload.com[k], lambda v, k=k: {"com": (k, v)}
    for k, name in enumerate(ABOUT_CENTRE):
        yield name, payload.tensor[k], lambda v, k=k: {"tensor": (k, v)}


def _with_payload(robot: Robot, k: int, change: dict[str, object]) -> Robot:
    payload = robot.payloads[k]
    changes = {
        name: _put(getattr(payload, name), *new) if isinstance(new, tuple) else new for name, new in change.items()
    }
    return replace(robot, payloads=_put(robot.payloads, k, replace(payload, **changes)))  # type: ignore[arg-type]


def _with_tool(robot: Robot, k: int, value: Value) -> Robot:
    pose = replace(robot.tool.pose, xyz=_put(robot.tool.pose.xyz, k, value))
    return replace(robot, tool=replace(robot.tool, pose=pose))


def _put(items: tuple, k: int, value: object) -> tuple:
    return (*items[:k], value, *items[k + 1 :])
