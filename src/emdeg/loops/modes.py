"""The ways a mechanism's loops close, by name: listed, asked for, switched, and followed along a path.

Analytic steps have signs: a way's label is the list of them ("sole" where there is none), and no two ways share it. A
way that closes numerically is told by the sign of the closure equations' determinant, and by a number where several
have the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from emdeg.algebra import Array
from emdeg.dynamics.mechanism import path
from emdeg.errors import RobotError, StateError
from emdeg.loops import choose
from emdeg.loops.analytic_closure import Plan, Point, Slide, Step, Trilaterate, Turn, solve, take
from emdeg.loops.closing import OPEN, Ready, closing_of, coordinate_positions, positions, ready
from emdeg.loops.continuation import continued, roots_at, signs
from emdeg.loops.levels import Tie
from emdeg.loops.linkage import Linkage
from emdeg.loops.newton import open_rows
from emdeg.loops.place import Place
from emdeg.loops.plan import is_signed
from emdeg.robot import Robot

MOST = 1024
"""Ways that are listed at a pose; with more, legs that would run backwards are left out."""
SOLE = "sole"
"""The label of a way whose steps have no sign to choose."""
SAME = 1e-6
"""Configurations are the same if no joint differs by more (rad, or a share of the mechanism's size)."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way to close the loops: each loop's sign, every joint's position [rad, m], and what it is called.

    `sides`: of each loop with a sign whether its knee, the point it moves, is the farther one from the base's origin
    ("out") or the nearer one ("in").
    """

    modes: dict[str, int]
    joints: Array
    label: str
    sides: dict[str, str]

    @property
    def said(self) -> str:
        """The label, and the sides it stands for."""
        return ", ".join([self.label, *(f"{loop} {side}" for loop, side in self.sides.items())])


def branches(robot: Robot, q: ArrayLike) -> list[Branch]:
    """Every way the loops close with the coordinates at q (n,): working modes, or assembly modes.

    `with_branch(robot, branch)` is the robot in that mode. Where closure is numeric they are those that a search finds.
    """
    found, pose = ready(robot), _pose(robot, q)
    if found.plan is None:
        return _numeric(found, pose)
    result = []
    for plan in _signed_plans(found.plan):
        joints = _closed(found, plan, pose)
        if joints is not None:
            result.append(_branch(found, plan, pose, joints))
    if any(isinstance(step, Tie) for step in found.plan):
        # What is tied in this way of closing need not be in another: those are searched for.
        known = [one.joints for one in result]
        for one in _numeric(found, pose):
            if not any(_same(found.link, one.joints, joints) for joints in known):
                result.append(replace(one, label=f"other{one.label}"))
    return result


def mode(robot: Robot, q: ArrayLike) -> Branch:
    """The way in which the robot closes its loops at q (n,): the one that all functions answer for."""
    found, pose = ready(robot), _pose(robot, q)
    joints = _angles(found.link, positions(found, pose), pose)
    if found.plan is not None:
        return _branch(found, found.plan, pose, joints)
    near = [one for one in _numeric(found, pose) if _same(found.link, one.joints, joints)]
    return near[0] if near else Branch({}, joints, _sign_text(found.link, joints), {})


def with_branch(robot: Robot, branch: Branch) -> Robot:
    """The robot whose loops close as in `branch`."""
    if branch.modes:
        return choose.with_modes(robot, branch.modes)
    names = [joint.name for joint in robot.joints]
    return choose.with_start(robot, dict(zip(names, branch.joints.tolist())))


def with_mode(robot: Robot, label: str) -> Robot:
    """The robot in the mode of this label, as `branches` and `emdeg loops --branches` list them.

    Signs may also be asked for by loop, "forearm1=-1"; of ways that close numerically the label is the start's pose's.
    """
    if "=" in label:
        return choose.with_modes(robot, _asked_signs(label))
    found = closing_of(robot)
    if found.plan is not None:
        signs = signs_of(found.plan)
        if label == SOLE and not signs:
            return robot
        if label and set(label) <= {"+", "-"} and len(label) == len(signs):
            return choose.with_modes(robot, {loop: 1 if sign == "+" else -1 for loop, sign in zip(signs, label)})
    known = [] if robot.symbols else branches(robot, found.home)
    for one in known:
        if one.label == label:
            return with_branch(robot, one)
    listed = f"; at the start there are {', '.join(one.label for one in known)}" if known else ""
    raise RobotError(f"there is no mode {label[:60]!r}{listed}", body=robot.name)


def _asked_signs(text: str) -> dict[str, int]:
    signs: dict[str, int] = {}
    for part in text.split(","):
        loop, _, sign = part.rpartition("=")
        if sign.strip() not in ("1", "+1", "-1"):
            raise RobotError(f"a mode is 1 or -1, not {sign.strip()[:20]!r}", body=loop.strip())
        signs[loop.strip()] = int(sign)
    return signs


@dataclass(frozen=True, slots=True)
class MeetingOfModes:
    """Where a path passed a point at which two ways of closing meet: after which of its poses, at which coordinates."""

    after: int
    q: Array


@dataclass(frozen=True, slots=True)
class FollowedPath:
    """A path by continuation: every joint (k, n), the ways at its ends, where ways met.

    `closed`: it ends at the pose where it began. `returned`: the joints do, too; a closed path that does not return has
    exchanged one way of closing for another.
    """

    joints: Array
    begin: str
    end: str
    meetings: tuple[MeetingOfModes, ...]
    closed: bool
    returned: bool


def follow_path(robot: Robot, q: ArrayLike) -> FollowedPath:
    """The mechanism moved along the poses q (k, n), each way of closing kept by continuation from the first pose's."""
    found = ready(robot)
    path = np.asarray(q, dtype=np.float64)
    own = list(found.link.coordinates)
    if path.ndim != 2 or path.shape[-1] != len(own) or len(path) < 2:
        raise StateError(f"a path has shape (poses, {len(own)}), two poses at least; got {path.shape}")
    at = _angles(found.link, positions(found, path[0]), path[0])
    joints, meetings = [at], []
    for k, there in enumerate(path[1:]):
        at, met = continued(found.link, at, there, f" from pose {k} to pose {k + 1}")
        meetings += [MeetingOfModes(k, place) for place in met]
        joints.append(at)
    turning = np.array(found.link.tree.revolute)
    whole = np.where(turning[own], np.remainder(path[-1] - path[0] + np.pi, 2 * np.pi) - np.pi, path[-1] - path[0])
    closed = bool(np.abs(whole).max() < SAME)
    begin, end = (_label_at(robot, found, x) for x in (joints[0], joints[-1]))
    returned = closed and _same(found.link, joints[0], joints[-1])
    return FollowedPath(np.stack(joints), begin, end, tuple(meetings), closed, returned)


def _label_at(robot: Robot, found: Ready, joints: Array) -> str:
    pose = joints[list(found.link.coordinates)]
    for one in branches(robot, pose):
        if _same(found.link, one.joints, joints):
            return one.label
    return _sign_text(found.link, joints)


def _pose(robot: Robot, q: ArrayLike) -> Array:
    pose = np.asarray(q, dtype=np.float64)
    if pose.shape != (robot.freedoms,):
        raise StateError(f"the pose has shape {pose.shape}; it must be ({robot.freedoms},), one a coordinate")
    return pose


def _signed_plans(plan: Plan) -> list[Plan]:
    choices: list[Sequence[Step]] = []
    legs = sum(isinstance(step, Point) for step in plan)
    signed = sum(is_signed(step) for step in plan)
    for step in plan:
        if not is_signed(step):
            choices.append((step,))
        elif isinstance(step, Point) and 2 ** (signed + legs) <= MOST:
            choices.append([replace(step, sign=s, along=a) for a in (step.along, -step.along) for s in (1, -1)])
        else:
            choices.append([replace(step, sign=sign) for sign in (1, -1)])  # type: ignore[call-arg]
    return [tuple(steps) for steps in product(*choices)]


def _closed(found: Ready, plan: Plan, pose: Array) -> Array | None:
    """Every joint's position, None where these signs do not close the loops."""
    with np.errstate(invalid="ignore", divide="ignore"):
        position = solve(found.link, plan, coordinate_positions(found.link, pose), lambda value, _: np.sqrt(value))
        if not np.all(open_rows(found.link, position) < OPEN):
            return None
    return _angles(found.link, position, pose)


def _angles(link: Linkage, position: Sequence[Any], pose: Array) -> Array:
    turning = link.tree.revolute
    joints = np.array([float(np.arctan2(*at)) if r else float(at) for at, r in zip(position, turning)])
    joints[list(link.coordinates)] = pose
    return joints


def signs_of(plan: Plan) -> dict[str, int]:
    """The signs that the plan's steps have, by loop; a leg that can run backwards has a second one, loop:along."""
    found: dict[str, int] = {}
    for step in plan:
        if is_signed(step):
            name = step.loops[0] if isinstance(step, Trilaterate) else step.loop
            found[name] = step.sign  # type: ignore[union-attr]
            if isinstance(step, Point):
                found[f"{name}:along"] = step.along
    return found


def _branch(found: Ready, plan: Plan, pose: Array, joints: Array) -> Branch:
    modes = signs_of(plan)
    label = "".join("+" if sign > 0 else "-" for sign in modes.values()) or SOLE
    return Branch(modes, joints, label, _sides(found, plan, pose))


def _sides(found: Ready, plan: Plan, pose: Array) -> dict[str, str]:
    """Each knee's side: its distance from the base's origin against that of the step's other root."""
    sides: dict[str, str] = {}
    for i, step in enumerate(plan):
        if isinstance(step, Turn | Slide) and not _on_a_hinge(found.link, step):
            here, there = (
                _knee(found.link, (*plan[:i], replace(step, sign=sign)), step, pose) for sign in (step.sign, -step.sign)
            )
            sides[step.loop] = "out" if here >= there else "in"
    return sides


def _on_a_hinge(link: Linkage, step: Turn | Slide) -> bool:
    """Whether it is a cylinder that swings: it has no knee, and runs backwards in its other mode."""
    return isinstance(step, Slide) and step.elbow in path(link.tree, link.tree.parent[step.joint])


def _knee(link: Linkage, plan: Plan, step: Turn | Slide, pose: Array) -> float:
    place = Place(link, coordinate_positions(link, pose))
    for one in plan:
        take(place, one, lambda value, _: np.sqrt(np.maximum(value, 0.0)))
    loop = next(x for x in (*link.bars, *link.meetings) if x.name == step.loop)
    elbow = step.gap.elbow if isinstance(step, Turn) else step.elbow
    moved = loop.first if place.moves(step.joint, loop.first) else loop.second
    if elbow is not None and place.moves(elbow, moved):
        point = place.rest(elbow)[1]
    else:
        point = place.point(moved)
    return float(np.linalg.norm(np.array(point, dtype=np.float64)))


def _numeric(found: Ready, pose: Array) -> list[Branch]:
    roots = roots_at(found.link, found.start, pose)
    texts = [_sign_text(found.link, root) for root in roots]
    labels = [text if texts.count(text) == 1 else f"{text}{texts[:i].count(text) + 1}" for i, text in enumerate(texts)]
    return [Branch({}, root, label, {}) for root, label in zip(roots, labels)]


def _sign_text(link: Linkage, joints: Array) -> str:
    return {1.0: "+", -1.0: "-"}.get(float(signs(link, joints[None])[0]), "0")


def _same(link: Linkage, a: Array, b: Array) -> bool:
    from_turns = np.where(np.array(link.tree.revolute), np.remainder(a - b + np.pi, 2 * np.pi) - np.pi, a - b)
    return bool(np.abs(from_turns).max() < SAME)
