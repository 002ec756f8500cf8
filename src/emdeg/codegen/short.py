"""A short model's C: proved equal to the model's entries, its error certified; the certificate holds both.

`recheck_short` repeats both: the stored program prints to the artefact and equals the stored entries, and the stored
error bounds the difference between these and the robot's own entries, derived anew, over the stored box.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path
from secrets import randbits
from typing import Any

from emdeg._version import __version__
from emdeg.codegen.artefact import FORMAT, Artefact, executing, measured_errors
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.execution import Executed, Execution, compiled_c
from emdeg.codegen.identity import robot_data, stored_robot
from emdeg.codegen.infix import identifier
from emdeg.errors import NotAProgram, NotCertified, Refuted, RobotError
from emdeg.programs import (
    FALSE_PASS,
    Program,
    Rounding,
    check_rounding,
    count,
    from_data,
    plain_program,
    states_of,
    to_data,
    verify,
    verify_program,
)
from emdeg.reduce import (
    ShortProgram,
    StatedModel,
    inverse_dynamics_of,
    read_stated,
    show_again,
    show_program_again,
    stated_program,
)
from emdeg.robot import Robot

FORMULATIONS = ("program of the short model", "M qdd + b [qd qd] + c [qd^2] + g from its entries")


def make_short_artefact(
    model: StatedModel, program: Program, *, file: str, command: str = "", seed: int = 0
) -> Artefact:
    """C of a program of a short model, in two rates, with its certificate; `Refuted` where it is another's.

    The function has the name of the `file`, as far as C allows.
    """
    robot = model.short.full.robot
    text = _printed(program, robot.name, file, command)
    proof = verify(
        program,
        inverse_dynamics_of(model.short),
        formulations=FORMULATIONS,
        seed=seed,
        grounds=list,
        artefact=text.encode(),
    )
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": file,
        **{key: value for key, value in proof.as_dict().items() if key != "program"},
        "formulations": list(proof.formulations),
        "rounding": asdict(_rounding(program, inverse_dynamics_of(model.short), robot, seed)),
        "float_error_ulps": measured_errors(program, robot),
        "operations": count(program).as_dict(),
        "robot": robot_data(robot),
        "program": to_data(program),
        "short": {"command": command, **model.data()},
    }
    return Artefact(file, text, certificate)


def _rounding(program: Program, reference: Program, robot: Robot, seed: int, run: Executed | None = None) -> Rounding:
    """How a program of a short model rounds; `reference` says exactly what it computes."""
    others = {} if run is None else run.others
    states = states_of(program, robot, seed, reference.size)
    return check_rounding(program, reference, states, run=run, others=others)


def make_short_program_artefact(found: ShortProgram, *, file: str, command: str = "", seed: int = 0) -> Artefact:
    """C of a short program, in two rates, with the certificate of its error against the robot's own function.

    What is proved is the robot's plain program, to which the error refers; the short one is that but for the error.
    """
    robot, program = found.robot, found.program
    text = _printed(program, robot.name, file, command)
    proof = verify_program(plain_program(robot, found.function), robot, found.function, seed=seed)
    certificate: dict[str, Any] = {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": file,
        **{key: value for key, value in proof.as_dict().items() if key != "program"},
        "digest": hashlib.sha256(text.encode()).hexdigest(),
        "formulations": list(proof.formulations),
        "rounding": asdict(_rounding(program, program, robot, seed)),
        "float_error_ulps": measured_errors(program, robot),
        "operations": count(program).as_dict(),
        "robot": robot_data(robot),
        "program": to_data(program),
        "short": {"command": command, **stated_program(found)},
    }
    return Artefact(file, text, certificate)


def _show_program_again(robot: Robot, program: Program, given: dict[str, Any], proved: Any) -> None:
    """NotCertified unless the robot's plain program is proved anew and the stated errors to it are found again."""
    function = str(given["function"])
    try:
        proof = verify_program(plain_program(robot, function), robot, function)
    except (Refuted, ValueError) as problem:
        raise NotCertified(f"the exact program is wrong: {problem}") from None
    if proof.false_pass_probability >= FALSE_PASS or list(proof.formulations) != proved:
        raise NotCertified("the exact program that the error refers to is not proved as stated")
    show_program_again(robot, program, given)


def _printed(program: Program, robot: str, file: str, command: str) -> str:
    return emit_c(program, COptions(multirate=True, robot=robot, command=command), name=Path(file).stem)


def _execute(text: bytes, file: str, program: Program, reference: Program, robot: Robot) -> Execution:
    """What was executed of the text; Refuted where it rounds as it may not."""
    _, execution = executing(
        compiled_c,
        text.decode(),
        identifier(Path(file).stem),
        program,
        lambda run: _rounding(program, reference, robot, randbits(60), run),
        multirate=b"_rates(" in text,
    )
    return execution


def recheck_short(text: bytes, certificate: dict[str, Any]) -> Execution:
    """What was executed, after function and error were shown again for the artefact `text`; else NotCertified."""
    try:
        robot, program = stored_robot(certificate["robot"]), from_data(certificate["program"])
        given = certificate["short"]
        words = (str(certificate["robot"]["name"]), str(certificate["artefact"]), str(given["command"]))
        printed = _printed(program, *words).encode()
        model = read_stated(robot, given) if "entries" in given else None
    except (KeyError, TypeError, NotAProgram, RobotError, ValueError, OverflowError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if hashlib.sha256(text).hexdigest() != certificate.get("digest"):
        raise NotCertified("the artefact was changed: its digest is not the certificate's")
    if printed != text:
        raise NotCertified(
            f"the stored program does not print to this artefact (it was made by emdeg {certificate.get('emdeg')})"
        )
    if model is None:
        if certificate.get("operations") != count(program).as_dict():
            raise NotCertified("the certificate was changed: its operations are not the program's")
        try:
            execution = _execute(text, words[1], program, program, robot)
        except (Refuted, ValueError) as problem:
            raise NotCertified(f"the artefact is wrong: {problem}") from None
        _show_program_again(robot, program, given, certificate.get("formulations"))
        return execution
    try:
        proof = verify(
            program, inverse_dynamics_of(model.short), formulations=FORMULATIONS, grounds=list, artefact=text
        )
        execution = _execute(text, words[1], program, inverse_dynamics_of(model.short), robot)
    except (Refuted, ValueError) as problem:
        raise NotCertified(f"the artefact is wrong: {problem}") from None
    if proof.false_pass_probability >= FALSE_PASS:
        raise NotCertified(f"a false pass has probability {proof.false_pass_probability:.1g}")
    found = {"operations": count(program).as_dict(), "formulations": list(FORMULATIONS)}
    for key, value in found.items():
        if certificate.get(key) != value:
            raise NotCertified(f"the certificate was changed: {key} is {certificate.get(key)!r}, found {value!r}")
    show_again(model)
    return execution
