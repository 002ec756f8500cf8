"""From what a reader found to a robot: cleaned of round-off, locks, payloads, tip, normal form, checks.

Moments that differ in their last digit and products of inertia of 1e-19 are numbers like any others in exact
arithmetic: a last link that is round no longer is, and its angle stays in the equations. Differences of the size of a
double's round-off are taken away on reading, and reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np

from emdeg.algebra import ZERO, Angle, Exact
from emdeg.errors import RobotError, TooLarge
from emdeg.robot.checks import BUDGET, Finding
from emdeg.robot.constraints import ConstraintsDraft
from emdeg.robot.model import BASE, Frame, Inertia, Link, Payload, Pose, Robot, Vector
from emdeg.robot.normal_form import Body, NormalForm, depth_first, lock, normal_form
from emdeg.robot.transform import (
    NOISE,
    ExactTransform,
    dot,
    move_inertia,
    of_pose,
    product,
    to_pose,
    transpose,
    turn,
    unit,
)

GRAVITY: Vector = (Exact(), Exact(), Exact.of(Fraction(-981, 100)))
LARGEST = 10**150
"""Moments beyond this overflow a double when they are squared."""

ROUNDING = 1e-6
"""Published inertias are rounded: a rule counts as broken only beyond this share of the largest moment."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A robot as its file describes it, before anything is merged, locked or checked."""

    name: str
    bodies: tuple[Body, ...]
    root: str = "base"
    """The name of the body that does not move."""
    root_mass: Exact = Exact()
    """What that body weighs [kg], where the file says so; it does not count."""
    base: ExactTransform = ExactTransform()
    """Denavit-Hartenberg files only: frame 0 in the base frame."""
    tool: tuple[str, Pose] | None = None
    """The body that carries the tool frame, and where; None: the end of the longest chain."""
    gravity: Vector = GRAVITY
    payloads: tuple[Payload, ...] = ()
    frames: tuple[tuple[str, str, Pose], ...] = ()
    """(name, body, pose) of further named frames."""
    title: str = ""
    source: str = ""
    nonphysical: str = ""
    tolerances: Mapping[str, Fraction] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    constraints: ConstraintsDraft = ConstraintsDraft()
    file: str | None = None


def findings(draft: Draft) -> list[Finding]:
    """Every physical rule the bodies break, in the file's order."""
    found: list[Finding] = []
    for body in draft.bodies:
        found += inertia_findings(body.name, body.inertia, body.line)
        drive = body.drive.inertia
        if drive.is_number and drive.number < 0:
            found.append(Finding(body.joint, f"its drive's inertia is negative: {float(drive):g}", body.line))
    for payload in draft.payloads:
        found += inertia_findings(payload.name, payload_inertia(payload))
    return found


def assemble(
    draft: Draft,
    *,
    tip: str | None = None,
    locks: Mapping[str, Exact | Angle] | None = None,
    payloads: Sequence[Payload] = (),
    gravity: Vector | None = None,
    allow_nonphysical: bool = False,
) -> Robot:
    """The robot in normal form; RobotError where the description breaks a rule.

    `tip` names the link or frame that carries the tool; `locks` makes joints rigid at a value; `payloads` are
    carried in addition to the file's own.
    """
    try:
        return _assemble(draft, tip, dict(locks or {}), payloads, gravity, allow_nonphysical)
    except RobotError as problem:
        raise problem.at(file=draft.file) from None


def _held(draft: Draft) -> Iterator[str]:
    """A word on each body with a mass that stands still though several limbs hang on it, as a legged robot's would.

    What is fixed to a massless root is a body of its own: a world may carry many that stand apart.
    """
    world = "" if draft.root_mass.is_number and not draft.root_mass.number else draft.root
    part_of: dict[str | None, str] = {None: world}
    mass: dict[str, float] = {world: float(draft.root_mass) if draft.root_mass.is_number else 0.0}
    limbs: dict[str, int] = {}
    for body in depth_first(draft.bodies):
        if body.parent not in part_of:
            continue
        carrier = part_of[body.parent]
        if body.kind != "fixed":
            limbs[carrier] = limbs.get(carrier, 0) + 1
            continue
        part_of[body.name] = carrier or body.name
        weight = body.inertia.mass
        mass[part_of[body.name]] = mass.get(part_of[body.name], 0.0) + (float(weight) if weight.is_number else 0.0)
    for name, count in limbs.items():
        if count > 1 and mass[name] > 0:
            yield (
                f"{name!r}, on which {count} limbs hang, is held in its place: a free base is not modelled, its "
                f"{mass[name]:.4g} kg do not count"
            )


