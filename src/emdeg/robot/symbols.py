"""A robot's numbers made symbols, so that its equations come out in its parameters.

What is zero stays zero, and angles stay the exact angles they are: they decide the equations' form. Every other
number gets the name its kind has in the literature, with the link's number: m2, rx2, Ixx2 where the source states
the inertia about the mass centre, M2, MX2, XX2 where it does not; a2 for the length between axes 2 and 3 and d3
for the offset along axis 3 (Craig); Ia1 for a drive's inertia; mL, rxL, IxxL for a load; g. A last link that is
balanced about its own joint axis and symmetric to it has one symbol for both transverse moments, because that is why
its joint's angle drops out of the equations (Armstrong et al., eq. 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from emdeg.algebra import Exact
from emdeg.algebra.angle import square_root
from emdeg.equations.model import Known
from emdeg.errors import RobotError
from emdeg.robot import Inertia, Link, Payload, Robot
from emdeg.robot.model import Placement, Pose, Stated, Vector

TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
AXES = ("x", "y", "z")


@dataclass
class _Namer:
    """Gives out symbols for numbers and remembers what they stand for."""

    taken: frozenset[str]
    tolerances: Mapping[str, Fraction]
    known: dict[str, Known] = field(default_factory=dict)

    def __call__(self, value: Exact, name: str, path: str = "", tolerance: Fraction | None = None) -> Exact:
        """A symbol for a number that is not zero; symbols stay as they are."""
        if not value or not value.is_number:
            return value
        while name in self.taken or name in self.known:
            name += "_"
        self.known[name] = Known(value.number, self.tolerances.get(path, tolerance))
        return Exact.symbol(name)


def symbolize(robot: Robot) -> tuple[Robot, dict[str, Known]]:
    """(`robot` with symbols for its numbers, {symbol: (value, tolerance)}), geometry, inertia, loads and gravity."""
    name = _Namer(robot.symbols, robot.tolerances)
    children = Counter(link.parent for link in robot.links)
    base = _pose(robot.base, "base", name)
    links = []
    for i, link in enumerate(robot.links, 1):
        inner = link.parent + 1
        length = f"a{inner}" if children[link.parent] == 1 else f"a{inner}_{i}"
        place = _placement(link.joint.placement, i, length, link.joint.name, name)
        inertia, stated = _inertia(link, i, name, last=not children[i - 1])
        own = link.joint.drive
        drive = replace(own, inertia=name(own.inertia, f"Ia{i}", f"{link.joint.name}.drive.inertia"))
        joint = replace(link.joint, placement=place, drive=drive)
        links.append(replace(link, joint=joint, inertia=inertia, stated=stated))
    tool = replace(robot.tool, pose=_pose(robot.tool.pose, "tool", name))
    payloads = tuple(
        _payload(p, "L" if len(robot.payloads) == 1 else f"L{k}", name) for k, p in enumerate(robot.payloads, 1)
    )
    gravity = _gravity(robot.gravity, name)
    changed = replace(robot, base=base, links=tuple(links), tool=tool, payloads=payloads, gravity=gravity)
    return changed, name.known


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
    x, y, z = (Exact.symbol(f"r{axis}L") for axis in AXES)
    tensor = tuple(Exact.symbol(f"I{ij}L") for ij in TENSOR)
    taken = robot.symbols & {"mL", *(f"r{axis}L" for axis in AXES), *(f"I{ij}L" for ij in TENSOR)}
    if taken:
        raise RobotError(f"its own symbol {min(taken)} is the name of a load's parameter", body=robot.name)
    load = Payload(link, Exact.symbol("mL"), (x, y, z), tensor, "load")
    return replace(robot, payloads=(*robot.payloads, load))


def _placement(place: Placement, i: int, length: str, joint: str, name: _Namer) -> Placement:
    return replace(
        place,
        b=name(place.b, f"b{i}", f"{joint}.b"),
        a=name(place.a, length, f"{joint}.a"),
        d=name(place.d, f"d{i}", f"{joint}.d"),
    )


def _pose(pose: Pose, what: str, name: _Namer) -> Pose:
    x, y, z = (name(value, f"{axis}{what}") for axis, value in zip(AXES, pose.xyz))
    return replace(pose, xyz=(x, y, z))


def _inertia(link: Link, i: int, name: _Namer, *, last: bool) -> tuple[Inertia, Stated | None]:
    stated = link.stated
    if stated is not None and stated.about == "com" and stated.com is not None and _is_of(stated, link.inertia):
        mass = name(stated.mass, f"m{i}", f"{link.name}.mass")
        x, y, z = (name(r, f"r{k}{i}", f"{link.name}.com.{k}") for k, r in zip(AXES, stated.com))
        tensor = tuple(name(v, f"I{ij}{i}", f"{link.name}.I{ij}") for ij, v in zip(TENSOR, stated.tensor))
        tensor = _one_transverse(link, tensor, name) if last else tensor
        changed = replace(stated, mass=mass, com=(x, y, z), tensor=tensor)
        return Inertia.about_mass_center(mass, (x, y, z), tensor), changed
    own = link.inertia
    mass = name(own.mass, f"M{i}", f"{link.name}.M", name.tolerances.get(f"{link.name}.mass"))
    x, y, z = (
        name(h, f"M{k.upper()}{i}", f"{link.name}.M{k.upper()}", _moment_tolerance(link, k, name))
        for k, h in zip(AXES, own.first_moment)
    )
    tensor = tuple(name(v, f"{ij.upper()}{i}", f"{link.name}.{ij.upper()}") for ij, v in zip(TENSOR, own.tensor))
    return Inertia(mass, (x, y, z), _one_transverse(link, tensor, name) if last else tensor), None


def _is_of(stated: Stated, inertia: Inertia) -> bool:
    """Whether `inertia` is what the source states, and not that with something joined to it."""
    com = stated.com
    return com is not None and Inertia.about_mass_center(stated.mass, com, stated.tensor) == inertia


def _one_transverse(link: Link, tensor: tuple[Exact, ...], name: _Namer) -> tuple[Exact, ...]:
    """`tensor` with the symbol of xx for yy too, where the link looks the same however far its joint turned."""
    xx, xy, xz, yy, yz, _ = link.inertia.tensor
    round_about_z = xx == yy and not (xy or xz or yz or link.inertia.first_moment[0] or link.inertia.first_moment[1])
    if not round_about_z or tensor[0] == tensor[3] or not (xx.is_number and tensor[3].symbols <= name.known.keys()):
        return tensor
    for symbol in tensor[3].symbols:
        del name.known[symbol]
    return (*tensor[:3], tensor[0], *tensor[4:])


def _moment_tolerance(link: Link, axis: str, name: _Namer) -> Fraction | None:
    """The +- of m r from those of m and r, independent of each other; None if neither is stated."""
    if link.stated is None or link.stated.com is None:
        return None
    of_mass = name.tolerances.get(f"{link.name}.mass")
    of_place = name.tolerances.get(f"{link.name}.com.{axis}")
    place = link.stated.com[AXES.index(axis)]
    if (of_mass is None and of_place is None) or not (place.is_number and link.stated.mass.is_number):
        return None
    return square_root((place.number * (of_mass or 0)) ** 2 + (link.stated.mass.number * (of_place or 0)) ** 2)


def _payload(load: Payload, suffix: str, name: _Namer) -> Payload:
    x, y, z = (name(r, f"r{axis}{suffix}") for axis, r in zip(AXES, load.com))
    return replace(
        load,
        mass=name(load.mass, f"m{suffix}"),
        com=(x, y, z),
        tensor=tuple(name(v, f"I{ij}{suffix}") for ij, v in zip(TENSOR, load.tensor)),
    )


def _gravity(gravity: Vector, name: _Namer) -> Vector:
    """One symbol g where gravity acts along an axis, else gx, gy, gz."""
    acting = [value for value in gravity if value]
    if len(acting) == 1 and acting[0].is_number:
        sign = 1 if acting[0].number > 0 else -1
        g = sign * name(acting[0] * sign, "g")
        x, y, z = (g if value else value for value in gravity)
    else:
        x, y, z = (name(value, f"g{axis}") for axis, value in zip(AXES, gravity))
    return (x, y, z)
