"""A robot's numbers made symbols: all of them, so that its equations are read in its parameters, or some, to vary.

One walk knows every number of a robot by its path and by its letter. A path is a link's, joint's or payload's name and
what of it: `link2.mass`, `link2.com.x`, `link2.Ixx`, as the robot's file states them; where it is no emdeg file with a
mass centre, they are in the joint's frame, and `link2.M`, `link2.MX`, `link2.XX` are the parameters in which the
equations are linear. `q3.a`, `q3.d`, `q3.alpha`, `q1.drive.inertia`, `payload.mass`; `gravity.z`, `tool.x`, `base.x`. A
symbol is its own path.

A letter is the name a number's kind has in the literature, with the link's number: m2, rx2, Ixx2 about the mass centre,
M2, MX2, XX2 about the frame; a2 for the length between axes 2 and 3 and d3 for the offset along axis 3 (Craig); Ia1 for
a drive's inertia; mL, rxL, IxxL for a load; g.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from emdeg.algebra import Angle, Exact, look
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.robot.model import Frame, Inertia, Link, Payload, Pose, Robot, Stated

AXES = ("x", "y", "z")
TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
ABOUT_CENTRE = ("mass", *(f"com.{axis}" for axis in AXES), *(f"I{ij}" for ij in TENSOR))
ABOUT_FRAME = ("M", *(f"M{axis.upper()}" for axis in AXES), *(ij.upper() for ij in TENSOR))
PLACEMENT = ("b", "a", "d", "gamma", "alpha", "beta", "theta")

Value = Exact | Angle


class Known(NamedTuple):
    """A parameter's number, and its +- if the robot's source states one; SI units."""

    value: Fraction
    tolerance: Fraction | None = None


@dataclass(frozen=True)
class Opened(Shown):
    """A robot some of whose numbers are symbols now: `symbols` by path, `nominal` the numbers they had, by path."""

    robot: Robot
    symbols: dict[str, str]
    nominal: dict[str, float]


@dataclass(frozen=True)
class ParameterGroup:
    """Numbers that stand together (a placement, an inertia, a load), and the robot with others in their place."""

    owner: str
    names: tuple[str, ...]
    letters: tuple[str, ...]
    values: tuple[Any, ...]
    put: Callable[[Robot, tuple[Any, ...]], Robot]
    tolerances: tuple[Fraction | None, ...]
    read: bool = True
    """Whether the equations are read in these; False where they restate what others of the link say."""
    vary: bool = True
    """Whether their paths may be opened."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(f"{self.owner}.{name}" for name in self.names)


def symbolize(robot: Robot) -> tuple[Robot, dict[str, Known]]:
    """(`robot` with symbols for its numbers, {symbol: (value, tolerance)}), geometry, inertia, loads and gravity.

    What is zero stays zero, and angles stay the exact angles they are: they decide the equations' form. A last link
    that is balanced about its own joint axis and symmetric to it has one symbol for both transverse moments, because
    that is why its joint's angle drops out of the equations (Armstrong et al., eq. 9). Gravity along an axis is one g.
    """
    known: dict[str, Known] = {}
    taken = robot.symbols
    round_links = _round_last_links(robot)
    changed = robot
    for group in _groups(robot):
        if not group.read:
            continue
        letters, values = group.letters, group.values
        signs = (1,) * len(values)
        if group.owner == "gravity" and sum(map(bool, values)) == 1:
            letters = ("g",) * len(values)
            signs = tuple(-1 if v and v.is_number and v.number < 0 else 1 for v in values)
        new = []
        for k, (letter, value, sign) in enumerate(zip(letters, values, signs)):
            if not isinstance(value, Exact) or not value or not value.is_number:
                new.append(value)
                continue
            if group.owner in round_links and group.names[k].lower().endswith("yy"):
                new.append(new[k - TENSOR.index("yy")])  # the symbol of xx
                continue
            name = _unused(letter, taken | known.keys())
            known[name] = Known(sign * value.number, group.tolerances[k])
            new.append(sign * Exact.symbol(name))
        changed = group.put(changed, tuple(new))
    return _told(changed, {name: one.value for name, one in known.items()}), known


def _told(robot: Robot, values: Mapping[str, Fraction]) -> Robot:
    """The robot whose constraints know near which numbers its symbols are meant."""
    return replace(robot, constraints=robot.constraints.with_values(values))


