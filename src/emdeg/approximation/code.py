"""C of approximate models and programs: its error certified; the verification record holds both.

`recheck_approximate` repeats both: the stored program prints to the generated file and equals the stored entries, and
the stored error bounds the difference between these and the robot's own entries, derived anew, over the stored box.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from secrets import randbits
from typing import Any

from emdeg._version import __version__
from emdeg.approximation.approximation import Approximation
from emdeg.approximation.statement import (
    StatedModel,
    read_stated,
    show_again,
    show_program_again,
    stated_model,
    stated_program,
)
from emdeg.codegen.artefact import Artefact, executing, measured_errors
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.execution import Executed, Execution, compiled_c
from emdeg.codegen.identity import (
    FORMAT,
    PROOF,
    SIGNATURE,
    check_command,
    check_points,
    check_said,
    found_of,
    only_known,
    robot_data,
    stored_robot,
)
from emdeg.codegen.infix import identifier
from emdeg.errors import NotAProgram, NotCertified, OffTheVariety, Refuted, RobotError
from emdeg.programs import (
    Certificate,
    Program,
    Rounding,
    check_rounding,
    count,
    formulas_program,
    from_data,
    function_inputs,
    plain_program,
    reference_program,
    states_of,
    to_data,
    verify,
    verify_program,
)
from emdeg.robot import Robot

FORMULATIONS = ("program of the short model", "M qdd + b [qd qd] + c [qd^2] + g from its entries")


@dataclass(frozen=True, slots=True)
class _Claim:
    """What is said about an approximate program, and how it is shown."""

    robot: Robot
    function: str
    program: Program
    stated: Mapping[str, Any]
    """The box and the errors, as a certificate has them."""
    reference: Program
    """What the program computes exactly."""
    prove: Callable[..., Certificate]
    show: Callable[[], None]
    """NotCertified where the stated errors cannot be shown."""


def _of_model(model: StatedModel, program: Program) -> _Claim:
    """A program equals the model's entries; these differ from the robot's by no more than is stated."""
    robot = model.full.robot
    entries = formulas_program(robot, model.entries)

    def prove(**options: Any) -> Certificate:
        return verify(program, entries, formulations=FORMULATIONS, grounds=list, **options)

    return _Claim(robot, "inverse_dynamics", program, model.data(), entries, prove, lambda: show_again(model))


def _of_program(robot: Robot, program: Program, stated: Mapping[str, Any]) -> _Claim:
    """A program differs from the robot's plain one, which is proved, by no more than is stated."""
    function = str(stated["function"])

    def prove(**options: Any) -> Certificate:
        return verify_program(plain_program(robot, function), robot, function, **options)

    # What an error bounds has its rounding in it; without one the program computes the function itself.
    exact = not any(stated["certified_error"])
    reference = reference_program(robot, (function,)) if exact else program
    return _Claim(
        robot, function, program, stated, reference, prove, lambda: show_program_again(robot, program, stated)
    )


def make_approximate_artefact(
    found: Approximation, program: Program | None = None, *, file: str, command: str = "", seed: int = 0
) -> Artefact:
    """C of an approximate program, at two rates, with the verification record of its error.

    A program that was searched for is recorded with its error against the robot's own function, of which the
    unoptimized program is verified. One of a model's terms (by default the one that `program` of the approximation
    gives) is verified to equal these, and their error is recorded; `Refuted` where it is another model's. The function
    has the name of the `file`, as far as C allows.
    """
    inputs = function_inputs(found.robot, [found.function])
    program = replace(program or found.program(), inputs=inputs)
    if found.approximate is None:
        return _made(_of_model(stated_model(found), program), file, command, seed)
    return _made(_of_program(found.robot, program, stated_program(found)), file, command, seed)


def _made(claim: _Claim, file: str, command: str, seed: int) -> Artefact:
    robot, program = claim.robot, claim.program
    text = _printed(program, robot.name, file, command)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": file,
        **found_of(claim.prove(seed=seed, artefact=text.encode())),
        "rounding": asdict(_rounding(claim, seed)),
        "float_error_ulps": measured_errors(program, robot),
        "operations": count(program).as_dict(),
        "robot": robot_data(robot),
        "program": to_data(program),
        "short": {"command": command, **claim.stated},
    }
    return Artefact(file, text, certificate)


def _rounding(claim: _Claim, seed: int, run: Executed | None = None) -> Rounding:
    others = {} if run is None else run.others
    states = states_of(claim.program, claim.robot, seed, claim.reference.size)
    return check_rounding(claim.program, claim.reference, states, run=run, others=others)


def _printed(program: Program, robot: str, file: str, command: str) -> str:
    return emit_c(program, COptions(multirate=True, robot=robot, command=command), name=Path(file).stem)


_KEYS = {
    *PROOF,
    *("format", "emdeg", "artefact", "rounding", "float_error_ulps", "operations", "robot", "program", "short"),
    SIGNATURE,
}


def recheck_approximate(text: bytes, certificate: dict[str, Any]) -> Execution:
    """What was executed, after function and error were shown again for the artefact `text`; else NotCertified."""
    try:
        only_known(certificate, _KEYS)
        claim = _stored(certificate)
        file, command = str(certificate["artefact"]), str(certificate["short"]["command"])
        check_command(command, "abbreviate", str(certificate["robot"]["digest"]))
        printed = _printed(claim.program, str(certificate["robot"]["name"]), file, command).encode()
        inputs = function_inputs(claim.robot, [claim.function])
        points, seed = certificate["points"], certificate["seed"]
    except (LookupError, TypeError, AttributeError, NotAProgram, RobotError, ValueError, OverflowError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if hashlib.sha256(text).hexdigest() != certificate.get("digest"):
        raise NotCertified("the artefact was changed: its digest is not the certificate's")
    if printed != text:
        raise NotCertified(
            f"the stored program does not print to this artefact (it was made by emdeg {certificate['emdeg']})"
        )
    if certificate["short"] != {"command": command, **claim.stated}:
        raise NotCertified("the certificate was changed: what it says about the short program is not what that has")
    if claim.program.inputs != inputs:
        raise NotCertified("its inputs or their labels are not the function's")
    check_points(points)
    try:
        proof = claim.prove(seed=seed, points=points, artefact=text)
        rounding, execution = executing(
            compiled_c,
            text.decode(),
            identifier(Path(file).stem),
            claim.program,
            lambda run: _rounding(claim, randbits(60), run),
            multirate=True,
        )
        claim.show()
    except (Refuted, OffTheVariety, ValueError) as problem:
        raise NotCertified(f"the artefact is wrong: {problem}") from None
    except (LookupError, TypeError, AttributeError) as problem:  # a box that is none
        raise NotCertified(f"the certificate is damaged: {type(problem).__name__} {problem}") from None
    check_said(certificate, found_of(proof), claim.program, rounding, measured_errors(claim.program, claim.robot))
    return execution


def _stored(certificate: Mapping[str, Any]) -> _Claim:
    """What a certificate claims; ValueError or the like where it claims nothing that can be shown."""
    robot, program = stored_robot(certificate["robot"]), from_data(certificate["program"])
    given = certificate["short"]
    if "entries" in given:
        return _of_model(read_stated(robot, given), program)
    parameters = ("base_parameters",) if "base_parameters" in given else ()
    stated = {key: given[key] for key in ("function", "box", "certified_error", "found_error", *parameters)}
    numbers = [*stated["certified_error"], *stated["found_error"]]
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in numbers):
        raise ValueError("its errors are no numbers")
    return _of_program(robot, program, stated)
