"""From a robot to a program: trace the mechanics, then simplify."""

from __future__ import annotations

from collections.abc import Sequence

from emdeg.equations.base_parameters import regrouped_mechanism
from emdeg.mechanics.mechanism import mechanism
from emdeg.program.functions import FUNCTIONS, State
from emdeg.program.ir import Dependence, Program
from emdeg.program.loop_functions import LOOP_FUNCTIONS, loop_program
from emdeg.program.simplify import retrace, simplify
from emdeg.program.trace import Tracer
from emdeg.robot.model import Robot


class UnknownFunction(ValueError):
    """There is no function of that name."""


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
    known = FUNCTIONS if robot.loops is None else LOOP_FUNCTIONS
    for wanted in names:
        if wanted not in known:
            which = "" if robot.loops is None else " of closed loops"
            raise UnknownFunction(f"there is no function {wanted!r}{which}; there are {', '.join(known)}")
    if robot.loops is not None:
        return loop_program(robot, names, factored=factored, name=name or "_".join(names))
    tracer = Tracer(sorted(robot.symbols))
    mech = mechanism(robot, tracer)
    labels = tuple(joint.name for joint in robot.joints)
    q = tracer.inputs("q", robot.n, Dependence.CONFIGURATION, labels)
    wanted_inputs = {group for wanted in names for group in FUNCTIONS[wanted].inputs}
    rates = {
        group: tracer.inputs(group, robot.n, Dependence.RATES)
        for group in ("qd", "qdd", "tau")
        if group in wanted_inputs
    }
    position = [tracer.sincos_of(x) if revolute else x for x, revolute in zip(q, mech.revolute)]
    efforts = any(FUNCTIONS[wanted].efforts for wanted in names)
    grouped = regrouped_mechanism(robot, tracer) if base_parameters and efforts else mech
    results = {}
    for wanted in names:
        function_ = FUNCTIONS[wanted]
        results |= function_.outputs(State(grouped if function_.efforts else mech, position, **rates))
    clash = results.keys() & {"q", *rates}
    if clash:
        raise ValueError(f"{' and '.join(names)} cannot be one program: {', '.join(clash)} is input and output")
    traced = tracer.program(name or "_".join(names), results)
    return simplify(traced) if factored else retrace(traced)
