"""The loops that an MJCF's equality constraints close: <connect> is a ball joint, <weld> holds two bodies together.

MuJoCo pulls what is to be equal together, as stiffly as the file says; here it is equal. The file names neither
coordinates nor, as a robot file does, the joints with motors: joints with actuators are driven, and of the joints as
many are coordinates as the loops leave freedoms, driven ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from emdeg.algebra import Array, Exact
from emdeg.errors import RobotError
from emdeg.loops import Closure, End, LoopsDraft, NamedEnd
from emdeg.robot.constraints import ConstraintsDraft
from emdeg.robot.mjcf_equalities import JOINT, Turned, mujoco_package
from emdeg.robot.mjcf_extract import Extract
from emdeg.robot.model import Vector
from emdeg.robot.transform import ExactTransform, to_pose

WELD = 1
"""MuJoCo's number of the constraints that hold two bodies together."""
TORQUE_SCALE = 10
"""Where a weld's data say how much of its turning counts."""
SITE = 6
"""MuJoCo's number of the objects called sites."""
AS_DRAWN = 1e-9
"""A weld whose pose is the drawn one up to this [m, 1] is at the drawn one."""
CLOSED = 1e-6
"""What a loop may stay open [m, rad] where it counts as closed: angles were not yet made exact."""
GAP = 1e-4
"""Equations and joints count as independent above this share of the largest singular value, for the same reason."""
WELL = 0.2
"""A joint is as good a coordinate as the best one where it moves by more than this share of what that one does."""
STEPS = 100
LONGEST = 0.3
"""The longest of Newton's steps, and how far places to take the rank at are from the first [rad, m]."""
PLACES = 5


@dataclass(frozen=True, slots=True)
class _Equal:
    """A closing constraint: its name, whether it holds the turning too, and the two frames in their bodies."""

    name: str
    rigid: bool
    bodies: tuple[int, int]
    frames: tuple[ExactTransform, ExactTransform]


def closed_loops(
    m: Any, wanted: Extract, places: Sequence[ExactTransform], turned: Turned
) -> tuple[ConstraintsDraft, list[str]]:
    """(what closes loops in the compiled model `m`, notes); `places`: every body's exact place as it is drawn."""
    equal = [_equal(m, int(e), places, turned) for e in np.flatnonzero(m.eq_active0) if int(m.eq_type[e]) != JOINT]
    if not equal:
        return ConstraintsDraft(), []
    lines = [wanted.equality_lines.get(one.name) for one in equal]
    for one, line in zip(equal, lines):
        if one.bodies[0] == one.bodies[1]:
            raise RobotError("both its ends are on the same body: it closes no loop", line=line, body=one.name)
    try:
        return _draft(m, wanted, equal)
    except RobotError as problem:
        raise problem.at(line=lines[0], body=", ".join(one.name for one in equal)) from None


def _draft(m: Any, wanted: Extract, equal: Sequence[_Equal]) -> tuple[LoopsDraft, list[str]]:
    loops = _Loops(m, equal)
    start = loops.closed(np.array(m.qpos0))
    rng, notes = np.random.default_rng(0), []
    others = [start + LONGEST * rng.uniform(-1, 1, m.nq) for _ in range(PLACES)]
    near = [q for q in (loops.closed(q, must=False) for q in others) if q is not None]
    free = min((loops.freedoms(q) for q in [*near, start]), key=lambda N: N.shape[1])
    if loops.freedoms(start).shape[1] > free.shape[1]:
        start = near[int(np.argmin([loops.freedoms(q).shape[1] for q in near]))]
        notes.append(
            "as the file draws it several ways of closing its loops meet: which is meant is not known (--mode)"
        )
    if not free.shape[1]:
        raise RobotError("the loops that it closes leave no motion")
    names = [m.joint(j).name for j in range(m.njnt)]
    driven = [names.index(name) for name in wanted.driven]
    held = _independent(free, driven)
    coordinates = _independent(free, range(m.njnt), held)
    if len(held) < free.shape[1]:
        chosen = ", ".join(names[j] for j in coordinates)
        notes.append(f"its actuators do not hold its closed loops: the coordinates ({chosen}) are taken as driven")
        driven = coordinates
    closures = tuple((Closure(e.name, "fixed" if e.rigid else "spherical"), *_ends(m, e)) for e in equal)
    draft = LoopsDraft(
        rods=(),
        closures=closures,
        coordinates=tuple(names[j] for j in coordinates),
        driven=tuple(names[j] for j in driven),
        start=tuple((name, Exact.of(float(v)).number) for name, v in zip(names, start)),
    )
    return draft, notes


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