def opened(robot: Robot, paths: Sequence[str]) -> Opened:
    """`robot` with symbols at these paths; RobotError for a path that names nothing, with the nearest that does."""
    symbols: dict[str, str] = {}
    nominal: dict[str, float] = {}
    own = robot.symbols
    for path in paths:
        if path in own:
            symbols[path] = path
            continue
        # Looked up each time: an opened mass makes its link one that is stated about its mass centre.
        places = _places(robot)
        if path not in places:
            raise RobotError(_unknown_path(robot, path), body=robot.name)
        group, k = places[path]
        value = group.values[k]
        if not _is_number(value):
            raise RobotError(f"{path} is {value}: vary the symbols it is made of", body=robot.name)
        name = _unused(group.letters[k], own | set(symbols.values()))
        symbols[path], nominal[path] = name, float(value)
        symbol = Angle.parse(name) if isinstance(value, Angle) else Exact.symbol(name)
        robot = group.put(robot, (*group.values[:k], symbol, *group.values[k + 1 :]))
        robot = _told(robot, {name: Fraction(nominal[path])})
    return Opened(robot, symbols, nominal)


def parameter_paths(robot: Robot) -> list[str]:
    """Every path of the robot that may be opened."""
    return list(_places(robot))


def letter_paths(robot: Robot) -> dict[str, str]:
    """Letter -> the path of the number it stands for where equations are read in the robot's parameters."""
    return {
        letter: path for group in _groups(robot) if group.read for letter, path in zip(group.letters, group.paths)
    } | ({"g": "gravity"} if any(robot.gravity) else {})


def stated_tolerances(robot: Robot) -> dict[str, Fraction]:
    """Path -> its +-, SI: what the robot's source states of numbers that may be opened; of a number that is a symbol
    now its symbol's tolerance is known (`symbolize`)."""
    places = _places(robot) if robot.tolerances else {}
    return {
        path: tolerance
        for path, tolerance in robot.tolerances.items()
        if tolerance and path in places and _is_number(places[path][0].values[places[path][1]])
    }


def with_assumed_tolerances(robot: Robot, share: Fraction) -> Robot:
    """`robot` with a tolerance for every link's mass, mass centre and moments and every drive's inertia without one.

    It is that share of the number; of a coordinate of the centre, or an entry of the tensor, of the largest of them, so
    that a zero beside others is not taken for certain. Geometry and gravity are left as exact as they are.
    """
    links = range(len(robot.links))
    # Of a link that may vary in two ways the last are the numbers about its mass centre.
    bodies = {group.owner: group for i in links for group in _inertias(robot, i) if group.vary}
    drives = [group for i in links for group in _drives(robot, i) if group.names == ("inertia",)]
    found: dict[str, Fraction] = {}
    for group in (*bodies.values(), *drives):
        for few in (slice(0, 1), slice(1, 4), slice(4, 10)):
            sizes = [abs(one.number) for one in group.values[few] if _is_number(one)]
            found |= {path: share * max(sizes) for path in group.paths[few] if sizes and max(sizes)}
    return replace(robot, tolerances={**found, **robot.tolerances})


def _places(robot: Robot) -> dict[str, tuple[ParameterGroup, int]]:
    """Path -> the group that holds it and its place there."""
    return {path: (group, k) for group in _groups(robot) if group.vary for k, path in enumerate(group.paths)}


def _is_number(value: Value) -> bool:
    return value.symbol is None if isinstance(value, Angle) else value.is_number


def with_symbolic_payload(robot: Robot, link: str | None = None) -> Robot:
    """`robot` carrying, besides what it carries, a load with ten symbols mL, rxL .. rzL, IxxL .. IzzL.

    `link` names the link or frame that carries it, by default the tool's link (Bejczy, Appendix C).
    """
    if link is None:
        named = [frame.name for frame in robot.frames if frame.link == robot.tool.link and frame.pose.is_identity]
        if not named:
            raise RobotError("no frame stands at the tool's link: say which link carries the load", body=robot.name)
        link = named[0]
    elif link not in {frame.name for frame in robot.frames}:
        names = ", ".join(frame.name for frame in robot.frames)
        raise RobotError(f"there is no link {link!r} to carry the load; there are: {names}", body=robot.name)
    letters = _centre_letters("L")
    if taken := robot.symbols.intersection(letters):
        raise RobotError(f"its own symbol {min(taken)} is the name of a load's parameter", body=robot.name)
    mass, x, y, z, *tensor = map(Exact.symbol, letters)
    return replace(robot, payloads=(*robot.payloads, Payload(link, mass, (x, y, z), tuple(tensor), "load")))


def _unused(letter: str, taken: frozenset[str] | set[str]) -> str:
    """The letter, or it with a sign of its own where it would look like a name that is taken."""
    looks = set(map(look, taken))
    while look(letter) in looks:
        letter += "x"
    return letter