def _assemble(
    draft: Draft,
    tip: str | None,
    locks: dict[str, Exact | Angle],
    payloads: Sequence[Payload],
    gravity: Vector | None,
    allow_nonphysical: bool,
) -> Robot:
    if len(draft.bodies) > BUDGET.links:
        raise TooLarge(f"it has {len(draft.bodies)} links; the budget is {BUDGET.links}")
    own = findings(draft)
    added = [finding for payload in payloads for finding in inertia_findings(payload.name, payload_inertia(payload))]
    draft = replace(draft, payloads=(*draft.payloads, *payloads))
    # The file's own word excuses its own data, not what a user hangs on it.
    unexcused = [] if allow_nonphysical else added if draft.nonphysical else own + added
    if unexcused:
        first = unexcused[0]
        more = f" (and {len(unexcused) - 1} more)" if len(unexcused) > 1 else ""
        raise RobotError(
            f"{first.rule}{more}; correct it, or pass --allow-nonphysical to go on", line=first.line, body=first.body
        )
    notes = [*draft.notes, *_held(draft), *(f"nonphysical: {finding}" for finding in own + added)]
    ordered = depth_first(draft.bodies)
    locked = lock(ordered, locks)
    form = normal_form(locked, draft.base)
    if not form.links:
        raise RobotError("it has no moving joint")
    frames = _frames(draft, form)
    form = replace(form, links=_with_motors(draft, locked, form))
    owners = _owners(locked, form)
    hosts = _hosts(form, frames)
    robot = Robot(
        name=draft.name,
        links=form.links,
        base=form.base,
        tool=_tool(draft, ordered, hosts, tip),
        gravity=draft.gravity if gravity is None else gravity,
        frames=tuple(frames.values()),
        payloads=draft.payloads,
        title=draft.title,
        source=draft.source,
        nonphysical=draft.nonphysical,
        tolerances={path: v for path, v in draft.tolerances.items() if path.startswith(owners)},
        sources={path: v for path, v in draft.sources.items() if path.startswith(owners)},
        notes=tuple(notes),
        constraints=draft.constraints.resolved(form.links, partial(_known, hosts), locks),
    )
    for payload in robot.payloads:
        _known(frames, payload.link, f"the payload {payload.name!r} is attached to")
    return robot


def _with_motors(draft: Draft, bodies: Sequence[Body], form: NormalForm) -> tuple[Link, ...]:
    """The links with every stated motor axis of length 1 in the frame of a link that moves, or of the base."""
    by_name = {body.name: body for body in bodies}
    parent = {body.joint: body.parent or draft.root for body in bodies}
    homes = {frame.name: frame for frame in form.frames}
    moving = {link.name: i for i, link in enumerate(form.links)}
    found = []
    for link in form.links:
        drive = link.joint.drive
        if drive.motor_axis is None:
            found.append(link)
            continue
        name, axis = drive.motor_link or parent[link.joint.name], drive.motor_axis
        if name not in by_name and name != draft.root:
            known = ", ".join([draft.root, *by_name])
            raise RobotError(f"its motor_link {name!r} does not exist; there are: {known}", body=link.joint.name)
        carrier = moving.get(name, BASE)
        if name in by_name and name not in moving:  # it is part of another link
            home, own = homes[name], by_name[name].frame
            carrier, axis = home.link, turn(product(of_pose(home.pose).R, transpose(own.R)), axis)
        if all(value.is_number for value in axis):
            numbers = (axis[0].number, axis[1].number, axis[2].number)
            if abs(dot(numbers, numbers) - 1) > NOISE:
                x, y, z = unit(numbers)
                axis = (Exact.of(x), Exact.of(y), Exact.of(z))
        names = (*(one.name for one in form.links), draft.root)
        drive = replace(drive, motor_axis=axis, motor_link=None if carrier == link.parent else names[carrier])
        found.append(replace(link, joint=replace(link.joint, drive=drive)))
    return tuple(found)


def _owners(bodies: Sequence[Body], form: NormalForm) -> tuple[str, ...]:
    """The links whose inertia, and the joints whose place and drive, are still those the file states."""
    hosts = {frame.name: frame.link for frame in form.frames}
    merged = {hosts[b.name] for b in bodies if b.kind == "fixed" and not b.inertia.is_zero}
    moving = [body for body in bodies if body.kind != "fixed"]
    links = [f"{body.name}." for body in moving if hosts[body.name] not in merged]
    return (*links, *(f"{body.joint}." for body in moving))


