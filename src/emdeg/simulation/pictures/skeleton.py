"""A robot as a line figure: what reports, animations and the studio draw of it at a configuration.

A link is drawn along its Denavit-Hartenberg offsets: from the parent's origin along its z (b), along the common normal
(a), along its own z (d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.robot import BASE, Robot, by_kind


@dataclass(frozen=True, slots=True)
class Stroke:
    """A broken line: `points` (k, number, 3) [m] in the base frame at k configurations."""

    kind: Literal["link", "virtual", "rod", "tool"]
    """A virtual link is no body: its joint is a coordinate of a platform, without a motor. A rod closes a loop."""
    points: Array


def line_figure(robot: Robot, q: Array) -> list[Stroke]:
    """The line figure at positions q (k, n) [rad, m] of all joints of the tree."""
    tree = robot.open_tree
    frames = link_transforms(tree, q)

    def seen(link: int, point: Sequence[Any] = (0.0, 0.0, 0.0)) -> Array:
        local = np.array(point, dtype=np.float64)
        if link == BASE:
            return np.broadcast_to(local, (len(q), 3))
        return frames[:, link, :3, :3] @ local + frames[:, link, :3, 3]

    found = []
    for i, link in enumerate(robot.links):
        joint = link.joint
        b, d = float(joint.placement.b), float(joint.placement.d)
        slides = joint.kind == "prismatic"
        path = [seen(link.parent)]
        if b:
            path.append(seen(link.parent, (0.0, 0.0, b)))
        if d or slides:
            along = d + q[:, i, None] if slides else d
            path.append(frames[:, i, :3, 3] - along * frames[:, i, :3, 2])
        virtual = joint in robot.coordinates and joint not in robot.driven
        found.append(Stroke("virtual" if virtual else "link", np.stack([*path, seen(i)], axis=1)))
    found += closing_strokes(robot, seen)
    if robot.tool.link != BASE:
        tip = forward_kinematics(tree, q)[..., :3, 3]
        found.append(Stroke("tool", np.stack([seen(robot.tool.link), tip], axis=1)))
    return found


@by_kind
def closing_strokes(robot: Robot, seen: Callable[..., Array]) -> list[Stroke]:
    """What closes loops: none in a tree. `seen(link, point)` is a link's point (k, 3) in the base frame."""
    return []


def joined(strokes: Sequence[Stroke]) -> tuple[Array, list[tuple[int, int]]]:
    """(points, bones): all strokes' points (k, number, 3), and the pairs of them that lines join; the tool is last."""
    bones, count = [], 0
    for stroke in strokes:
        end = count + stroke.points.shape[1]
        bones += [(k, k + 1) for k in range(count, end - 1)]
        count = end
    return np.concatenate([stroke.points for stroke in strokes], axis=1), bones
