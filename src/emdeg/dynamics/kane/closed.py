"""A mechanism with closed loops under generalized speeds of one's choice, over any scalar.

The coordinates are the mechanism's independent ones, some of them with a prescribed motion; every joint's rate follows
from theirs, so that a speed may be any joint's rate, any body's angular velocity, any point's velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from emdeg.algebra import Algebra
from emdeg.dynamics.kane.setup import JointSpring, Setup
from emdeg.dynamics.kane.systems import System, system
from emdeg.dynamics.mechanism import Position
from emdeg.dynamics.spatial import Scalar
from emdeg.errors import RobotError
from emdeg.loops.analytic_closure import Plan, Root, solve
from emdeg.loops.closing import closing_of
from emdeg.loops.linkage import Linkage, linkage_of, loops_of
from emdeg.robot import Robot


@dataclass(frozen=True, slots=True)
class LoopSystem:
    """A closed mechanism at a configuration. `tree` is it with its loops opened, no joint of which is prescribed.

    `free` and `given` are places among the independent coordinates; `driven` are the joints with motors of their own,
    those with a prescribed motion left out.
    """

    robot: Robot
    setup: Setup
    link: Linkage
    tree: System
    coordinates: dict[int, Position]
    plan: Plan
    root: Root
    free: tuple[int, ...]
    given: tuple[int, ...]

    @property
    def driven(self) -> tuple[int, ...]:
        return tuple(k for k in self.link.driven if k not in self.setup.prescribed)

    @property
    def shares(self) -> tuple[Scalar, ...]:
        """Of the driven joints in the efforts, where they are more than the free coordinates."""
        own = dict(zip(self.link.driven, self.link.shares))
        return tuple(own[k] for k in self.driven)

    def all_coordinates(self, of_free: Sequence[Scalar], of_given: Sequence[Scalar]) -> list[Scalar]:
        """One value a coordinate."""
        values: list[Scalar] = [self.link.tree.zero] * len(self.link.coordinates)
        for places, given in ((self.free, of_free), (self.given, of_given)):
            for place, value in zip(places, given):
                values[place] = value
        return values

    def variables(self, of_free: Sequence[Scalar], of_given: Sequence[Scalar]) -> list[Any]:
        """Every joint's own variable [rad, m]; None where an angle is known by its sine and cosine alone."""
        given = dict(zip(self.link.coordinates, self.all_coordinates(of_free, of_given)))
        revolute = self.link.tree.revolute
        return [given.get(k, None if revolute[k] else at) for k, at in enumerate(self.tree.position)]


def loop_system(
    robot: Robot, setup: Setup, algebra: Algebra, of_free: Sequence[Position], of_given: Sequence[Position], root: Root
) -> LoopSystem:
    """The mechanism with its free and prescribed coordinates at these positions; RobotError where it cannot be."""
    check_loop_setup(robot, setup)
    found = closing_of(robot)
    if found.plan is None:
        raise RobotError(
            "its loops close numerically, not by steps, so there are no programs of its speeds", body=robot.name
        )
    link = linkage_of(robot, algebra, found.mobility.rows, found.mobility.pivots)
    known = dict(zip((*setup.free(robot), *setup.prescribed), (*of_free, *of_given)))
    position = solve(link, found.plan, known, root)
    opened = robot.open_tree
    tree = system(opened, replace(setup, prescribed=()), algebra, position)
    places = {k: place for place, k in enumerate(link.coordinates)}
    return LoopSystem(
        robot,
        setup,
        link,
        replace(tree, mech=replace(tree.mech, inertia=link.tree.inertia)),
        {k: known[k] for k in link.coordinates},
        found.plan,
        root,
        tuple(places[k] for k in setup.free(robot)),
        tuple(places[k] for k in setup.prescribed),
    )


def check_loop_setup(robot: Robot, setup: Setup) -> None:
    """RobotError for what a mechanism with closed loops cannot have prescribed, or cannot be pushed by."""
    loops = loops_of(robot)
    if setup.base:
        raise RobotError("a moving base is not known for closed loops", body=robot.name)
    for k in setup.prescribed:
        if k not in loops.coordinates:
            names = ", ".join(joint.name for joint in robot.coordinates)
            raise RobotError(
                f"the motion of {robot.joints[k].name} cannot be prescribed: it is none of the independent coordinates "
                f"({names}); choose them so (emdeg.loops.with_coordinates, or the file)",
                body=robot.name,
            )
    for spring in setup.joint_springs:
        _check_spring(robot, spring)


def _check_spring(robot: Robot, spring: JointSpring) -> None:
    loops, joint = loops_of(robot), robot.joints[spring.joint]
    if spring.stiffness and joint.kind == "revolute" and spring.joint not in loops.coordinates:
        raise RobotError(
            f"a spring at {joint.name} needs its angle, of which only sine and cosine follow from the coordinates; "
            "give it a damping alone, or join two points by a spring",
            body=robot.name,
        )
