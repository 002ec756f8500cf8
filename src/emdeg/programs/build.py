"""The catalogue over a tracer: from a robot to a program, then simplified."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from emdeg.dynamics import Inputs, Outputs, State, kind_of
from emdeg.dynamics.functions import (
    CATALOGUE,
    INPUTS,
    Derivation,
    Run,
    input_sizes,
    known_functions,
    need_regular_somewhere,
    parts_of,
    solves_for_motion,
    ways_of,
)
from emdeg.dynamics.parameters import base_parameters as find_base_parameters
from emdeg.errors import BadRequest, CannotJoin, NotInvertible, singular_mass_matrix
from emdeg.programs.differentiation import closed, derived
from emdeg.programs.ir import Dependence, InputGroup, Program, count
from emdeg.programs.simplification import retrace, simplify
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot import Robot


def joined_functions(function: str | Sequence[str], robot: Robot | None = None, base: bool = False) -> list[str]:
    """The functions of one program, from "A", "A+B" or their names; UnknownFunction or BadRequest where it cannot be.

    `base` asks for the columns of base parameters, which a regressor has.
    """
    names = known_functions(parts_of(function), robot)
    if base and "regressor" not in names:
        raise BadRequest(f"--base applies to regressor, not to {'+'.join(names)}")
    if len(set(names)) != len(names):
        raise BadRequest(f"{'+'.join(names)} names a function twice")
    return names


@dataclass(frozen=True, slots=True)
class Trace:
    """An open trace: the tracer, a robot's inputs in it, and all arrays that its functions take."""

    robot: Robot
    tracer: Tracer
    q: Sequence[Traced]
    inputs: Inputs
    arrays: Mapping[str, Sequence[Traced]]

    @property
    def names(self) -> tuple[str, ...]:
        """The input arrays, q first."""
        return tuple(dict.fromkeys(("q", *self.arrays)))

    def state(self, regrouped: bool = False) -> State:
        """The robot's state, with its base parameters for its inertias where that is asked for and known."""
        kind = kind_of(self.robot)
        return (kind.regrouped_state if regrouped else kind.state)(self.robot, self.inputs)


def open_trace(robot: Robot, names: Sequence[str], besides: Mapping[str, int] | None = None) -> Trace:
    """A tracer with the inputs that the named functions of the robot need, in the project's order.

    `besides` are further arrays, by their sizes.
    """
    tracer = Tracer(sorted(robot.symbols))
    kind, labels = kind_of(robot), tuple(joint.name for joint in robot.coordinates)
    sizes = input_sizes(known_functions(names, robot), robot) | dict(besides or {})
    arrays = {
        name: tracer.inputs(
            name,
            size,
            Dependence.CONFIGURATION if name in INPUTS and INPUTS[name].of == "configuration" else Dependence.RATES,
            labels if name == "q" else (),
        )
        for name, size in sizes.items()
    }
    # A function that takes no q has a state at its zero.
    q = arrays.get("q") or (tracer.number(0),) * kind.size(robot, "q")
    inputs = Inputs(
        tracer,
        lambda name, place: q[place] if name == "q" else arrays[name][place],
        lambda place: tracer.sincos_of(q[place]),
        tuple(name for name in arrays if name != "q" and name in INPUTS),
    )
    return Trace(robot, tracer, q, inputs, arrays)


def function_inputs(robot: Robot, names: Sequence[str]) -> tuple[InputGroup, ...]:
    """The input arrays of a program of these functions, the joints' names and the symbols as labels."""
    return open_trace(robot, names).tracer.program("_".join(names), {}).inputs


MOST_REGROUPED = 48
"""Joints of a robot whose base parameters are looked for: that takes time with their cube, a recursion linear time."""
MOST_FACTORED = 30_000
"""Operations of a program that is factored; a longer one is left as its recursion wrote it."""


