"""A program of a robot's function, proved against the function's independent formulation.

Of gradients and Hessians a proof looks at one number along a direction that the program does not know: a gradient g is
right if g . p is, for every p; a symmetric H if p . H p is. Both are derivatives of the function along a line, which
dual numbers of an independent formulation have at little cost (`emdeg.dynamics.functions.derived`); p, a probe, is one
more input of what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import PrimeField, Residue
from emdeg.dynamics import Inputs, Outputs, State, kind_of
from emdeg.dynamics.functions import (
    CATALOGUE,
    INPUTS,
    PROBE,
    Derivation,
    input_sizes,
    inputs_of,
    known_functions,
    probe_name,
    probed_outputs,
    proved_by,
    ways_of,
)
from emdeg.errors import OffTheVariety, Refuted, TooLarge
from emdeg.programs.build import base_places, of_base_parameters, open_trace, plain_programs
from emdeg.programs.ir import NOTHING, Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref, Slot, digest_text
from emdeg.programs.proof import OPEN_LOOPS, Certificate, verify
from emdeg.programs.residues import input_residue
from emdeg.programs.simplification import prune
from emdeg.programs.values import evaluate
from emdeg.robot import Robot

MOST_JOINTS = 48
"""Of a robot whose program is proved: what the reference costs grows with the cube of the joints and more."""


def verify_program(
    program: Program,
    robot: Robot,
    function: str | Sequence[str],
    *,
    base: bool = False,
    seed: int = 0,
    points: int | None = None,
    grounds: Sequence[Program] = (),
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that `program` computes these functions of `robot`; raises `Refuted` where it does not.

    `base`: the regressor has the base parameters' columns only. `points` defaults to as many as are needed. `grounds`
    are programs of other formulations whose divisors and roots the program may share.
    """
    names = known_functions(function, robot)
    _check_inputs(program, robot, names)
    places = base_places(robot) if base and robot.n <= MOST_JOINTS else None

    def direct(at: PrimeField) -> Outputs:
        def array(name: str, size: int) -> list[Residue]:
            return [input_residue(at, (name, place)) for place in range(size)]

        sizes = input_sizes(names, robot) | probe_sizes(names, robot)
        given = {name: array(name, size) for name, size in sizes.items() if name not in INPUTS}
        return of_base_parameters(_outputs(field_state(robot, at, names), robot, names, given), places)

    return verify(
        probed(program, names),
        reference_program(robot, names, places),
        formulations=("traced program", ", ".join(proved_by(CATALOGUE[name], kind_of(robot).name) for name in names)),
        seed=seed,
        points=points,
        grounds=lambda: [
            *grounds,
            *plain_programs(robot, names, base=base),
            *plain_programs(robot, names, base=base, factored=False),
        ],
        direct=direct,
        artefact=digest_text(program).encode() if artefact is None else artefact,
    )


def reference_program(robot: Robot, names: Sequence[str], places: tuple[int, ...] | None = None) -> Program:
    """The independent formulation of these functions as a program, with what its loops lack to being closed.

    Of gradients and Hessians it has one number along a probe, a further input, as `probed` has of a program.
    """
    return _reference(robot, tuple(names), places)


@lru_cache(maxsize=16)
def _reference(robot: Robot, names: tuple[str, ...], places: tuple[int, ...] | None) -> Program:
    if robot.n > MOST_JOINTS:
        raise TooLarge(f"it has {robot.n} joints; proofs have a budget of {MOST_JOINTS}", body=robot.name)
    trace = open_trace(robot, names, probe_sizes(names, robot))
    state = trace.state()
    results = dict(of_base_parameters(_outputs(state, robot, names, trace.arrays), places))
    if loops := [value for _, value in state.open_loops()]:
        results[OPEN_LOOPS] = loops
    return prune(trace.tracer.program("_".join(names), results))


def _check_inputs(program: Program, robot: Robot, names: Sequence[str]) -> None:
    """Refuted unless the program takes the arrays that these functions take, in their order: it decides the call."""
    expected = list(input_sizes(names, robot).items())
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
    state = kind.state(
        robot,
        Inputs(
            field,
            lambda name, place: input_residue(field, (name, place)),
            field.joint_sincos,
            tuple(name for name in inputs_of(names, robot) if name != "q" and name in INPUTS),
        ),
    )
    for loop, value in state.open_loops():
        if value:
            raise OffTheVariety(f"{loop} stays open")
    return state