def _unknown_path(robot: Robot, path: str) -> str:
    """What to say of a path that names no parameter."""
    known = [*sorted(robot.symbols), *parameter_paths(robot)]
    near = difflib.get_close_matches(path, known, 3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known[:6])}, ..."
    return f"there is no parameter {path[:60]!r}; {hint}"


def _groups(robot: Robot) -> Iterator[ParameterGroup]:
    """Every number of the robot: base, link by link geometry, inertia and drive, tool, loads, gravity."""
    children = Counter(link.parent for link in robot.links)
    none = (None,) * 3
    yield ParameterGroup("base", AXES, _letters("{}base"), robot.base.xyz, _put_base, none)
    for i, link in enumerate(robot.links):
        yield _placement(robot, i, alone=children[link.parent] == 1)
        yield from _inertias(robot, i)
        yield from _drives(robot, i)
    yield from robot.constraints.parameter_groups()
    yield ParameterGroup("tool", AXES, _letters("{}tool"), robot.tool.pose.xyz, _put_tool, none)
    for k, load in enumerate(robot.payloads):
        letters = _centre_letters("L" if len(robot.payloads) == 1 else f"L{k + 1}")
        values = (load.mass, *load.com, *load.tensor)
        yield ParameterGroup(load.name, ABOUT_CENTRE, letters, values, _put_payload(k), (None,) * 10)
    yield ParameterGroup("gravity", AXES, _letters("g{}"), robot.gravity, lambda one, v: replace(one, gravity=v), none)


def _letters(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.format(axis) for axis in AXES)


def _centre_letters(suffix: str) -> tuple[str, ...]:
    """m, rx .. rz, Ixx .. Izz with the link's number or a load's letter."""
    return (f"m{suffix}", *(f"r{axis}{suffix}" for axis in AXES), *(f"I{ij}{suffix}" for ij in TENSOR))


def _placement(robot: Robot, i: int, *, alone: bool) -> ParameterGroup:
    """The joint's geometry; `alone`: no other link stands on the same parent, so its length is the parent's a."""
    link = robot.links[i]
    inner = f"a{link.parent + 1}"
    letters = {name: f"{name}{i + 1}" for name in PLACEMENT} | {"a": inner if alone else f"{inner}_{i + 1}"}
    owner, place = link.joint.name, link.joint.placement
    return ParameterGroup(
        owner,
        PLACEMENT,
        tuple(letters.values()),
        tuple(getattr(place, name) for name in PLACEMENT),
        _in_link(i, lambda one, v: _with_joint(one, placement=replace(one.joint.placement, **dict(zip(PLACEMENT, v))))),
        tuple(robot.tolerances.get(f"{owner}.{name}") for name in PLACEMENT),
    )


def _drives(robot: Robot, i: int) -> Iterator[ParameterGroup]:
    """The drive's inertia at the joint, and the motor's own numbers where it is made of them."""
    joint = robot.links[i].joint
    owner, drive, given = f"{joint.name}.drive", joint.drive, robot.tolerances

    def with_inertia(link: Link, values: tuple[Any, ...]) -> Link:
        return _with_joint(link, drive=replace(link.joint.drive, inertia=values[0]))

    def with_motor(link: Link, values: tuple[Any, ...]) -> Link:
        motor, gear = values
        drive = replace(link.joint.drive, motor_inertia=motor, gear_ratio=gear, inertia=motor * gear * gear)
        return _with_joint(link, drive=drive)

    names, values = ("motor_inertia", "gear_ratio"), (drive.motor_inertia, drive.gear_ratio)
    of_motor = tuple(given.get(f"{owner}.{name}") for name in names)
    motor, gear = values
    made = motor is not None and gear is not None and drive.inertia == motor * gear * gear
    # Read in the motor's numbers only if it is they whose tolerances are known.
    read = made and any(of_motor)
    tolerance = (given.get(f"{owner}.inertia"),)
    put = _in_link(i, with_inertia)
    yield ParameterGroup(owner, ("inertia",), (f"Ia{i + 1}",), (drive.inertia,), put, tolerance, read=not read)
    if made:
        letters = (f"Jm{i + 1}", f"n{i + 1}")
        yield ParameterGroup(owner, names, letters, values, _in_link(i, with_motor), of_motor, read=read)


