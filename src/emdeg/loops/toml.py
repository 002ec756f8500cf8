"""The tables [[rod]], [[closure]] and [loops] of a robot file: read, resolved against the tree, written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from emdeg.algebra import NO_ANGLE, ZERO, Exact
from emdeg.errors import RobotError
from emdeg.loops.description import CLOSURE_KINDS, HALF, Closure, End, Loops, LoopsDraft, NamedEnd, Rod
from emdeg.robot import (
    BASE,
    Body,
    ConstraintsDraft,
    ExactTransform,
    Frame,
    Link,
    Pose,
    TomlTable,
    about,
    angle,
    array,
    number,
    of_pose,
    quoted,
    single,
    to_pose,
)


def read_loops(top: TomlTable, bodies: Sequence[Body]) -> ConstraintsDraft:
    """What the tables [[rod]], [[closure]] and [loops] of a robot file with these bodies say."""
    turning = {body.joint: body.kind == "revolute" for body in bodies if body.kind != "fixed"}
    rods, closures, loops = array(top, "rod"), array(top, "closure"), single(top, "loops")
    if not rods and not closures:
        if loops is not None:
            raise loops.error("there is no [[rod]] and no [[closure]] that closes a loop")
        return ConstraintsDraft()
    if loops is None:
        table = (*rods, *closures)[0]
        raise table.error("a loop is closed, so write [loops] with coordinates = [..] and driven = [..]")
    loops.only(("coordinates", "driven", "start", "modes", "values", "allocation"))
    named = [*map(_rod, rods), *map(_closure, closures)]
    names = [loop.name for loop, _, _ in named]
    for name, table in zip(names, (*rods, *closures)):
        if names.count(name) > 1:
            raise table.error(f"two loops are called {name!r}", "name")
    driven = _joints(loops, "driven", turning)
    return LoopsDraft(
        rods=tuple(entry for entry in named if isinstance(entry[0], Rod)),  # type: ignore[misc]
        closures=tuple(entry for entry in named if isinstance(entry[0], Closure)),  # type: ignore[misc]
        coordinates=_joints(loops, "coordinates", turning),
        driven=driven,
        start=_start(loops, turning),
        modes=_modes(loops, names),
        values=_numbers(loops, "values"),
        allocation=_allocation(loops, driven),
    )


def _rod(table: TomlTable) -> tuple[Rod, NamedEnd, NamedEnd]:
    table.only(("name", "from", "to", "length", "mass", "com", "inertia", "masses"))
    name, length = table.name("name"), table.number("length")
    if length is None or (length.is_number and length.number <= 0):
        raise table.error("a rod needs a positive length", "length" if "length" in table else None)
    mass, inertia = table.number("mass") or ZERO, table.number("inertia") or ZERO
    for key, value in (("mass", mass), ("inertia", inertia)):
        if value.is_number and value.number < 0:
            raise table.error(f"{key} must not be negative", key)
    com = table.number("com")
    com = HALF if com is None else com
    if com.is_number and not 0 <= com.number <= 1:
        raise table.error("com is a share of the length, from 0 to 1", "com")
    if inertia and com.is_number and not 0 < com.number < 1:
        raise table.error("a rod with inertia has its mass centre between its ends", "com")
    rod = Rod(name, length, mass=mass, com=com, inertia=inertia, points=_points(table))
    if rod.points is not None:
        first, second, centre = rod.points
        rod = replace(rod, mass=first + second + centre)
    return rod, _place(table, "from"), _place(table, "to")


def _points(table: TomlTable) -> tuple[Exact, Exact, Exact] | None:
    """The masses at the first end, at the second and at the share com, where the rod is stated by them."""
    if "masses" not in table:
        return None
    for key in ("mass", "inertia"):
        if key in table:
            raise table.error(f"masses are the rod's whole inertia: leave {key} out", key)
    return table.vector("masses")


def _closure(table: TomlTable) -> tuple[Closure, NamedEnd, NamedEnd]:
    table.only(("name", "type", "from", "to"))
    kind = table.choice("type", CLOSURE_KINDS)
    closure = Closure(table.name("name"), kind)  # type: ignore[arg-type]
    return closure, _place(table, "from"), _place(table, "to")


def _place(table: TomlTable, key: str) -> NamedEnd:
    end = table.subtable(key)
    if end is None:
        raise table.error(f"{key} is missing: {key} = {{ link = .., xyz = [..] }}")
    end.only(("link", "turn", "xyz", "rpy"))
    pose = end.pose()
    return NamedEnd(end.name("link"), End(turn=end.angle("turn"), xyz=pose.xyz, rpy=pose.rpy))


def _joints(table: TomlTable, key: str, known: Mapping[str, bool]) -> tuple[str, ...]:
    value = table.data.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise table.error(f"{key} must be an array of joints' names", key if key in table else None)
    for name in value:
        if name not in known:
            raise table.error(f"{key}: there is no joint {name[:60]!r}; joints: {', '.join(known)}", key)
    if len(set(value)) < len(value):
        raise table.error(f"{key} names a joint twice", key)
    return tuple(value)


def _start(table: TomlTable, turning: Mapping[str, bool]) -> tuple[tuple[str, Fraction], ...]:
    start = table.subtable("start")
    if start is None:
        return ()
    start.only(tuple(turning))
    return tuple((joint, start.limit(joint, turning=turning[joint]) or Fraction(0)) for joint in start.data)


def _numbers(table: TomlTable, key: str) -> tuple[tuple[str, Fraction], ...]:
    """Names and their numbers."""
    inner = table.subtable(key)
    if inner is None:
        return ()
    found = []
    for name in inner.data:
        value = inner.rational(name)
        assert value is not None
        found.append((name, value))
    return tuple(found)


def _allocation(table: TomlTable, driven: Sequence[str]) -> tuple[tuple[str, Fraction], ...]:
    found = _numbers(table, "allocation")
    for name, share in found:
        if name not in driven:
            raise table.error(
                f"allocation: {name[:60]!r} is no driven joint; driven: {', '.join(driven)}", "allocation"
            )
        if share < 0:
            raise table.error("allocation: a share of the efforts is not negative", "allocation")
    return found


def _modes(table: TomlTable, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    modes = table.subtable("modes")
    if modes is None:
        return ()
    modes.only((*names, *(f"{name}:along" for name in names)))
    for name in modes.data:
        if modes.data[name] not in (1, -1):
            raise modes.error("a mode is 1 or -1", name)
    return tuple((name, int(modes.data[name])) for name in modes.data)


def resolved(
    draft: LoopsDraft, links: Sequence[Link], host: Callable[[str, str], Frame], locked: Collection[str] = ()
) -> Loops:
    """The loops with numbers for names; `host` finds a link, joint or frame (name, what for).

    A joint that is `locked` is neither a coordinate any more nor driven.
    """
    numbers = {link.joint.name: i for i, link in enumerate(links)}

    def joints(names: Sequence[str], what: str) -> tuple[int, ...]:
        left = [name for name in names if name not in locked]
        if not left:
            raise RobotError(f"every {what} is locked: {', '.join(names)}", body=names[0])
        for name in left:
            if name not in numbers:
                raise RobotError(f"a {what} is {name!r}, which does not move", body=name)
        return tuple(numbers[name] for name in left)

    def end(place: NamedEnd, name: str) -> End:
        frame = host(place.host, f"the loop {name!r} is attached to")
        if frame.pose.is_identity:
            return replace(place.end, link=frame.link)
        inner = ExactTransform(about("z", place.end.turn)) @ of_pose(Pose(place.end.xyz, place.end.rpy))
        pose = to_pose(of_pose(frame.pose) @ inner)
        return End(frame.link, NO_ANGLE, pose.xyz, pose.rpy)

    start = dict(draft.start)
    loops = Loops(
        rods=tuple(replace(r, first=end(a, r.name), second=end(b, r.name)) for r, a, b in draft.rods),
        closures=tuple(replace(c, first=end(a, c.name), second=end(b, c.name)) for c, a, b in draft.closures),
        coordinates=joints(draft.coordinates, "coordinate"),
        driven=joints(draft.driven, "driven joint"),
        start=tuple(start.get(link.joint.name, Fraction(0)) for link in links),
        modes=draft.modes,
        values=draft.values,
        allocation=_shares(draft, locked),
    )
    for loop in (*loops.rods, *loops.closures):
        if loop.first.link == loop.second.link:
            raise RobotError("both ends are on the same link: it closes no loop", body=loop.name)
    return loops


def _shares(draft: LoopsDraft, locked: Collection[str]) -> tuple[Fraction, ...]:
    """One a driven joint, one where none is stated; none if all are equal."""
    stated = dict(draft.allocation)
    found = tuple(stated.get(name, Fraction(1)) for name in draft.driven if name not in locked)
    return found if len(set(found)) > 1 else ()


def written_loops(loops: Loops, links: Sequence[Link], root: str) -> list[str]:
    """The TOML tables, each as text."""
    names = [link.joint.name for link in links]

    def end(value: End) -> str:
        pairs = [("link", quoted(root if value.link == BASE else names[value.link]))]
        if not value.turn.is_zero:
            pairs.append(("turn", angle(value.turn)))
        if any(value.xyz):
            pairs.append(("xyz", "[" + ", ".join(number(v) for v in value.xyz) + "]"))
        if not all(a.is_zero for a in value.rpy):
            pairs.append(("rpy", "[" + ", ".join(angle(a) for a in value.rpy) + "]"))
        return "{ " + ", ".join(f"{k} = {v}" for k, v in pairs) + " }"

    def table(header: str, pairs: list[tuple[str, str]]) -> str:
        return "\n".join([header, *(f"{key} = {value}" for key, value in pairs)]) + "\n"

    parts = []
    for rod in loops.rods:
        pairs = [("name", quoted(rod.name)), ("from", end(rod.first)), ("to", end(rod.second))]
        pairs += [("length", number(rod.length)), ("com", number(rod.com))]
        if rod.points is None:
            pairs += [("mass", number(rod.mass)), ("inertia", number(rod.inertia))]
        else:
            pairs.append(("masses", "[" + ", ".join(map(number, rod.points)) + "]"))
        parts.append(table("[[rod]]", pairs))
    for closure in loops.closures:
        pairs = [("name", quoted(closure.name)), ("type", quoted(closure.kind))]
        parts.append(table("[[closure]]", [*pairs, ("from", end(closure.first)), ("to", end(closure.second))]))
    start = ", ".join(f"{quoted(names[i])} = {number(v)}" for i, v in enumerate(loops.start) if v)
    pairs = [
        (key, "[" + ", ".join(quoted(names[i]) for i in joints) + "]")
        for key, joints in (("coordinates", loops.coordinates), ("driven", loops.driven))
    ]
    pairs += [("start", "{ " + start + " }")] if start else []
    if loops.modes:
        pairs.append(("modes", "{ " + ", ".join(f"{quoted(k)} = {v}" for k, v in loops.modes) + " }"))
    shares = tuple(zip((names[i] for i in loops.driven), loops.allocation))
    for key, told in (("values", loops.values), ("allocation", shares)):
        if told:
            pairs.append((key, "{ " + ", ".join(f"{quoted(k)} = {number(v)}" for k, v in told) + " }"))
    return [*parts, table("[loops]", pairs)]
