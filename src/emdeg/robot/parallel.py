"""Which joints of a robot turn about axes that stay parallel: their angles add up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from emdeg.algebra import Angle, ParallelJoints
from emdeg.robot.model import BASE, Placement, Robot


def parallel_joints(robot: Robot) -> tuple[ParallelJoints, ...]:
    """The runs of revolute joints whose axes stay parallel, joints numbered from 1; only runs of two or more."""
    group_of: dict[int, list[tuple[int, int]]] = {}
    extended: set[int] = set()
    for i, link in enumerate(robot.links):
        if link.joint.kind != "revolute":
            continue
        before, turns = link.parent, [link.joint.placement]
        while before != BASE and robot.links[before].joint.kind != "revolute":
            turns.insert(0, robot.links[before].joint.placement)
            before = robot.links[before].parent
        sign = _axis_kept(turns)
        if before != BASE and sign and before not in extended:
            run = group_of[before]
            run.append((i + 1, sign * run[-1][1]))
            group_of[i] = run
            extended.add(before)
        else:
            group_of[i] = [(i + 1, 1)]
    runs = {id(run): tuple(run) for run in group_of.values()}
    return tuple(run for run in runs.values() if len(run) > 1)


def _axis_kept(placements: Sequence[Placement]) -> int:
    """+1 or -1 if the constant rotations between two joints take the axis to plus or minus itself, else 0."""
    axis = (Fraction(0), Fraction(0), Fraction(1))
    for place in reversed(placements):
        turns = [("x", place.alpha), ("y", place.beta)]
        if place is not placements[-1]:
            turns.append(("z", place.theta))  # of a prismatic joint in between, whose angle is constant
        turns.insert(0, ("z", place.gamma))
        for about, angle in reversed(turns):
            if angle.is_zero:
                continue
            turned = _quarter_turned(axis, about, angle)
            if turned is None:
                return 0
            axis = turned
    return int(axis[2]) if abs(axis[2]) == 1 else 0


def _quarter_turned(
    axis: tuple[Fraction, Fraction, Fraction], about: str, angle: Angle
) -> tuple[Fraction, Fraction, Fraction] | None:
    x, y, z = axis
    along = {"x": x, "y": y, "z": z}[about]
    if abs(along) == 1:
        return axis
    if angle.symbol is not None:
        return None
    s, c = angle.sincos()
    if about == "x":
        return x, c * y - s * z, s * y + c * z
    if about == "y":
        return c * x + s * z, y, c * z - s * x
    return c * x - s * y, s * x + c * y, z
