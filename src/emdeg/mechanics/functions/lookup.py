"""Entries of the catalogue by name, for a robot; what is wrong where there is none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

from emdeg.errors import NotInvertible, UnknownFunction
from emdeg.mechanics.formulations.friction import has_friction, need_friction
from emdeg.mechanics.functions.catalogue import FUNCTIONS
from emdeg.mechanics.functions.function import INPUTS, Function, Ways
from emdeg.mechanics.kinds import CLOSED_LOOPS, kind_of
from emdeg.mechanics.loops.views import MEASURES
from emdeg.mechanics.state import Measure
from emdeg.robot import BASE, Robot


def functions_of(robot: Robot) -> dict[str, Function]:
    """The functions that robots of this kind have."""
    kind, rubs, square = kind_of(robot).name, has_friction(robot), has_square_jacobian(robot)
    return {
        name: entry
        for name, entry in FUNCTIONS.items()
        if kind in entry.ways and (rubs or not entry.rubs) and (square or not entry.square)
    }


def has_square_jacobian(robot: Robot) -> bool:
    """Whether six joints, and no others, move the tool."""
    link, moving = robot.tool.link, 0
    while link != BASE:
        link, moving = robot.links[link].parent, moving + 1
    return robot.is_tree and moving == robot.n == 6


def known_functions(
    function: str | Sequence[str], robot: Robot | None = None, besides: Iterable[str] = ()
) -> list[str]:
    """The names of one function or several, each of which exists (for `robot`); UnknownFunction otherwise.

    The error tells of the names `besides` too.
    """
    names = [function] if isinstance(function, str) else list(function)
    known = [*(FUNCTIONS if robot is None else functions_of(robot)), *besides]
    for wanted in names:
        if wanted not in known:
            if robot is not None and wanted in FUNCTIONS and FUNCTIONS[wanted].rubs:
                need_friction(robot)
            if robot is not None and robot.is_tree and wanted in FUNCTIONS and FUNCTIONS[wanted].square:
                raise NotInvertible(
                    f"the tool of {robot.name} is not moved by six joints: its Jacobian is not square. Lock joints "
                    "(--lock JOINT=VALUE); formulas of some rows: emdeg derive --only Jinv --rows ROWS"
                )
            near = difflib.get_close_matches(wanted, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            which = f" of {kind_of(robot).name}" if robot is not None and wanted in FUNCTIONS else ""
            raise UnknownFunction(f"there is no function {wanted!r}{which}; {hint}there are {', '.join(known)}")
    return names


def measures_of(robot: Robot) -> Mapping[str, Measure]:
    """What else is known of robots of this kind, over doubles alone."""
    return MEASURES if kind_of(robot) is CLOSED_LOOPS else {}


def ways_of(name: str, robot: Robot) -> Ways:
    """How a function of `robot` is computed."""
    kind = kind_of(robot).name
    if name not in FUNCTIONS or kind not in FUNCTIONS[name].ways:
        known_functions(name, robot)  # says what there is
    return FUNCTIONS[name].ways[kind]


def inputs_of(names: Sequence[str]) -> tuple[str, ...]:
    """The arrays that these functions take together, in their order."""
    return tuple(group for group in INPUTS if any(group in FUNCTIONS[name].inputs for name in names))
