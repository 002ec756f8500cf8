"""What the page shows of a mechanism with closed loops where it shows something else of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Section
from emdeg.errors import BadRequest, EmdegError
from emdeg.loops.equations import EXPANDED_PARTS, Expanded, LoopModel, expand_loops, expanded_document
from emdeg.reports import EquationsFound, Subject, reach
from emdeg.robot import Robot
from emdeg.studio import units
from emdeg.studio.dead_points import DeadPoint, dead_points
from emdeg.studio.loop_terms import loop_term_program
from emdeg.studio.parts import ShownPart
from emdeg.studio.shading import SAMPLES, terms_of, with_terms
from emdeg.studio.tasks import NO_SIZES

EXPANDED = "expanded "
LOOPS: Mapping[str, str] = {
    f"{EXPANDED}{name}": f"{title}, in the coordinates alone"
    for name, title in {
        "solution": "joint angles",
        "M": "mass matrix M",
        "C": "Coriolis matrix C",
        "G": "gravity G",
        "J": "Jacobian J of the drives",
        "Jdot": "rate of J",
    }.items()
    if name in EXPANDED_PARTS
}
LIVE = (
    "mass_matrix",
    "gravity",
    "inverse_dynamics",
    "jacobian",
    "link_transforms",
    "forward_kinematics",
    "drive_jacobian",
)
"""What the page computes itself at every state: where every link is, too."""


def offered(robot: Robot) -> dict[str, str]:
    """Part -> its title, of those that a mechanism has beside its named blocks."""
    return dict(LOOPS)


def part_of(robot: Robot, part: str, tell: Callable[[str], None]) -> ShownPart:
    """A part of the equations multiplied out."""
    model = expand_loops(robot)
    sections = expanded_document(model, ("letters", part.removeprefix(EXPANDED))).sections
    return ShownPart(sections) if robot.symbols else of_loops(model, sections)


def shown_equations(robot: Robot, found: EquationsFound) -> ShownPart | None:
    """The blocks with their terms apart."""
    return None if robot.symbols else of_loops(found.loops, [found.section])


def of_loops(model: LoopModel | Expanded, sections: Iterable[Section]) -> ShownPart:
    """A mechanism's formulas with their terms apart; without values where its loops close numerically."""
    apart = tuple(map(with_terms, sections))
    terms = terms_of(apart)
    own = tuple("" if one.below else units.of_entry(one.entry.label, model.robot) for one in terms)
    try:
        return ShownPart(apart, loop_term_program(model, terms), own)
    except EmdegError:
        return ShownPart(apart, None, own)


def states(subject: Subject) -> dict[str, Array]:
    """Random q, qd and qdd in a mechanism's reach, and those along its sample motion."""
    low, high = np.array(list(reach(subject))).T
    random, motion = np.random.default_rng(3), subject.motion
    size = (SAMPLES, len(low))
    drawn = low + (high - low) * random.uniform(size=size), random.uniform(-1, 1, size), random.uniform(-1, 1, size)
    along = motion.q, motion.qd, motion.qdd
    return {name: np.concatenate(both) for name, *both in zip(("q", "qd", "qdd"), drawn, along)}


def slider_positions(subject: Subject) -> dict[str, Any]:
    """BadRequest: a mechanism's terms have no slider."""
    raise BadRequest(NO_SIZES)


def live_functions(robot: Robot) -> tuple[str, ...]:
    """What the page computes itself at every state."""
    return LIVE


def row_dimension(robot: Robot, row: int) -> units.Dimension:
    """Of what a row of J says of a coordinate's rate: of a motor's position."""
    return units.position(robot.driven[row - 1])


def dead_points_of(robot: Robot, q: list[float], ranges: list[list[float]]) -> list[DeadPoint]:
    """Dead points along the coordinates, from a state."""
    return dead_points(robot, q, ranges)
