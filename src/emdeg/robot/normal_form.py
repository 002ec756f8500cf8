"""Any tree of bodies -> modified Denavit-Hartenberg with exact values.

A reader hands over `Body` records: each hangs on its parent by a joint, placed either by a Denavit-Hartenberg
row (frames stay where the file has them) or by a pose and an axis (frames are chosen here). Fixed joints
vanish: what they carry becomes part of the link that carries them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from emdeg.algebra import Angle, Exact
from emdeg.errors import RobotError
from emdeg.robot.checks import Finding
from emdeg.robot.model import (
    BASE,
    Drive,
    Frame,
    Inertia,
    Joint,
    JointKind,
    Limits,
    Link,
    Placement,
    Pose,
    Stated,
)
from emdeg.robot.transform import (
    ALMOST_PARALLEL,
    NOISE,
    Direction,
    ExactTransform,
    Rotation,
    X,
    Z,
    add,
    along,
    component,
    cross,
    dot,
    move_inertia,
    of_placement,
    square_root,
    tidy,
    to_placement,
    to_pose,
    transpose,
    turn_direction,
    unit,
)


@dataclass(frozen=True, slots=True)
class Body:
    """A link as a file describes it; `parent` names another body, None the base.

    Either `row` (modified DH) or `pose` (the body frame in the parent's at zero) with `axis` (in the body frame,
    through its origin). `inertia` is about the body frame's origin, and children are placed from that frame.
    `frame` says where in it the frame that goes by the body's name lies (standard DH: at the link's far end).
    """

    name: str
    parent: str | None
    joint: str
    kind: JointKind
    inertia: Inertia = Inertia()
    row: Placement | None = None
    pose: ExactTransform = ExactTransform()
    axis: Direction = Z
    limits: Limits = Limits()
    drive: Drive = Drive()
    stated: Stated | None = None
    line: int | None = None
    refused: Finding | None = None
    """Why the joint cannot move in the equations of motion, if it cannot; legal once it is locked."""
    frame: ExactTransform = ExactTransform()


@dataclass(frozen=True, slots=True)
class NormalForm:
    """What `normal_form` finds: links in order, the base's pose, and where every body's own frame now is."""

    links: tuple[Link, ...]
    base: Pose
    frames: tuple[Frame, ...]


def normal_form(bodies: Sequence[Body], base: ExactTransform = ExactTransform()) -> NormalForm:
    """The bodies' moving links in normal form, depth first, children in the file's order."""
    ordered = depth_first(bodies)
    moving, home = _merge_fixed(ordered)
    named = {body.name: body.frame for body in ordered if body.frame != ExactTransform()}
    for name, frame in named.items():
        host, offset = home[name]
        home[name] = (host, offset @ frame)
    return _keep_frames(moving, base, home) if all(b.row for b in moving) else _choose_frames(moving, home)


def depth_first(bodies: Sequence[Body]) -> list[Body]:
    """The bodies, parents before children; RobotError on duplicate names, unknown parents or loops."""
    names: dict[str, Body] = {}
    joints: set[str] = set()
    for body in bodies:
        if body.name in names:
            raise RobotError(f"two links are called {body.name!r}", line=body.line, body=body.name)
        if body.joint in joints:
            raise RobotError(f"two joints are called {body.joint!r}", line=body.line, body=body.joint)
        names[body.name] = body
        joints.add(body.joint)
    children: dict[str | None, list[Body]] = {}
    for body in bodies:
        if body.parent is not None and body.parent not in names:
            raise RobotError(f"its parent {body.parent!r} does not exist", line=body.line, body=body.name)
        children.setdefault(body.parent, []).append(body)
    ordered: list[Body] = []
    stack = list(reversed(children.get(None, [])))
    while stack:
        body = stack.pop()
        ordered.append(body)
        stack.extend(reversed(children.get(body.name, [])))
    if len(ordered) < len(bodies):
        lost = next(b for b in bodies if b not in ordered)
        raise RobotError("the links form a loop: no path leads from here to the base", line=lost.line, body=lost.name)
    return ordered


def lock(bodies: Sequence[Body], locks: Mapping[str, Exact | Angle]) -> list[Body]:
    """The bodies with the named joints made rigid at the given values (rad or m).

    RobotError if a joint that its reader refused is not among them.
    """
    known = {body.joint: body for body in bodies}
    for name in locks:
        if name not in known:
            raise RobotError(f"there is no joint {name!r} to lock; joints: {', '.join(known)}")
        if known[name].kind == "fixed":
            raise RobotError(f"the joint {name!r} is fixed already and cannot be locked")
    for body in bodies:
        if body.refused is not None and body.joint not in locks:
            raise RobotError(body.refused.rule, line=body.refused.line, body=body.refused.body)
    try:
        return [_locked(body, locks[body.joint]) if body.joint in locks else body for body in bodies]
    except RobotError:
        raise
    except ValueError as problem:
        raise RobotError(f"the joints cannot be locked there: {problem}") from None


def _locked(body: Body, value: Exact | Angle) -> Body:
    if body.kind == "revolute" and isinstance(value, Exact):
        value = Angle(radians=value.number)
    if body.kind == "prismatic" and isinstance(value, Angle):
        raise RobotError("a prismatic joint is locked at a length, not at an angle", body=body.joint)
    if body.row is not None:
        if isinstance(value, Angle):
            row = replace(body.row, theta=body.row.theta + value)
        else:
            row = replace(body.row, d=body.row.d + value)
        return replace(body, kind="fixed", row=row)
    return replace(body, kind="fixed", pose=body.pose @ motion(body.axis, value))


def motion(axis: Direction, value: Exact | Angle) -> ExactTransform:
    """The displacement of a joint: by an angle about, or by a length along, the unit vector `axis`."""
    if isinstance(value, Angle):
        return ExactTransform(_turn_about(axis, value))
    return ExactTransform(p=along(axis, value))


def _turn_about(axis: Direction, angle: Angle) -> Rotation:
    """Rodrigues' formula."""
    s, c = angle.sincos()
    x, y, z = axis
    v = 1 - c
    rows = (
        (x * x * v + c, x * y * v - z * s, x * z * v + y * s),
        (y * x * v + z * s, y * y * v + c, y * z * v - x * s),
        (z * x * v - y * s, z * y * v + x * s, z * z * v + c),
    )
    return tuple((tidy(a), tidy(b), tidy(c)) for a, b, c in rows)