def plain_program(
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
    found = plain_programs(robot, function, base=base, base_parameters=base_parameters, factored=factored, name=name)
    return min(found, key=lambda one: count(one).total)


def plain_programs(
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    base_parameters: bool = True,
    factored: bool = True,
    name: str | None = None,
) -> list[Program]:
    """One for each plain formulation that serves the robot."""
    names = known_functions(function, robot)
    places = base_places(robot) if base else None
    base_parameters = base_parameters and robot.n <= MOST_REGROUPED
    found = []
    for runs in product(*map(partial(plain_runs, robot), names)):
        trace = open_trace(robot, names)
        outputs = run_together(trace, names, runs, base_parameters)
        if outputs is not None:
            traced = trace.tracer.program(name or "_".join(names), of_base_parameters(outputs, places))
            found.append(simplify(traced) if factored and traced.size <= MOST_FACTORED else retrace(traced))
    return found


def plain_runs(robot: Robot, name: str) -> list[Run]:
    """The formulations that are tried for a function's plain program."""
    ways = ways_of(name, robot)
    return [ways.formulations[one] for one in ways.plain]


def run_together(trace: Trace, names: Sequence[str], runs: Sequence[Run], regroup: bool) -> Outputs | None:
    """The outputs of several functions side by side; None where a formulation does not serve the robot."""
    results: dict[str, Any] = {}
    states: dict[bool, State] = {}
    for name, run in zip(names, runs):
        entry = CATALOGUE[name]
        if solves_for_motion(entry):
            need_regular_somewhere(trace.robot)
        grouped = regroup and entry.regroups
        if grouped not in states:
            states[grouped] = trace.state(grouped)
        try:
            found = run(states[grouped])
        except ZeroDivisionError:
            if entry.square:
                raise NotInvertible(f"the Jacobian of {trace.robot.name} is singular at every pose") from None
            raise singular_mass_matrix(trace.robot.name, everywhere=True) from None
        if found is None:
            return None
        if entry.derivation is not None:
            found = derivative_of(entry.derivation, found, states[grouped], trace)
        results = joined(results, found, names, trace.names)
    return results


def derivative_of(how: Derivation, found: Outputs, state: State, trace: Trace) -> Outputs:
    """The outputs of a function's derivative in a trace, from those that were found of the function at a state."""
    ways = ways_of(how.of.name, trace.robot)
    balance = None if ways.balance is None else ways.balance(state, found)
    gradient = None if ways.gradient is None else partial(ways.gradient, state)
    return derived(how, found, trace.arrays, trace.tracer, balance, gradient)


def derivative_program(robot: Robot, how: Derivation, like: Program, program: Program) -> Program:
    """A function's derivative from a program of the function; `like` has the derivative's name."""
    trace = open_trace(robot, [f"{how.of.name}_{how.kind}"])
    outputs = trace.tracer.outputs_of(program, trace.tracer.replay(program))
    ways = ways_of(how.of.name, robot)
    gradient = None if ways.gradient is None else partial(ways.gradient, trace.state())
    return closed(trace.tracer, derived(how, outputs, trace.arrays, trace.tracer, gradient=gradient), like)


def joined(results: Outputs, found: Outputs, names: Sequence[str], inputs: Collection[str]) -> dict[str, Any]:
    """The outputs of one more function beside those of the others; CannotJoin where a name would mean two things."""
    for name in found:
        if name in results:
            raise CannotJoin(f"{' and '.join(names)} cannot be one program: two have an output {name}")
        if name in inputs:
            raise CannotJoin(f"{' and '.join(names)} cannot be one program: {name} is input and output")
    return {**results, **found}


def of_base_parameters(outputs: Outputs, places: Sequence[int] | None) -> Outputs:
    """The outputs with only these columns of the regressor Y; all of them where `places` is None."""
    if places is None or "Y" not in outputs:
        return outputs
    return {**outputs, "Y": [[row[place] for place in places] for row in outputs["Y"]]}


def base_places(robot: Robot) -> tuple[int, ...]:
    """The columns of the full regressor that belong to the robot's base parameters."""
    return tuple(column.place for column in find_base_parameters(robot).kept)
