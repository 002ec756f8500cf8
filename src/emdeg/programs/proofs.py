"""The catalogue over a prime field: a program of a robot is proved against its function's reference.

The reference is run at a random state over the field. Where the state of a robot must satisfy equations (closed
loops), it is checked that each of them holds exactly there: the point lies on the constraint variety.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from emdeg.algebra import PrimeField
from emdeg.errors import OffTheVariety, Refuted
from emdeg.mechanics.functions import inputs_of, known_functions, ways_of
from emdeg.mechanics.kinds import kind_of
from emdeg.mechanics.state import Inputs, Outputs, State
from emdeg.programs.build import base_places, of_base_parameters, open_trace
from emdeg.programs.ir import Program
from emdeg.programs.values import evaluate_residues, input_residue
from emdeg.programs.verification import Certificate, degree_bound, verify
from emdeg.robot.model import Robot


def verify_program(
    program: Program,
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    seed: int = 0,
    points: int | None = None,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that `program` computes these functions of `robot`; raises `Refuted` where it does not.

    `base`: the regressor has the base parameters' columns only. `points` defaults to as many as are needed.
    """
    names = known_functions(function, robot)
    _check_inputs(program, robot, names)
    places = base_places(robot) if base else None
    references = [ways_of(name, robot).reference for name in names]
    return verify(
        program,
        lambda field: of_base_parameters(_outputs(field_state(robot, field, names), robot, names), places),
        formulations=("traced program", ", ".join(title for title, _ in references)),
        seed=seed,
        points=points,
        degree=_degree(robot, names),
        roots=kind_of(robot).roots(robot),
        artefact=artefact,
    )


def _check_inputs(program: Program, robot: Robot, names: Sequence[str]) -> None:
    """Refuted unless the program takes the arrays that these functions take, in their order: it decides the call."""
    kind = kind_of(robot)
    expected = [(group, kind.size(robot, group)) for group in inputs_of(names)]
    symbols = tuple(sorted(robot.symbols))
    if symbols:
        expected.append(("parameters", len(symbols)))
    found = [(group.name, group.size) for group in program.inputs]
    if found != expected:
        raise Refuted(f"{program.name}: its inputs are {found}; the function's are {expected}")
    if symbols and program.inputs[-1].labels != symbols:
        raise Refuted(f"{program.name}: its parameters are not {', '.join(symbols)}")


def field_state(robot: Robot, field: PrimeField, names: Sequence[str]) -> State:
    """A random state over the field; ZeroDivisionError where a root or quotient fails."""
    kind = kind_of(robot)
    if kind.roots(robot):  # the program shows at once whether all roots exist at this point
        evaluate_residues(_positions(robot), field)
    state = kind.state(
        robot,
        Inputs(
            field,
            lambda name, place: input_residue(field, (name, place)),
            field.joint_sincos,
            tuple(name for name in inputs_of(names) if name != "q"),
        ),
    )
    for loop, value in state.open_loops():
        if value:
            raise OffTheVariety(f"{loop} stays open")
    return state


@lru_cache(maxsize=8)
def _positions(robot: Robot) -> Program:
    """q -> every joint's position."""
    trace = open_trace(robot, ["gravity"])
    parts: list[Any] = []
    for at in trace.state().position:
        parts += at if isinstance(at, tuple) else (at,)
    return trace.tracer.program("positions", {"joints": parts})


def _outputs(state: State, robot: Robot, names: Sequence[str]) -> Outputs:
    results: dict[str, Any] = {}
    for name in names:
        found = ways_of(name, robot).reference[1](state)
        assert found is not None
        results |= found
    return results


def _degree(robot: Robot, names: Sequence[str]) -> int:
    """A bound on the degree of the reference's outputs, read off its own trace."""
    trace = open_trace(robot, names)
    results = _outputs(trace.state(), robot, names)
    return degree_bound(trace.tracer.program("reference", {f"{name}_out": value for name, value in results.items()}))