def _outputs(state: State, robot: Robot, names: Sequence[str], given: Mapping[str, Sequence[Any]]) -> Outputs:
    results: dict[str, Any] = {}
    for name in names:
        run, derivation = ways_of(name, robot).reference[1], CATALOGUE[name].derivation
        found = run(state) if derivation is None else probed_outputs(derivation, run, state, given)
        assert found is not None
        results |= found
    return results


def _looked_at(names: Sequence[str]) -> list[Derivation]:
    """The derivatives among functions that are not compared entry by entry."""
    found = [CATALOGUE[name].derivation for name in names]
    return [one for one in found if one is not None and one.kind != "jvp"]


def probe_sizes(names: Sequence[str], robot: Robot) -> dict[str, int]:
    """The probes that a proof of these functions has, by name, with their sizes."""
    return {
        array + PROBE: size for how in _looked_at(names) for array, size in input_sizes([how.of.name], robot).items()
    }


def probed(program: Program, names: Sequence[str]) -> Program:
    """The program with its gradients and Hessians along probes in their place; its own operations stay first."""
    if not _looked_at(names):
        return program
    ops, inputs = list(program.ops), {group.name: group for group in program.inputs}
    given = {group.name: group for group in program.outputs}
    outputs: list[OutputGroup] = []

    def put(kind: Kind, *args: int, payload: Slot | None = None) -> int:
        ops.append(Op(kind, args, payload))
        return len(ops) - 1

    for name in names:
        how, own = CATALOGUE[name].derivation, [one.name for one in CATALOGUE[name].outputs]
        if how is None or how.kind == "jvp":
            outputs += [given[one] for one in own if one in given]
            continue
        for array in how.of.inputs:
            size = inputs[array].size if array in inputs else 0
            inputs.setdefault(array + PROBE, InputGroup(array + PROBE, size, Dependence.RATES))
        p = [
            put(Kind.INPUT, payload=(array + PROBE, k))
            for array in how.of.inputs
            for k in range(inputs[array + PROBE].size)
        ]
        entries = [ref for one in own if one in given for ref in given[one].entries]
        if how.kind == "hessian":
            products = [(i, j, put(Kind.MUL, p[i], p[j])) for i in range(len(p)) for j in range(i + 1)]
            p = [at if i == j else put(Kind.ADD, at, at) for i, j, at in products]
        if len(p) != len(entries):
            raise Refuted(f"{program.name}: the outputs of {name} have {len(entries)} entries, not {len(p)}")
        total: Ref = NOTHING
        for factor, ref in zip(p, entries):
            if ref.sign:
                term = put(Kind.MUL, factor, ref.value)
                if not total.sign:
                    total = Ref(term, ref.sign)
                else:  # total.sign (total +- term)
                    kind = Kind.ADD if ref.sign == total.sign else Kind.SUB
                    total = Ref(put(kind, total.value, term), total.sign)
        outputs.append(OutputGroup(probe_name(how), (), (total,)))
    return replace(program, inputs=tuple(inputs.values()), ops=tuple(ops), outputs=tuple(outputs))


Run = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]


def probing(run: Run, program: Program, names: Sequence[str]) -> Run:
    """What computes the outputs of `program`, made to compute those of `probed(program, names)`."""
    if not _looked_at(names):
        return run
    # A program that hands on what was computed, looked at as any other is.
    groups = [InputGroup(f"computed_{one.name}", len(one.entries), Dependence.RATES) for one in program.outputs]
    slots = [(group.name, k) for group in groups for k in range(group.size)]
    places = {slot: k for k, slot in enumerate(slots)}
    handed = tuple(
        replace(one, entries=tuple(Ref(places[group.name, k]) for k in range(group.size)))
        for one, group in zip(program.outputs, groups)
    )
    ops = tuple(Op(Kind.INPUT, payload=slot) for slot in slots)
    looking = probed(Program(program.name, (*program.inputs, *groups), ops, handed), names)

    def looked(states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        own = {group.name: states[group.name] for group in program.inputs}
        found = run(own)
        rows = len(next(iter(states.values())))
        computed = {group.name: np.reshape(found[one.name], (rows, -1)) for one, group in zip(program.outputs, groups)}
        return evaluate(looking, {**states, **computed}, next(iter(computed.values())).dtype.type)

    return looked
