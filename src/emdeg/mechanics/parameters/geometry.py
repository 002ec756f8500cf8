"""A robot without its masses: the geometry alone, its letters, and its states in an algebra with joints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from emdeg.algebra.angle import Angle
from emdeg.algebra.budget import DEFAULT_MAX_TERMS
from emdeg.algebra.exact import Exact
from emdeg.algebra.scalar import Algebra
from emdeg.algebra.trig_algebra import TrigAlgebra
from emdeg.robot.model import BASE, NOWHERE, Frame, Inertia, Joint, Link, Pose, Robot


class JointAlgebra(Algebra, Protocol):
    """An algebra that also has letters for the joints; joint 1's variable is q1."""

    def joint_sincos(self, joint: Any) -> tuple[Any, Any]: ...
    def displacement(self, joint: Any) -> Any: ...
    def rate(self, joint: Any) -> Any: ...
    def acceleration(self, joint: Any) -> Any: ...


def skeleton(robot: Robot) -> Robot:
    """The robot's joints, their places and gravity, and nothing that has mass: equal for robots of one geometry."""
    links = tuple(
        Link(f"link{i + 1}", link.parent, Joint(f"q{i + 1}", link.joint.kind, link.joint.placement), Inertia())
        for i, link in enumerate(robot.links)
    )
    return Robot("", links, Pose(NOWHERE, robot.base.rpy), Frame("tool", BASE), robot.gravity)


def branch(skel: Robot, link: int) -> Robot:
    """The chain of links from the base to `link`, alone."""
    chain: list[Link] = []
    while link != BASE:
        chain.append(skel.links[link])
        link = skel.links[link].parent
    return replace(skel, links=tuple(replace(part, parent=i - 1) for i, part in enumerate(reversed(chain))))


def constant_angles(skel: Robot) -> tuple[Angle, ...]:
    """The angles of the geometry."""
    places = [link.joint.placement for link in skel.links]
    of_links = [angle for p in places for angle in (p.alpha, p.theta, p.gamma, p.beta)]
    return tuple(dict.fromkeys((*skel.base.rpy, *of_links)))


def length_symbols(skel: Robot) -> tuple[str, ...]:
    """The names in lengths and gravity that have no number, sorted; symbolic angles not included."""
    values: list[Exact] = list(skel.gravity)
    for link in skel.links:
        values += [link.joint.placement.a, link.joint.placement.b, link.joint.placement.d]
    return tuple(sorted({name for value in values for name in value.symbols}))


def geometry_algebra(skel: Robot) -> TrigAlgebra:
    """Formulas in the geometry's symbols and constant angles, no joints."""
    return TrigAlgebra(parameters=length_symbols(skel), constant_angles=constant_angles(skel))


def state_algebra(skel: Robot, max_terms: int = DEFAULT_MAX_TERMS) -> TrigAlgebra:
    """Formulas in the joints' variables, rates and accelerations too."""
    kinds = [link.joint.kind for link in skel.links]
    return TrigAlgebra(
        revolute=[i for i, kind in enumerate(kinds, 1) if kind == "revolute"],
        prismatic=[i for i, kind in enumerate(kinds, 1) if kind == "prismatic"],
        parameters=length_symbols(skel),
        constant_angles=constant_angles(skel),
        rates=True,
        max_terms=max_terms,
    )


def state(skel: Robot, algebra: JointAlgebra, of: str = "") -> tuple[list[Any], list[Any], list[Any]]:
    """(positions, qd, qdd) as the algebra's letters; `of` tells several states of one algebra apart."""
    names = [f"{i}{of}" if of else i for i in range(1, skel.n + 1)]
    positions = [
        algebra.joint_sincos(name) if link.joint.kind == "revolute" else algebra.displacement(name)
        for name, link in zip(names, skel.links)
    ]
    return positions, [algebra.rate(name) for name in names], [algebra.acceleration(name) for name in names]