def _frames(draft: Draft, form: NormalForm) -> dict[str, Frame]:
    """Every named frame: the links' own, the base, those of merged bodies, the file's extra ones."""
    own = {frame.name: frame for frame in form.frames}
    frames = {link.name: own.pop(link.name) for link in form.links}
    if draft.root in frames:
        raise RobotError("a link has the name of the base", body=draft.root)
    frames[draft.root] = own.pop(draft.root, Frame(draft.root, BASE))
    frames |= own
    for name, body, pose in draft.frames:
        if name in frames:
            raise RobotError(f"two frames are called {name!r}", body=name)
        host = _known(_hosts(form, frames), body, f"frame {name!r} is attached to")
        frames[name] = Frame(name, host.link, to_pose(of_pose(host.pose) @ of_pose(pose)))
    return frames


def _hosts(form: NormalForm, frames: Mapping[str, Frame]) -> dict[str, Frame]:
    """What a frame or tool may be attached to: a named frame, or a joint for its Denavit-Hartenberg frame."""
    return {link.joint.name: Frame(link.joint.name, i) for i, link in enumerate(form.links)} | dict(frames)


def _known(frames: Mapping[str, Frame], name: str, what: str) -> Frame:
    if name not in frames:
        raise RobotError(f"{what} {name!r}, which does not exist; there are: {', '.join(frames)}")
    return frames[name]


def _tool(draft: Draft, ordered: Sequence[Body], frames: Mapping[str, Frame], tip: str | None) -> Frame:
    if tip is not None:
        host, pose = _known(frames, tip, "the tip is to be"), Pose()
        if draft.tool is not None and draft.tool[0] == tip:
            pose = draft.tool[1]
    elif draft.tool is not None:
        host, pose = _known(frames, draft.tool[0], "the tool is attached to"), draft.tool[1]
    else:
        host, pose = frames[_longest_chain_end(ordered)], Pose()
    return Frame("tool", host.link, to_pose(of_pose(host.pose) @ of_pose(pose)))


def end_of_longest_chain(draft: Draft) -> str:
    """The name of the body that carries the tool, or else of the last one along the longest chain."""
    known = {body.name for body in draft.bodies}
    if draft.tool is not None and draft.tool[0] in known:
        return draft.tool[0]
    return _longest_chain_end(depth_first(draft.bodies))


def _longest_chain_end(ordered: Sequence[Body]) -> str:
    """The body with the most moving joints before it; among equals the most bodies, then the file's first."""
    depth: dict[str | None, tuple[int, int]] = {None: (0, 0)}
    for body in ordered:
        joints, bodies = depth[body.parent]
        depth[body.name] = (joints + (body.kind != "fixed"), bodies + 1)
    return max((b.name for b in ordered), key=lambda name: depth[name])


def payload_inertia(payload: Payload) -> Inertia:
    """The payload's inertia about the origin of the frame it is attached to."""
    return Inertia.about_mass_center(payload.mass, payload.com, payload.tensor)


def loaded_inertias(robot: Robot) -> tuple[Inertia, ...]:
    """Each link's inertia with what it carries."""
    total = [link.inertia for link in robot.links]
    frames = {frame.name: frame for frame in robot.frames}
    for payload in robot.payloads:
        host = frames[payload.link]
        if host.link != BASE:
            total[host.link] = total[host.link] + move_inertia(payload_inertia(payload), of_pose(host.pose))
    return tuple(total)


def inertia_findings(body: str, inertia: Inertia, line: int | None = None) -> list[Finding]:
    """The physical rules `inertia` breaks: mass, positive semidefinite, triangle inequality.

    Rules that a symbol leaves open are not judged. A point mass is legal, and so is a link with no mass at all.
    """
    findings: list[Finding] = []
    if any(value.is_number and abs(value.number) > LARGEST for value in inertia.parameters):
        return [Finding(body, "its inertia is too large for a double", line)]
    if inertia.mass.is_number and inertia.mass.number < 0:
        return [Finding(body, f"its mass is negative: {float(inertia.mass):g} kg", line)]
    if not all(value.is_number for value in inertia.parameters):
        return findings
    m = float(inertia.mass)
    h = np.array([float(v) for v in inertia.first_moment])
    xx, xy, xz, yy, yz, zz = (float(v) for v in inertia.tensor)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if m == 0 and h.any():
        return [Finding(body, "it has a first moment but no mass", line)]
    with np.errstate(over="ignore", invalid="ignore"):
        about_com = tensor - (h @ h * np.eye(3) - np.outer(h, h)) / m if m > 0 else tensor
    if not np.all(np.isfinite(about_com)):
        return [Finding(body, "its first moment is too large for its mass", line)]
    smallest, middle, largest = np.linalg.eigvalsh(about_com)
    slack = ROUNDING * max(abs(largest), abs(smallest), 1e-300) + 1e-12 * float(np.abs(tensor).max())
    principal = f"{smallest:.6g}, {middle:.6g}, {largest:.6g} kg m^2"
    if smallest < -slack:
        findings.append(Finding(body, f"its inertia is not positive semidefinite: principal moments {principal}", line))
    elif smallest + middle < largest - slack:
        findings.append(
            Finding(
                body,
                f"its inertia breaks the triangle inequality: principal moments {principal} "
                "(no one may exceed the sum of the other two)",
                line,
            )
        )
    return findings


