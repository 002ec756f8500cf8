"""Other choices for a robot with closed loops: its independent coordinates, its driven joints, its modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from emdeg.errors import RobotError
from emdeg.loops.linkage import loops_of
from emdeg.robot import Robot


def with_coordinates(robot: Robot, coordinates: Sequence[str]) -> Robot:
    """The robot described by other independent coordinates: joints of its tree, by name."""
    return replace(robot, constraints=replace(loops_of(robot), coordinates=_numbers(robot, coordinates)))


def with_driven(robot: Robot, driven: Sequence[str]) -> Robot:
    """The robot with motors at other joints of its tree, by name; more than it has freedoms share the efforts."""
    return replace(robot, constraints=replace(loops_of(robot), driven=_numbers(robot, driven), allocation=()))


def with_allocation(robot: Robot, shares: Mapping[str, float]) -> Robot:
    """The robot whose driven joints, more than its freedoms, share the efforts so: the least sum of effort^2 / share.

    Joints that are not named have the share 1; one with the share 0 gives nothing.
    """
    loops = loops_of(robot)
    given = dict(zip(_numbers(robot, tuple(shares)), shares.values()))
    for k, share in given.items():
        if k not in loops.driven or not 0 <= share < float("inf"):
            rule = "is not driven" if k not in loops.driven else f"has the share {share}, which is not 0 or more"
            raise RobotError(f"the joint {robot.joints[k].name} {rule}", body=robot.name)
    allocation = tuple(Fraction(given.get(k, 1)) for k in loops.driven)
    return replace(robot, constraints=replace(loops, allocation=allocation))


def with_modes(robot: Robot, modes: Mapping[str, int]) -> Robot:
    """The robot whose named loops close the one way (1) or the other (-1): its working or assembly mode."""
    loops = loops_of(robot)
    for name, sign in modes.items():
        if name.removesuffix(":along") not in loops.names:
            raise RobotError(f"there is no loop {name!r}; loops: {', '.join(loops.names)}", body=robot.name)
        if sign not in (1, -1):
            raise RobotError(f"a mode is 1 or -1, not {sign!r}", body=name)
    return replace(robot, constraints=replace(loops, modes=tuple({**dict(loops.modes), **modes}.items())))


def with_start(robot: Robot, start: Mapping[str, float]) -> Robot:
    """The robot whose loops are closed from another start [rad, m]; joints that are not named stay where they were."""
    loops = loops_of(robot)
    values = list(loops.start)
    for k, value in zip(_numbers(robot, tuple(start)), start.values()):
        values[k] = Fraction(value)
    return replace(robot, constraints=replace(loops, start=tuple(values)))


def _numbers(robot: Robot, names: Sequence[str]) -> tuple[int, ...]:
    known = {joint.name: i for i, joint in enumerate(robot.joints)}
    for name in names:
        if name not in known:
            raise RobotError(f"there is no joint {name!r}; joints: {', '.join(known)}", body=robot.name)
    return tuple(known[name] for name in names)