class _Loops:
    """The loops of a compiled model in doubles: where they are closed, and how they may move there."""

    def __init__(self, m: Any, equal: Sequence[_Equal]) -> None:
        self.mujoco = mujoco_package()
        self.m, self.data = m, self.mujoco.MjData(m)
        self.ends = [
            [
                (k, np.array(T.R, dtype=np.float64), np.array([float(v) for v in T.p]))
                for k, T in zip(e.bodies, e.frames)
            ]
            for e in equal
        ]
        self.rigid = [e.rigid for e in equal]
        tied = [int(m.eq_obj1id[e]) for e in np.flatnonzero(m.eq_active0) if int(m.eq_type[e]) == JOINT]
        self.held = np.eye(m.nv)[tied]  # joints that have to be made rigid

    def evaluated(self, q: Array) -> tuple[Array, Array]:
        """(what the equations miss [m, rad], their Jacobian) at q."""
        mujoco, m, data = self.mujoco, self.m, self.data
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        mujoco.mj_comPos(m, data)
        values, rows = [np.zeros(len(self.held))], [self.held]
        for ends, rigid in zip(self.ends, self.rigid):
            points, axes, moves, turns = [], [], [], []
            for body, R, p in ends:
                carrier = data.xmat[body].reshape(3, 3)
                points.append(data.xpos[body] + carrier @ p)
                axes.append(carrier @ R)
                move, turning = np.zeros((2, 3, m.nv))
                mujoco.mj_jac(m, data, move, turning, points[-1], body)
                moves.append(move)
                turns.append(turning)
            values.append(points[1] - points[0])
            rows.append(moves[1] - moves[0])
            if rigid:
                quaternion, vector = np.zeros(4), np.zeros(3)
                mujoco.mju_mat2Quat(quaternion, (axes[1] @ axes[0].T).ravel())
                mujoco.mju_quat2Vel(vector, quaternion, 1.0)
                values.append(vector)
                rows.append(turns[1] - turns[0])
        return np.concatenate(values), np.concatenate(rows)

    def closed(self, q: Array, must: bool = True) -> Any:
        """q moved to where the loops close; RobotError, or None, where they do not."""
        q = np.array(q)
        for _ in range(STEPS):
            missed, J = self.evaluated(q)
            if np.abs(missed).max() < 1e-14:
                break
            step = np.linalg.pinv(J, rcond=GAP) @ missed
            q -= step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        left = float(np.abs(self.evaluated(q)[0]).max())
        if left < CLOSED:
            return q
        if must:
            raise RobotError(
                f"the loops that it closes stay open by {left:.3g}, from the pose in which the file draws it"
            )
        return None

    def freedoms(self, q: Array) -> Array:
        """(joints, freedoms): the motions that leave the loops closed at q, as orthonormal columns."""
        _, J = self.evaluated(q)
        _, sizes, V = np.linalg.svd(J)
        return V[int((sizes > GAP * max(1.0, float(sizes.max(initial=0.0)))).sum()) :].T


def _vector(values: Any) -> Vector:
    x, y, z = (Exact.of(float(v)) for v in values)
    return (x, y, z)
