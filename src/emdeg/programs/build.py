"""From a robot to a program: trace the mechanics, then simplify."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.errors import UnknownFunction, singular_mass_matrix
from emdeg.mechanics.mechanism import mechanism
from emdeg.mechanics.parameters.base import base_parameters as find_base_parameters
from emdeg.mechanics.parameters.base import regrouped_mechanism
from emdeg.programs.functions import FUNCTIONS, State, joined, of_base_parameters
from emdeg.programs.ir import Dependence, Program
from emdeg.programs.loop_functions import LOOP_FUNCTIONS, loop_program
from emdeg.programs.simplify import retrace, simplify
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot.model import Robot


@dataclass(frozen=True, slots=True)
class Trace:
    """An open trace: the tracer, the joint variables and the other inputs that some functions read."""

    tracer: Tracer
    q: Sequence[Traced]
    position: Sequence[Any]
    rates: Mapping[str, Sequence[Traced]]


def open_trace(robot: Robot, names: Sequence[str]) -> Trace:
    """A tracer with the inputs that the named functions of the robot need, in the project's order."""
    tracer = Tracer(sorted(robot.symbols))
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION, tuple(joint.name for joint in robot.joints))
    wanted = {group for name in known_functions(names) for group in FUNCTIONS[name].inputs}
    rates = {
        group: tracer.inputs(group, robot.n, Dependence.RATES) for group in ("qd", "qdd", "tau") if group in wanted
    }
    position = [tracer.sincos_of(x) if joint.kind == "revolute" else x for x, joint in zip(q, robot.joints)]
    return Trace(tracer, q, position, rates)


def program(
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    base_parameters: bool = True,
    factored: bool = True,
    name: str | None = None,
) -> Program:
    """The program of one function of `robot`, or of several in one (their outputs side by side).

    The robot's symbols become the input `parameters`, in alphabetical order. `base` keeps only the base parameters'
    columns of a regressor. `base_parameters` regroups the inertias first, which changes no effort; `factored` =
    False leaves the trace as the recursion wrote it.
    """
    names = known_functions(function, robot)
    if robot.loops is not None:
        return loop_program(robot, names, factored=factored, name=name or "_".join(names))
    trace = open_trace(robot, names)
    tracer = trace.tracer
    mech = mechanism(robot, tracer)
    efforts = any(FUNCTIONS[wanted].efforts for wanted in names)
    grouped = regrouped_mechanism(robot, tracer) if base_parameters and efforts else mech
    results: dict[str, Any] = {}
    for wanted in names:
        function_ = FUNCTIONS[wanted]
        state = State(grouped if function_.efforts else mech, trace.position, **trace.rates)
        try:
            found = function_.outputs(state)
        except ZeroDivisionError:
            raise singular_mass_matrix(robot.name) from None
        results = joined(results, found, names, ("q", *trace.rates))
    outputs = of_base_parameters(results, base_places(robot) if base else None)
    traced = tracer.program(name or "_".join(names), outputs)
    return simplify(traced) if factored else retrace(traced)


def known_functions(function: str | Sequence[str], robot: Robot | None = None) -> list[str]:
    """The names of one function or several, each of which exists (for `robot`); UnknownFunction otherwise."""
    names = [function] if isinstance(function, str) else list(function)
    loops = robot is not None and robot.loops is not None
    known = LOOP_FUNCTIONS if loops else FUNCTIONS
    for wanted in names:
        if wanted not in known:
            near = difflib.get_close_matches(wanted, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            which = " of closed loops" if loops else ""
            raise UnknownFunction(f"there is no function {wanted!r}{which}; {hint}there are {', '.join(known)}")
    return names


def further_inputs(name: str, robot: Robot) -> tuple[str, ...]:
    """The inputs beyond q of a function of `robot`."""
    return FUNCTIONS[name].inputs if robot.loops is None else LOOP_FUNCTIONS[name][0]


def base_places(robot: Robot) -> tuple[int, ...]:
    """The columns of the full regressor that belong to the robot's base parameters."""
    return tuple(column.place for column in find_base_parameters(robot).kept)