def _place(body: Body) -> ExactTransform:
    return body.pose if body.row is None else of_placement(body.row)


def _merge_fixed(
    ordered: Sequence[Body],
) -> tuple[list[Body], dict[str, tuple[str | None, ExactTransform]]]:
    """The moving bodies, and for every body the moving body it belongs to with its frame's pose there."""
    moving: dict[str, Body] = {}
    home: dict[str, tuple[str | None, ExactTransform]] = {}
    for body in ordered:
        host, offset = home[body.parent] if body.parent is not None else (None, ExactTransform())
        try:
            if body.kind == "fixed":
                placed = offset @ _place(body)
                home[body.name] = (host, placed)
                if host is not None:
                    carrier = moving[host]
                    carried = move_inertia(body.inertia, placed)
                    merged = carrier.inertia + carried
                    stated = carrier.stated if carried.is_zero else None
                    moving[host] = replace(carrier, inertia=merged, stated=stated)
                continue
            if offset != ExactTransform():
                placed = offset @ _place(body)
                body = replace(body, pose=placed) if body.row is None else replace(body, row=to_placement(placed))
        except ValueError as problem:
            raise RobotError(
                f"cannot be joined rigidly to its neighbour: {problem}", line=body.line, body=body.name
            ) from None
        moving[body.name] = replace(body, parent=host)
        home[body.name] = (body.name, ExactTransform())
    return list(moving.values()), home


def _keep_frames(
    moving: list[Body], base: ExactTransform, home: Mapping[str, tuple[str | None, ExactTransform]]
) -> NormalForm:
    index = {body.name: i for i, body in enumerate(moving)}
    links = tuple(_link(body, index, body.row or Placement(), body.inertia) for body in moving)
    frames = tuple(
        Frame(name, BASE if host is None else index[host], to_pose(base @ offset if host is None else offset))
        for name, (host, offset) in home.items()
    )
    return NormalForm(links, to_pose(base), frames)


def _link(body: Body, index: Mapping[str, int], place: Placement, inertia: Inertia) -> Link:
    parent = BASE if body.parent is None else index[body.parent]
    joint = Joint(body.joint, body.kind, place, body.limits, body.drive)
    return Link(body.name, parent, joint, inertia, body.stated)


