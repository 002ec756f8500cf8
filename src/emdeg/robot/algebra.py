"""The algebra of a robot: the symbols that its formulas are written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from emdeg.algebra import DEFAULT_MAX_TERMS, Angle, ParallelJoints, RationalAngles, TrigAlgebra
from emdeg.errors import RobotError
from emdeg.robot.model import BASE, NOWHERE, Drive, Frame, Inertia, Joint, Link, Placement, Pose, Robot, values


def algebra_of(
    robot: Robot,
    *,
    joints: bool = True,
    rates: bool = False,
    rational_angles: bool = False,
    budget: int = DEFAULT_MAX_TERMS,
) -> TrigAlgebra:
    """The trigonometric polynomials of `robot`: joints numbered from 1, its symbols, its constant angles.

    A link's symbols stand in the order of its geometry, inertia and drive; then come payloads and gravity. With
    `rates` the letters qd1, qdd1, ... exist too; without `joints` nothing moves, and symbols are in the alphabet's
    order; with `rational_angles` numeric constant angles are no letters. No formula may have more than `budget` terms.
    """
    names: dict[str, None] = {}
    angles: dict[Angle, None] = {}
    for value in values(robot):
        if isinstance(value, Angle):
            if value.symbol is not None or not rational_angles:
                angles[value] = None
        else:
            names.update(dict.fromkeys(sorted(value.symbols)))
    kinds = {i: joint.kind for i, joint in enumerate(robot.joints, 1) if joints}
    if joints and (other := [joint for joint in robot.joints if not joint.type.elementary]):
        raise RobotError(
            f"formulas are known of revolute and prismatic joints alone; {other[0].name} is {other[0].kind}",
            body=robot.name,
        )
    try:
        return (RationalAngles if rational_angles else TrigAlgebra)(
            revolute=[i for i, kind in kinds.items() if kind == "revolute"],
            prismatic=[i for i, kind in kinds.items() if kind != "revolute"],
            parameters=names if joints else sorted(names),
            constant_angles=angles,
            rates=rates,
            max_terms=budget,
        )
    except ValueError as problem:
        raise RobotError(str(problem), body=robot.name) from None


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


def massless(robot: Robot) -> Robot:
    """The robot with its names and constraints, but no inertia, drive, load, tool or gravity."""
    links = tuple(
        replace(link, inertia=Inertia(), stated=None, joint=replace(link.joint, drive=Drive())) for link in robot.links
    )
    constraints = robot.constraints.massless()
    return replace(robot, links=links, payloads=(), tool=Frame("tool", BASE), gravity=NOWHERE, constraints=constraints)


def geometry(robot: Robot) -> Robot:
    """The joints, their places, gravity and what ties the joints, no inertia, no names: equal for one geometry."""
    links = tuple(
        Link(f"link{i + 1}", link.parent, Joint(f"q{i + 1}", link.joint.kind, link.joint.placement), Inertia())
        for i, link in enumerate(robot.links)
    )
    shape = Robot("", links, Pose(NOWHERE, robot.base.rpy), Frame("tool", BASE), robot.gravity)
    return robot.constraints.with_geometry(shape, robot.base)


def branch(robot: Robot, link: int) -> Robot:
    """The chain of links from the base to `link`, alone."""
    chain: list[Link] = []
    while link != BASE:
        chain.append(robot.links[link])
        link = robot.links[link].parent
    return replace(robot, links=tuple(replace(part, parent=i - 1) for i, part in enumerate(reversed(chain))))
