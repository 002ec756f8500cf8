"""A robot without its masses: what is a matter of geometry alone."""

from __future__ import annotations

from dataclasses import replace

from emdeg.algebra import ZERO
from emdeg.robot.model import BASE, NOWHERE, Drive, Frame, Inertia, Joint, Link, Pose, Robot


def massless(robot: Robot) -> Robot:
    """The robot with its names and loops, but no inertia, drive, load, tool or gravity."""
    links = tuple(
        replace(link, inertia=Inertia(), stated=None, joint=replace(link.joint, drive=Drive())) for link in robot.links
    )
    loops = robot.loops
    if loops is not None:
        loops = replace(loops, rods=tuple(replace(rod, mass=ZERO, inertia=ZERO) for rod in loops.rods))
    return replace(robot, links=links, payloads=(), tool=Frame("tool", BASE), gravity=NOWHERE, loops=loops)


def geometry(robot: Robot) -> Robot:
    """The joints, their places and gravity, and nothing else, not even names: equal for robots of one geometry."""
    links = tuple(
        Link(f"link{i + 1}", link.parent, Joint(f"q{i + 1}", link.joint.kind, link.joint.placement), Inertia())
        for i, link in enumerate(robot.links)
    )
    return Robot("", links, Pose(NOWHERE, robot.base.rpy), Frame("tool", BASE), robot.gravity)


def branch(robot: Robot, link: int) -> Robot:
    """The chain of links from the base to `link`, alone."""
    chain: list[Link] = []
    while link != BASE:
        chain.append(robot.links[link])
        link = robot.links[link].parent
    return replace(robot, links=tuple(replace(part, parent=i - 1) for i, part in enumerate(reversed(chain))))
