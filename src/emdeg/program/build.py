"""From a robot to a program: trace the mechanics, then simplify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.equations.base_parameters import regrouped_mechanism
from emdeg.mechanics.mechanism import mechanism
from emdeg.program.functions import FUNCTIONS, State
from emdeg.program.ir import Dependence, Program
from emdeg.program.simplify import retrace, simplify
from emdeg.program.trace import Traced, Tracer
from emdeg.robot.model import Robot


class UnknownFunction(ValueError):
    """There is no function of that name."""


@dataclass(frozen=True, slots=True)
class Trace:
    """An open trace: the tracer, the joint variables and the other inputs that some functions read."""

    tracer: Tracer
    q: Sequence[Traced]
    position: Sequence[Any]
    rates: Mapping[str, Sequence[Traced]]


def open_trace(robot: Robot, names: Sequence[str]) -> Trace:
    """A tracer with the inputs that the named functions of the robot need, in the project's order."""
    for wanted in names:
        if wanted not in FUNCTIONS:
            raise UnknownFunction(f"there is no function {wanted!r}; there are {', '.join(FUNCTIONS)}")
    tracer = Tracer(sorted(robot.symbols))
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION, tuple(joint.name for joint in robot.joints))
    wanted_inputs = {group for wanted in names for group in FUNCTIONS[wanted].inputs}
    rates = {
        group: tracer.inputs(group, robot.n, Dependence.RATES)
        for group in ("qd", "qdd", "tau")
        if group in wanted_inputs
    }
    position = [tracer.sincos_of(x) if joint.kind == "revolute" else x for x, joint in zip(q, robot.joints)]
    return Trace(tracer, q, position, rates)


def program(
    robot: Robot,
    function: str | Sequence[str],
    *,
    base_parameters: bool = True,
    factored: bool = True,
    name: str | None = None,
) -> Program:
    """The program of one function of `robot`, or of several in one (their outputs side by side).

    The robot's symbols become the input `parameters`, in alphabetical order. `base_parameters` regroups the
    inertias first, which changes no effort; `factored` = False leaves the trace as the recursion wrote it.
    """
    names = [function] if isinstance(function, str) else list(function)
    trace = open_trace(robot, names)
    tracer = trace.tracer
    mech = mechanism(robot, tracer)
    efforts = any(FUNCTIONS[wanted].efforts for wanted in names)
    grouped = regrouped_mechanism(robot, tracer) if base_parameters and efforts else mech
    results = {}
    for wanted in names:
        function_ = FUNCTIONS[wanted]
        results |= function_.outputs(State(grouped if function_.efforts else mech, trace.position, **trace.rates))
    clash = results.keys() & {"q", *trace.rates}
    if clash:
        raise ValueError(f"{' and '.join(names)} cannot be one program: {', '.join(clash)} is input and output")
    traced = tracer.program(name or "_".join(names), results)
    return simplify(traced) if factored else retrace(traced)
