"""Functions by name, for a robot of any kind; what is wrong where there is none."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence

from emdeg.dynamics.formulations.friction import need_friction
from emdeg.dynamics.functions.catalogue import CATALOGUE, FUNCTIONS
from emdeg.dynamics.functions.derived import COTANGENT, TANGENT
from emdeg.dynamics.functions.function import INPUTS, Function, Output, Ways
from emdeg.dynamics.functions.names import DERIVED
from emdeg.dynamics.parameters.regressor import COLUMNS
from emdeg.dynamics.state import Measure, kind_of
from emdeg.errors import CannotJoin, NotInvertible, UnknownFunction
from emdeg.robot import BASE, Robot, kind_named, resolved


def functions_of(robot: Robot) -> dict[str, Function]:
    """The functions that robots of this kind have."""
    kind, rubs, square = kind_of(robot).name, robot.rubs, has_square_jacobian(robot)
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
    return moving == robot.n == robot.freedoms == 6


def known_functions(
    function: str | Sequence[str], robot: Robot | None = None, besides: Iterable[str] = ()
) -> list[str]:
    """The names of one function or several, each of which exists (for `robot`); UnknownFunction otherwise.

    The error tells of the names `besides` too.
    """
    names = [function] if isinstance(function, str) else list(function)
    known = [*(FUNCTIONS if robot is None else functions_of(robot)), *besides]
    for wanted in names:
        entry = CATALOGUE.get(wanted)
        if wanted not in known and not (entry and entry.derivation and entry.derivation.of.name in known):
            if robot is not None and entry is not None:
                _need_kind(entry, robot, known)
                if entry.rubs:
                    need_friction(robot)
                raise NotInvertible(
                    f"the tool of {robot.name} is not moved by six joints: its Jacobian is not square. Lock joints "
                    "(--lock JOINT=VALUE); formulas of some rows: emdeg derive --only Jinv --rows ROWS"
                )
            near = difflib.get_close_matches(wanted, [*known, *CATALOGUE], 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UnknownFunction(f"there is no function {wanted!r}; {hint}{_there_are(known)}")
    return names


def _need_kind(entry: Function, robot: Robot, known: Iterable[str]) -> None:
    """UnknownFunction where only robots of other kinds have a function; it says which."""
    kind = kind_of(robot).name
    if kind not in entry.ways:
        others = " and ".join(entry.ways)
        raise UnknownFunction(
            f"there is no function {entry.name!r} of {kind}: it is one of {others} only; {_there_are(known)}"
        )


def _there_are(known: Iterable[str]) -> str:
    derivatives = ", ".join(f"FUNCTION{ending}" for ending in DERIVED)
    return f"there are {', '.join(known)}; and derivatives: {derivatives}"


def measures_of(robot: Robot) -> Mapping[str, Measure]:
    """What else is known of robots of this kind, over doubles alone."""
    return resolved(kind_named(robot.constraints.kind).measures)


def ways_of(name: str, robot: Robot) -> Ways:
    """How a function of `robot` is computed."""
    kind = kind_of(robot).name
    if name not in CATALOGUE or kind not in CATALOGUE[name].ways:
        known_functions(name, robot)  # says what there is
    return CATALOGUE[name].ways[kind]


def proved_by(entry: Function, kind: str) -> str:
    """What proves a program of a function, for a kind of mechanism."""
    reference = entry.ways[kind].reference[0]
    if entry.derivation is None:
        return reference
    order = "" if entry.derivation.kind in ("jvp", "vjp") else " of second order"
    return f"dual numbers{order} through {reference}"


def inputs_of_entry(entry: Function, robot: Robot) -> tuple[str, ...]:
    """The arrays that a function of a robot takes, in its own order."""
    return ways_of(entry.name, robot).inputs or entry.inputs


def inputs_of(names: Sequence[str], robot: Robot) -> tuple[str, ...]:
    """The arrays that these functions take together, in their order: a state's, then cotangents and tangents."""
    taken = [name for one in names for name in inputs_of_entry(CATALOGUE[one], robot)]
    further = dict.fromkeys(name for name in taken if name not in INPUTS)
    tangents = [name for name in further if name.endswith(TANGENT)]
    return (*(name for name in INPUTS if name in taken), *(n for n in further if n not in tangents), *tangents)


def input_sizes(names: Sequence[str], robot: Robot) -> dict[str, int]:
    """The arrays that these functions of a robot take together, each with its size; CannotJoin where two differ."""
    kind, sizes = kind_of(robot), {name: kind_of(robot).size(robot, name) for name in INPUTS}
    for name in names:
        derivation = CATALOGUE[name].derivation
        for array, about in CATALOGUE[name].arrays.items():
            if array in INPUTS:
                continue
            if about.like is not None:
                size = kind.size(robot, about.like)
            else:
                assert derivation is not None
                size = _sizes_of_outputs(derivation.of, robot)[array.removesuffix(COTANGENT)]
            if sizes.setdefault(array, size) != size:
                raise CannotJoin(f"{' and '.join(names)} cannot be one program: {array} is two arrays")
    return {array: sizes[array] for array in inputs_of(names, robot)}


def _sizes_of_outputs(entry: Function, robot: Robot) -> dict[str, int]:
    """How many numbers each output of a function holds."""
    return {one.name: math.prod(output_shape(one, robot)) for one in entry.outputs}


def output_shape(output: Output, robot: Robot) -> tuple[int, ...]:
    """The letters of an output's shape as numbers."""
    kind = kind_of(robot)
    n = kind.size(robot, "qd")
    known = {"n": n, "links": robot.n, "11 bodies": 11 * len(robot.bodies), "n n": n * n}
    known["loops"] = len(robot.constraints.names)
    known |= {"n (n + 1) / 2": n * (n + 1) // 2, "n n (n - 1) / 2": n * n * (n - 1) // 2}
    shape = [known[letter] if letter in known else int(letter) for letter in output.shape]
    for axis in output.efforts:
        shape[axis] = kind.size(robot, "tau")
    return tuple(shape)


Names = list[str] | None
"""What the entries along an axis are called; None where they have no names."""
_SIX = ["x", "y", "z", "about x", "about y", "about z"]


def axis_names(output: Output, robot: Robot) -> tuple[Names, ...]:
    """What the entries along each axis of an output are called: joints, links, loops, parameters."""
    coordinates, driven = ([joint.name for joint in joints] for joints in (robot.coordinates, robot.driven))
    known: dict[str, Names] = {
        "n": coordinates,
        "links": [link.name for link in robot.links],
        "loops": list(robot.constraints.names),
        "11 bodies": [f"{body} {column}" for body in robot.bodies for column in COLUMNS],
        "6": _SIX,
    }
    return tuple(driven if axis in output.efforts else known.get(letter) for axis, letter in enumerate(output.shape))
