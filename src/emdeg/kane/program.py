"""Programs of Kane's equations for any setup: torques from motion, ud from torques, X ud = right-hand side, its parts.

Inputs, in order: q of the free joints; u, ud or tau as the function needs; where motions are prescribed their p, pd
and pdd (joints first, then the base's axes); `loads`, three components for each load without a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from emdeg.kane.equations import INPUTS, METHODS, Function, KaneEquations, KaneInputs
from emdeg.kane.inverse import SpeedInverse, speed_inverse
from emdeg.kane.setup import Setup
from emdeg.kane.system import System, system
from emdeg.programs.ir import Dependence, Program, count
from emdeg.programs.simplification import merge_equal, retrace, simplify
from emdeg.programs.trace import Tracer
from emdeg.robot import Robot


def kane_program(
    robot: Robot,
    setup: Setup,
    function: Function,
    *,
    kinematics: SpeedInverse | None = None,
    method: str | None = None,
    base_parameters: bool = True,
    factored: bool = True,
    name: str | None = None,
) -> Program:
    """The program of one function, by `method` or by the one that needs the fewest operations.

    The robot's symbols become the input `parameters`. `base_parameters` regroups the inertias first. `kinematics` are
    the kinematic equations where they are known already.
    """
    if function not in INPUTS:
        raise ValueError(f"there is no function {function!r}; there are {', '.join(INPUTS)}")
    methods = METHODS[function] if method is None else (method,)
    kinematics = speed_inverse(robot, setup) if kinematics is None else kinematics
    found = []
    for one in methods:
        traced = traced_kane(
            robot,
            setup,
            kinematics,
            INPUTS[function],
            name or f"kane_{function}",
            lambda kane, one=one: kane.outputs(function, one),
            base_parameters,
        )
        if traced is not None:
            found.append(simplify(merge_equal(traced)) if factored else retrace(traced))
    if not found:
        raise ValueError(f"{robot.name} has bodies besides its links, which the method {method!r} leaves out")
    return smallest(found)


def kane_parts(robot: Robot, setup: Setup, kinematics: SpeedInverse | None = None) -> Program:
    """One program of X, H, T, G, E and rhs: Kane's equations taken apart, see `KaneEquations.parts`."""
    kinematics = speed_inverse(robot, setup) if kinematics is None else kinematics
    traced = (
        traced_kane(robot, setup, kinematics, INPUTS["equations"], "kane", lambda kane, one=one: kane.parts(one))
        for one in METHODS["equations"]
    )
    return smallest(simplify(one) for one in traced if one is not None)


def smallest(programs: Iterable[Program]) -> Program:
    """The one with the fewest operations."""
    return min(programs, key=lambda program: count(program).total)


def traced_kane(
    robot: Robot,
    setup: Setup,
    kinematics: SpeedInverse | None,
    wanted: Sequence[str],
    name: str,
    outputs: Callable[[KaneEquations], Mapping[str, Any] | None],
    base_parameters: bool = True,
) -> Program | None:
    """The trace of what `outputs` computes from the inputs `wanted`, prescribed motions and loads."""
    tracer, sys, inputs = traced_system(robot, setup, wanted, base_parameters)
    found = outputs(KaneEquations(sys, kinematics, inputs, tracer.sqrt))
    return None if found is None else tracer.program(name, found)


def traced_system(
    robot: Robot, setup: Setup, wanted: Sequence[str], regrouped: bool = False
) -> tuple[Tracer, System, KaneInputs]:
    """An open trace with the inputs `wanted`, q, prescribed motions and loads, and the system in it."""
    tracer = Tracer(sorted(robot.symbols))
    sys, inputs = system_in(
        robot, setup, tracer, wanted, tracer.inputs, lambda name, k, x: tracer.sincos_of(x), regrouped
    )
    return tracer, sys, inputs


def system_in(
    robot: Robot,
    setup: Setup,
    algebra: Any,
    wanted: Sequence[str],
    array: Callable[..., Sequence[Any]],
    circle: Callable[[str, int, Any], Any],
    regrouped: bool = False,
) -> tuple[System, KaneInputs]:
    """The system and its inputs in an algebra.

    `array(name, size, dependence, labels)` makes an input array, `circle(name, k, angle)` an angle's sine and cosine.
    """
    free, motions = setup.free(robot), setup.given_motions
    q = array("q", len(free), Dependence.CONFIGURATION, [robot.joints[k].name for k in free])
    inputs: dict[str, Any] = {}
    for one in wanted:
        size, labels = len(setup.actuated(robot) if one == "tau" else free), setup.names_of(robot)
        inputs[one] = array(one, size, Dependence.RATES, labels if one in ("u", "ud") else ())
    p: Sequence[Any] = ()
    if motions:
        labels = [robot.joints[k].name for k in setup.prescribed] + [f"base {axis}" for axis in setup.base]
        p = array("p", motions, Dependence.CONFIGURATION, labels)
        inputs["pd"] = array("pd", motions, Dependence.RATES, ())
        if len(wanted) > 1:
            inputs["pdd"] = array("pdd", motions, Dependence.RATES, ())
    if setup.input_loads and ("tau" in wanted or ("u" in wanted and "ud" in wanted)):
        labels = [f"{load.name} {axis}" for load in setup.input_loads for axis in "xyz"]
        inputs["loads"] = array("loads", len(labels), Dependence.RATES, labels)
    variables = [("q", k, x) for k, x in enumerate(q)] + [("p", k, x) for k, x in enumerate(p)]
    at = [circle(*one) if turns else one[2] for one, turns in zip(variables, setup.turning(robot))]
    sys = system(robot, setup, algebra, at[: len(free)], at[len(free) :], regrouped)
    return sys, KaneInputs(variables=(*q, *p), **inputs)
