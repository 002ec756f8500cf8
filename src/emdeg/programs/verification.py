"""Proof that a program computes what an independent formulation computes, and a certificate that says so.

Both are evaluated modulo primes, drawn from a large set when the proof is made, at random points, and must agree
exactly. `docs/verification.md` states the theorem; its hypotheses are checked here: two different functions agree at a
point with a probability that their degree and the height of their numbers bound; a root is one that the independent
formulation takes too, and roots are independent or taken with every sign; a divisor is one of the independent or the
plain formulations', or a number that is not zero; an angle stands in sines and cosines alone.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from emdeg.algebra import MODULO, REMAINDER, PrimeField, Residue
from emdeg.errors import OffTheVariety, Refuted, TooLarge
from emdeg.mechanics import Inputs, Outputs, State, kind_of
from emdeg.mechanics.functions import (
    CATALOGUE,
    INPUTS,
    input_sizes,
    inputs_of,
    known_functions,
    probed_outputs,
    ways_of,
)
from emdeg.programs.build import base_places, of_base_parameters, open_trace, plain_programs
from emdeg.programs.ir import Program
from emdeg.programs.probes import probe_sizes, probed
from emdeg.programs.proof import LUCK, OPEN_LOOPS, Direct, Proof
from emdeg.programs.simplification import prune
from emdeg.programs.values import input_residue
from emdeg.robot import Robot
from emdeg.writing import Shown

FALSE_PASS = 1e-15
"""The probability of a false pass that a certificate must stay below."""
DRAWN = f"between 2^60 and 2^63, {REMAINDER} modulo {MODULO}, drawn when the proof is made"
"""What a certificate says about its primes."""


@dataclass(frozen=True, slots=True)
class Certificate(Shown):
    """What was checked and how to check it again. `digest` is the sha256 of the artefact's bytes.

    `points` were drawn anew, each with a prime of its own; one more comes from the `seed`, so that a failure there can
    be repeated. `height_bound` is the number of bits of the largest number in a difference. `divides_by` names, for
    each divisor that is no number, the operation of the program and the formulation that divides by the same.
    """

    program: str
    formulations: tuple[str, str]
    primes: str
    seed: int
    points: int
    degree_bound: int
    height_bound: int
    false_pass_probability: float
    divides_by: tuple[tuple[int, str], ...]
    digest: str

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def verify(
    program: Program,
    independent: Program,
    *,
    formulations: tuple[str, str] = ("program", "reference"),
    seed: int = 0,
    points: int | None = None,
    grounds: Callable[[], Sequence[Program]] | None = None,
    direct: Direct | None = None,
    artefact: bytes | None = None,
) -> Certificate:
    """A certificate that both compute the same outputs; raises `Refuted` at the first point that differs.

    `points` defaults to as many as FALSE_PASS needs. `grounds` yields further programs whose divisors and radicands are
    as good as the independent one's; None: any divisor and radicand will do. `direct` is the independent formulation
    without a trace: at one point it must yield what its trace does.
    """
    proof = Proof(program, independent, grounds)
    degree, bits, miss = proof.chance()
    if miss > LUCK:
        raise ValueError(
            f"{program.name}: its degree, {degree}, or its numbers, {bits} bits, are too large for a proof"
        )
    if points is None:
        points = 1
        while miss**points >= FALSE_PASS:
            points += 1
    proof.check(f"{seed} and 0", "the seed's point")
    for number in range(points):
        proof.check(secrets.token_hex(32), f"point {number}", direct if number == 0 else None)
    proof.show_roots_independent(points)
    digest = hashlib.sha256(artefact if artefact is not None else digest_text(program).encode()).hexdigest()
    probability = max(miss**points, 1e-300)
    return Certificate(
        program.name, formulations, DRAWN, seed, points, degree, bits, probability, proof.divides_by, digest
    )


def digest_text(program: Program) -> str:
    """The program as text, one operation a line: what a digest of a bare program is taken of."""
    lines = [program.name]
    lines += [f"{group.name} {group.size} {group.depends.name}" for group in program.inputs]
    for op in program.ops:
        lines.append(" ".join([op.kind.value, *map(str, op.args), "" if op.payload is None else repr(op.payload)]))
    for group in program.outputs:
        lines.append(f"{group.name} {group.shape} " + " ".join(f"{r.sign}*{r.value}" for r in group.entries))
    return "\n".join(lines) + "\n"


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
        reference_program(robot, tuple(names), places),
        formulations=("traced program", ", ".join(CATALOGUE[name].proof(kind_of(robot).name) for name in names)),
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


@lru_cache(maxsize=16)
def reference_program(robot: Robot, names: tuple[str, ...], places: tuple[int, ...] | None = None) -> Program:
    """The independent formulation of these functions as a program, with what its loops lack to being closed.

    Of gradients and Hessians it has one number along a probe, a further input, as `probed` has of a program.
    """
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
            tuple(name for name in inputs_of(names) if name != "q" and name in INPUTS),
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
