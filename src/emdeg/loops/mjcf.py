"""The loops that an MJCF's equality constraints close: <connect> is a ball joint, <weld> holds two bodies together.

MuJoCo pulls what is to be equal together, as stiffly as the file says; here it is equal. The file names neither
coordinates nor, as a robot file does, the joints with motors: joints with actuators are driven, and of the joints as
many are coordinates as the loops leave degrees of freedom, driven ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from emdeg.algebra import Array, Exact, Floats
from emdeg.errors import RobotError
from emdeg.loops.description import Closure, End, LoopsDraft, NamedEnd
from emdeg.loops.linkage import (
    Anchor,
    Linkage,
    Meeting,
    anchor_axes,
    anchor_point,
    linkage_of,
    world_frames,
)
from emdeg.loops.newton import corrected, positions_of, row_sizes, scaled, turned_seams
from emdeg.robot import TIED_JOINT as JOINT
from emdeg.robot import (
    Body,
    ConstraintsDraft,
    Draft,
    ExactTransform,
    Extract,
    Turned,
    Vector,
    assemble,
    mujoco_package,
    to_pose,
)

WELD = 1
"""MuJoCo's number of the constraints that hold two bodies together."""
TORQUE_SCALE = 10
"""Where a weld's data say how much of its turning counts."""
SITE = 6
"""MuJoCo's number of the objects called sites."""
AS_DRAWN = 1e-9
"""A weld whose pose is the drawn one up to this [m, 1] is at the drawn one."""
CLOSED = 1e-6
"""What a loop may stay open [m, 1] where it counts as closed: a file's sizes may be rounded."""
GAP = 1e-4
"""Equations and joints count as independent above this share of the largest singular value, for the same reason."""
WELL = 0.2
"""A joint is as good a coordinate as the best one where it moves by more than this share of what that one does."""
NEAR = 0.3
"""How far places to take the rank at are from the first [rad, m]."""
PLACES = 5
STEPS = 20
"""In which loops are closed that are drawn far open."""


@dataclass(frozen=True, slots=True)
class _Equal:
    """A closing constraint: its name, whether it holds the turning too, and the two frames in their bodies."""

    name: str
    rigid: bool
    bodies: tuple[int, int]
    frames: tuple[ExactTransform, ExactTransform]


def closed_loops(
    m: Any, wanted: Extract, bodies: Sequence[Body], places: Sequence[ExactTransform], turned: Turned
) -> tuple[ConstraintsDraft, list[str]]:
    """(what closes loops in the compiled model `m`, notes).

    `bodies` are what was read of its tree, `places` every body's exact place as it is drawn.
    """
    equal = [_equal(m, int(e), places, turned) for e in np.flatnonzero(m.eq_active0) if int(m.eq_type[e]) != JOINT]
    if not equal:
        return ConstraintsDraft(), []
    lines = [wanted.equality_lines.get(one.name) for one in equal]
    for one, line in zip(equal, lines):
        if one.bodies[0] == one.bodies[1]:
            raise RobotError("both its ends are on the same body: it closes no loop", line=line, body=one.name)
    closures = tuple((Closure(e.name, "fixed" if e.rigid else "spherical"), *_ends(m, e)) for e in equal)
    try:
        return _with_coordinates(m, wanted, bodies, LoopsDraft((), closures, (), (), ()))
    except RobotError as problem:
        raise problem.at(line=lines[0], body=", ".join(one.name for one in equal)) from None


def _with_coordinates(
    m: Any, wanted: Extract, bodies: Sequence[Body], loops: LoopsDraft
) -> tuple[LoopsDraft, list[str]]:
    """(the loops with a closed start, coordinates and driven joints, notes)."""
    drawn = {m.joint(j).name: float(m.qpos0[m.jnt_qposadr[j]]) for j in range(m.njnt)}
    tied = [m.joint(int(m.eq_obj1id[e])).name for e in np.flatnonzero(m.eq_active0) if int(m.eq_type[e]) == JOINT]
    every = replace(loops, coordinates=tuple(drawn), driven=tuple(drawn))
    rigid = {name: Exact.of(drawn[name]) for name in tied}  # joints that the user has to make rigid
    robot = assemble(Draft("", tuple(bodies), root="world", constraints=every), locks=rigid, allow_nonphysical=True)
    link, names = linkage_of(robot, Floats()), [joint.name for joint in robot.joints]
    start = np.array([drawn[name] for name in names])
    start, open_by = _closed(link, start)
    if open_by > CLOSED:
        raise RobotError(
            f"the loops that it closes stay open by {open_by:.3g}, from the pose in which the file draws it"
        )
    rng, notes = np.random.default_rng(0), []
    others = [_closed(link, start + NEAR * rng.uniform(-1, 1, link.n)) for _ in range(PLACES)]
    near = [(q, _motions(link, q)) for q in (start, *(q for q, open_by in others if open_by < CLOSED))]
    at, free = min(near, key=lambda one: one[1].shape[1])
    if at is not start:
        start = at
        notes.append(
            "as the file draws it several ways of closing its loops meet: which is meant is not known (--mode)"
        )
    if not free.shape[1]:
        raise RobotError("the loops that it closes leave no motion")
    driven = [names.index(name) for name in wanted.driven if name in names]
    held = _independent(free, driven)
    coordinates = _independent(free, range(link.n), held)
    if len(held) < free.shape[1]:
        chosen = ", ".join(names[j] for j in coordinates)
        notes.append(f"its actuators do not hold its closed loops: the coordinates ({chosen}) are taken as driven")
        driven = coordinates
    draft = replace(
        loops,
        coordinates=tuple(names[j] for j in coordinates),
        driven=tuple(names[j] for j in driven),
        start=tuple((name, Exact.of(float(v)).number) for name, v in zip(names, start)),
    )
    return draft, notes