ROUND_OFF = Fraction(1, 10**14)
"""Of the largest number of its kind: some sixty roundings of a double."""
_MOMENTS, _PRODUCTS = (0, 3, 5), (1, 2, 4)


def without_round_off(draft: Draft) -> Draft:
    """The draft without differences that are round-off, and a note for each body that had some."""
    longest = max((abs(x) for body in draft.bodies for x in _lengths(body)), default=Fraction(0))
    bodies, notes = [], []
    for body in draft.bodies:
        clean, found = _placed(body, longest)
        clean, more = _cleaned(clean)
        bodies.append(clean)
        if found or more:
            notes.append(f"{body.name}: round-off was taken away: {', '.join((*found, *more))}")
    return replace(draft, bodies=tuple(bodies), notes=(*draft.notes, *notes)) if notes else draft


def _lengths(body: Body) -> list[Fraction]:
    own = body.pose.p if body.row is None else (body.row.a, body.row.d, body.row.b)
    return [value.number for value in own if value.is_number]


def _placed(body: Body, longest: Fraction) -> tuple[Body, list[str]]:
    """The body with lengths of zero where they are zero but for round-off."""
    if body.row is None:
        x, y, z = body.pose.p
        place, found = _zeros((x, y, z), "xyz", longest)
        return replace(body, pose=replace(body.pose, p=_vector(place))), found
    row, names = body.row, ("a", "d", "b")
    values, found = _zeros((row.a, row.d, row.b), names, longest)
    return replace(body, row=replace(row, **dict(zip(names, values)))), found


def _cleaned(body: Body) -> tuple[Body, list[str]]:
    """The body with its inertia cleaned as the file states it."""
    stated = body.stated
    if stated is not None and stated.com is not None:
        tensor, found = _tensor(stated.tensor, "I{}" if stated.about == "com" else "{}")
        com, more = _zeros(stated.com, [f"com.{axis}" for axis in "xyz"])
        if not (found or more):
            return body, []
        new = replace(stated, com=_vector(com), tensor=tensor)
        return replace(body, stated=new, inertia=new.inertia), found + more
    tensor, found = _tensor(body.inertia.tensor, "{}")
    moments, more = _zeros(body.inertia.first_moment, ("MX", "MY", "MZ"))
    if not (found or more):
        return body, []
    return replace(body, inertia=Inertia(body.inertia.mass, _vector(moments), tensor)), found + more


def _vector(values: Sequence[Exact]) -> Vector:
    x, y, z = values
    return x, y, z


def _zeros(
    values: Sequence[Exact], names: Sequence[str], largest: Fraction | None = None
) -> tuple[tuple[Exact, ...], list[str]]:
    """The numbers, zero where they are nothing beside the largest; what was done."""
    size = max((abs(v.number) for v in values if v.is_number), default=Fraction(0)) if largest is None else largest
    small = [bool(v) and v.is_number and abs(v.number) <= ROUND_OFF * size for v in values]
    found = [f"{name} = 0 for {float(v):.2g}" for name, v, tiny in zip(names, values, small) if tiny]
    return tuple(ZERO if tiny else v for v, tiny in zip(values, small)), found


def _tensor(tensor: tuple[Exact, ...], pattern: str) -> tuple[tuple[Exact, ...], list[str]]:
    """The tensor with equal moments where they differ by round-off, and without products that are it."""
    if not all(value.is_number for value in tensor):
        return tensor, []
    letters = ("xx", "xy", "xz", "yy", "yz", "zz")
    names = [pattern.format(one if pattern != "{}" else one.upper()) for one in letters]
    size = max(abs(tensor[k].number) for k in _MOMENTS)
    new, found = list(tensor), []
    for k in _PRODUCTS:
        if new[k] and abs(new[k].number) <= ROUND_OFF * size:
            found.append(f"{names[k]} = 0 for {float(new[k]):.2g}")
            new[k] = ZERO
    for i, k in ((0, 3), (3, 5), (0, 5)):
        if new[i] != new[k] and abs(new[i].number - new[k].number) <= ROUND_OFF * size:
            found.append(f"{names[i]} = {names[k]}, which differed by {float(new[i] - new[k]):.2g}")
            new[i] = new[k] = min(new[i], new[k], key=lambda value: value.number.denominator)
    return tuple(new), found