def _inertias(robot: Robot, i: int) -> Iterator[ParameterGroup]:
    """The link's inertia as it is read, and as it may vary besides.

    It is read about the mass centre where the file states it there, and where tolerances are those of mass and mass
    centre: the first moments m r are not independent of the mass.
    """
    link, given = robot.links[i], robot.tolerances
    stated = _stated(link)
    from_file = stated is not None and stated is link.stated
    of_centre = any(given.get(f"{link.name}.{name}") for name in ABOUT_CENTRE)
    filed_centre = from_file and stated is not None and stated.about == "com"
    about_centre = filed_centre or (of_centre and stated is not None and stated.com is not None)
    if not filed_centre:
        letters = tuple(f"{name}{i + 1}" for name in ABOUT_FRAME)
        values = (link.inertia.mass, *link.inertia.first_moment, *link.inertia.tensor)
        tolerances = tuple(given.get(f"{link.name}.{name}") for name in ABOUT_FRAME)
        put = _in_link(i, _with_parameters)
        yield ParameterGroup(
            link.name, ABOUT_FRAME, letters, values, put, tolerances, read=not about_centre, vary=not from_file
        )
    if stated is not None and stated.com is not None:
        names = ABOUT_CENTRE if stated.about == "com" else (*ABOUT_CENTRE[:4], *ABOUT_FRAME[4:])
        values = (stated.mass, *stated.com, *stated.tensor)
        tolerances = tuple(given.get(f"{link.name}.{name}") for name in names)
        put = _in_link(i, _with_stated)
        yield ParameterGroup(link.name, names, _centre_letters(f"{i + 1}"), values, put, tolerances, read=about_centre)


def _stated(link: Link) -> Stated | None:
    """The inertia as the file states it; where it does not, about the mass centre, in the joint's frame."""
    stated, own = link.stated, link.inertia
    if stated is not None and stated.com is not None and stated.inertia == own:
        return stated
    if not own.mass or not all(value.is_number for value in own.parameters):
        return None
    mass = own.mass.number
    x, y, z = (moment / mass for moment in own.first_moment)
    # The parallel-axis theorem backwards: what a body of minus the mass at the same place would add.
    centre = Inertia.about_mass_center(-own.mass, (x, y, z), own.tensor)
    return Stated("com", own.mass, (x, y, z), None, centre.tensor)


def _round_last_links(robot: Robot) -> frozenset[str]:
    """The last links that look the same however far their joints turned, by name."""
    found = set()
    for i, link in enumerate(robot.links):
        xx, xy, xz, yy, yz, _ = link.inertia.tensor
        x, y, _ = link.inertia.first_moment
        last = all(other.parent != i for other in robot.links)
        if last and xx.is_number and xx == yy and not (xy or xz or yz or x or y):
            found.add(link.name)
    return frozenset(found)


def _in_link(i: int, change: Callable[[Link, tuple[Any, ...]], Link]) -> Callable[[Robot, tuple[Any, ...]], Robot]:
    def put(robot: Robot, values: tuple[Any, ...]) -> Robot:
        return replace(robot, links=_put(robot.links, i, change(robot.links[i], values)))

    return put


def _with_joint(link: Link, **changes: Any) -> Link:
    return replace(link, joint=replace(link.joint, **changes))


def _with_parameters(link: Link, values: tuple[Any, ...]) -> Link:
    mass, x, y, z, *tensor = values
    return replace(link, inertia=Inertia(mass, (x, y, z), tuple(tensor)), stated=None)


def _with_stated(link: Link, values: tuple[Any, ...]) -> Link:
    old = _stated(link)
    assert old is not None
    mass, x, y, z, *tensor = values
    stated = replace(old, mass=mass, com=(x, y, z), tensor=tuple(tensor))
    return replace(link, stated=stated, inertia=stated.inertia)


def _put_base(robot: Robot, values: tuple[Any, ...]) -> Robot:
    return replace(robot, base=_at(robot.base, values))


def _put_tool(robot: Robot, values: tuple[Any, ...]) -> Robot:
    tool: Frame = replace(robot.tool, pose=_at(robot.tool.pose, values))
    return replace(robot, tool=tool)


def _at(pose: Pose, values: tuple[Any, ...]) -> Pose:
    x, y, z = values
    return replace(pose, xyz=(x, y, z))


def _put_payload(k: int) -> Callable[[Robot, tuple[Any, ...]], Robot]:
    def put(robot: Robot, values: tuple[Any, ...]) -> Robot:
        mass, x, y, z, *tensor = values
        load = replace(robot.payloads[k], mass=mass, com=(x, y, z), tensor=tuple(tensor))
        return replace(robot, payloads=_put(robot.payloads, k, load))

    return put


def _put(items: tuple[Any, ...], k: int, value: Any) -> tuple[Any, ...]:
    return (*items[:k], value, *items[k + 1 :])