def _closed(link: Linkage, q: Array) -> tuple[Array, float]:
    """(q moved to where the loops close, how far [m, 1] they stay open there).

    Frames that close a loop may be drawn far apart and turned any way: then they are brought together in steps.
    """
    world, gaps = world_frames(link, positions_of(link, q)), []
    for meeting in link.meetings:
        X, Y = (np.array(anchor_axes(end, world), dtype=np.float64) for end in (meeting.first, meeting.second))
        C, A = (np.array(anchor_point(end, world), dtype=np.float64) for end in (meeting.first, meeting.second))
        gaps.append((Rotation.from_matrix(X.T @ Y).as_rotvec() * (meeting.kind == "fixed"), X.T @ (A - C)))
    found, open_by = q, np.inf
    for count in (1, STEPS):
        found = q
        for share in 1 - np.arange(1, count + 1) / count:
            meetings = [_moved(one, share * turn, share * way) for one, (turn, way) in zip(link.meetings, gaps)]
            there = replace(link, meetings=tuple(meetings)) if share else link
            found, values = corrected(there, found, range(link.n), least=GAP)
            open_by = float(np.abs(values * row_sizes(link)).max())
        open_by = max(open_by, 1.0) if turned_seams(link, found) else open_by
        if open_by < CLOSED:
            break
    return found, open_by


def _moved(meeting: Meeting, turn: Array, way: Array) -> Meeting:
    """The closing joint with its first frame turned and moved, in its own axes."""
    R = np.array(meeting.first.R, dtype=np.float64)
    p = np.array(meeting.first.p, dtype=np.float64) + R @ way
    R = R @ Rotation.from_rotvec(turn).as_matrix()
    return replace(meeting, first=Anchor(meeting.first.link, R.tolist(), p.tolist()))


def _motions(link: Linkage, q: Array) -> Array:
    """(joints, degrees of freedom): the motions that leave the loops closed at q, as orthonormal columns."""
    _, sizes, V = np.linalg.svd(scaled(link, q)[1])
    return V[int((sizes > GAP * max(1.0, float(sizes.max(initial=0.0)))).sum()) :].T


def _equal(m: Any, e: int, places: Sequence[ExactTransform], turned: Turned) -> _Equal:
    name, weld = m.equality(e).name, int(m.eq_type[e]) == WELD
    rigid = weld and bool(m.eq_data[e][TORQUE_SCALE])  # of no torque, a weld holds a point
    one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if int(m.eq_objtype[e]) == SITE:
        sites = [
            ExactTransform(turned(m.site_quat[s], f"site {m.site(s).name!r}"), _vector(m.site_pos[s]))
            for s in (one, two)
        ]
        return _Equal(name, rigid, (int(m.site_bodyid[one]), int(m.site_bodyid[two])), (sites[0], sites[1]))
    at = ExactTransform(p=_vector(m.eq_data[e][:3]))  # a connect's is on the first body, a weld's on the second
    if not weld:
        other = places[two].inverse() @ places[one] @ at
        return _Equal(name, rigid, (one, two), (at, ExactTransform(p=other.p)))
    drawn, stated = places[one].inverse() @ places[two] @ at, m.eq_data[e][3:10]
    if not _is_drawn(m, (one, two), m.eq_data[e]):
        drawn = ExactTransform(turned(stated[3:], f"weld {name!r}"), _vector(stated[:3]))
    return _Equal(name, rigid, (one, two), (drawn, at))


def _is_drawn(m: Any, bodies: tuple[int, int], weld: Array) -> bool:
    """Whether the second body's frame in the first is the one in which they are drawn.

    A weld has a point on the second body, the same point on the first, and the quaternion of the second in the first.
    """
    mujoco = mujoco_package()
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, weld[6:10] / np.linalg.norm(weld[6:10]))
    (first, p), (second, r) = ((data.xmat[k].reshape(3, 3), data.xpos[k]) for k in bodies)
    off = first.T @ (r + second @ weld[:3] - p) - weld[3:6]
    return bool(np.abs(first.T @ second - R.reshape(3, 3)).max() < AS_DRAWN and np.abs(off).max() < AS_DRAWN)


def _ends(m: Any, equal: _Equal) -> tuple[NamedEnd, NamedEnd]:
    first, second = (
        NamedEnd(m.body(k).name, End(xyz=pose.xyz, rpy=pose.rpy))
        for k, pose in zip(equal.bodies, map(to_pose, equal.frames))
    )
    return first, second


def _independent(free: Array, joints: Sequence[int], taken: Sequence[int] = ()) -> list[int]:
    """The joints `taken` and the first others that tell motions, columns of `free` (n, freedoms), apart and well."""

    def without(left: Array, j: int) -> Array:
        """The motions without what joint j tells of them."""
        return left - np.outer(left @ left[j], left[j]) / (left[j] @ left[j])

    found, left = list(taken), reduce(without, taken, np.array(free))
    while len(found) < free.shape[1]:
        sizes = np.linalg.norm(left[list(joints)], axis=1) if len(joints) else np.zeros(1)
        if sizes.max() < GAP:
            break
        j = joints[int(np.argmax(sizes > WELL * sizes.max()))]
        left = without(left, j)
        found.append(j)
    return found


def _vector(values: Any) -> Vector:
    x, y, z = (Exact.of(float(v)) for v in values)
    return (x, y, z)