def _choose_frames(moving: list[Body], home: Mapping[str, tuple[str | None, ExactTransform]]) -> NormalForm:
    """Frames on the joint axes, chosen so that a chain needs neither gamma nor b."""
    index = {body.name: i for i, body in enumerate(moving)}
    children: dict[str | None, list[Body]] = {}
    for body in moving:
        children.setdefault(body.parent, []).append(body)
    one_root = len(children.get(None, [])) == 1
    size = _subtree_sizes(moving)
    own: dict[str, ExactTransform] = {}  # body -> its normal frame, in the body's file frame
    base = ExactTransform()
    links: list[Link] = []
    for body in moving:
        below = [b for b in children.get(body.name, []) if b.kind != "fixed"]
        guide = max(below, key=lambda b: size[b.name], default=None)
        above = ExactTransform() if body.parent is None else own[body.parent].inverse() @ body.pose
        if body.parent is None:
            above = body.pose
        frame = _frame_on_axis(body, above, guide, first=body.parent is None and one_root)
        own[body.name] = frame
        if body.parent is None and one_root:
            base = body.pose @ frame
            place = Placement()
        else:
            place = to_placement(above @ frame)
        links.append(_link(body, index, place, move_inertia(body.inertia, frame.inverse())))
    frames = []
    for name, (host, offset) in home.items():
        if host is None:
            frames.append(Frame(name, BASE, to_pose(offset)))
        else:
            frames.append(Frame(name, index[host], to_pose(own[host].inverse() @ offset)))
    links = [replace(link, stated=None) for link in links]
    return NormalForm(tuple(links), to_pose(base), tuple(frames))


def _subtree_sizes(moving: Sequence[Body]) -> dict[str, int]:
    size = {body.name: 1 for body in moving}
    for body in reversed(moving):
        if body.parent is not None:
            size[body.parent] += size[body.name]
    return size


def _frame_on_axis(body: Body, above: ExactTransform, guide: Body | None, first: bool) -> ExactTransform:
    """The normal frame of a body, in the body's file frame: z along the axis, x towards the next axis.

    `above` is the body frame in the parent's normal frame at zero. Where the next axis leaves a freedom, the
    frame continues the parent's: theta = 0, d = 0.
    """
    z = body.axis
    natural, foot = (_any_normal(z), Exact()) if first else _continued(z, above)
    if guide is not None:
        u = turn_direction(guide.pose.R, guide.axis)
        q = guide.pose.p
        normal = cross(z, u)
        sine = square_root(tidy(dot(normal, normal)))
        if sine >= ALMOST_PARALLEL:
            x = unit(normal)
            # The common normal meets this axis at t: (q + r u - t z) is parallel to x.
            side = cross(u, x)
            foot = component(q, tuple(tidy(s / dot(z, side)) for s in side))  # type: ignore[arg-type]
            natural = _nearer(x, natural)
        else:
            if sine < NOISE:
                offset = add(q, along(z, -component(q, z)))
            else:  # where the next axis pierces the plane across this axis at the foot
                start = add(q, along(z, -foot))
                offset = add(start, along(u, component(start, z) * (-1 / dot(u, z))))
            direction = _numeric_direction(offset, body)
            if direction is not None:
                natural = _nearer(direction, natural)
    y = cross(z, natural)
    R = transpose((natural, tuple(tidy(v) for v in y), z))  # type: ignore[arg-type]
    return ExactTransform(R, along(z, foot))


def _continued(z: Direction, above: ExactTransform) -> tuple[Direction, Exact]:
    """(x, foot) that give theta = 0 and d = 0 with the parent's frame, in the body's file frame."""
    free = to_placement(above @ ExactTransform(transpose((_any_normal(z), cross(z, _any_normal(z)), z))))
    still = of_placement(replace(free, theta=Angle(), d=Exact()))
    back = above.inverse() @ still
    x = turn_direction(back.R, X)
    return x, component(back.p, z)


def _any_normal(z: Direction) -> Direction:
    """A unit vector across z: the file's own x axis where z allows it."""
    for trial in (X, (Fraction(0), Fraction(1), Fraction(0))):
        across = tuple(t - dot(trial, z) * w for t, w in zip(trial, z))
        if dot(across, across) > Fraction(1, 4):  # type: ignore[arg-type]
            return unit(across)  # type: ignore[arg-type]
    return unit(cross(z, X))


def _nearer(x: Direction, natural: Direction) -> Direction:
    """x or -x, whichever makes the smaller angle with `natural`."""
    return x if dot(x, natural) > -NOISE else tuple(-v for v in x)  # type: ignore[return-value]


def _numeric_direction(offset, body: Body) -> Direction | None:
    if not any(offset):
        return None
    if not all(v.is_number for v in offset):
        raise RobotError("the offset to the next parallel axis has no numeric direction", body=body.name)
    vector = tuple(v.number for v in offset)
    return unit(vector) if dot(vector, vector) > NOISE else None


__all__ = ["Body", "NormalForm", "depth_first", "lock", "motion", "normal_form"]
