"""Stick figures of mechanisms with closed loops."""

from __future__ import annotations

import numpy as np

from emdeg.algebra import Array
from emdeg.dynamics.functions import forward_kinematics, link_transforms
from emdeg.loops import ready
from emdeg.robot import BASE, Robot


def skeleton(robot: Robot, q: Array) -> tuple[Array, list[tuple[int, int]]]:
    """The links that have mass, rods and the ends of closing joints; a platform's massless slides are not drawn."""
    link = ready(robot).link
    T = link_transforms(robot, q)
    points, bones, place = [np.zeros((len(q), 3))], [], {BASE: 0}
    bodies = [k for k, body in enumerate(robot.links) if body.inertia.mass]

    def add(point: Array, *ends: int) -> int:
        points.append(point)
        bones.extend((end, len(points) - 1) for end in ends)
        return len(points) - 1

    for k in bodies:
        parent = robot.links[k].parent
        place[k] = add(T[:, k, :3, 3], *([place[parent]] if parent in place else []))
    for loop in (*link.bars, *link.meetings):
        ends = []
        for end in (loop.first, loop.second):
            local = np.array(end.p, dtype=np.float64)
            at = (
                np.broadcast_to(local, (len(q), 3))
                if end.link == BASE
                else (T[:, end.link, :3, :3] @ local + T[:, end.link, :3, 3])
            )
            ends.append(add(at, *([place[end.link]] if end.link in place and end.link != BASE else [])))
        bones.append((ends[0], ends[1]))
    add(forward_kinematics(robot, q)[..., :3, 3], *([place[robot.tool.link]] if robot.tool.link in place else []))
    return np.stack(points, axis=1), bones
