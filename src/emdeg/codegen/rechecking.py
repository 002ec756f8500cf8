"""What a certificate says is repeated: the text printed again, the proof, the execution; and what was stored is used.

A certificate may come from a stranger. Everything is taken from it, and nothing is believed.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from secrets import randbits
from typing import Any

from emdeg.codegen.artefact import (
    SLOPES,
    Request,
    as_bytes,
    beside,
    emit,
    executing,
    file_of,
    function_arrays,
    measured_errors,
    options_of,
    rounding_of,
    units_of,
    where_defined,
)
from emdeg.codegen.execution import Executed, Execution, interpreted_companion
from emdeg.codegen.identity import (
    CHOICES,
    PROOF,
    SIGNATURE,
    check_points,
    check_robot_named,
    check_robot_told,
    check_said,
    found_of,
    only_known,
    same_format,
    stored_robot,
)
from emdeg.codegen.infix import escaped
from emdeg.codegen.targets import TARGETS
from emdeg.dynamics.functions import WITH_FRICTION, known_functions, parts_of, with_friction_in
from emdeg.errors import (
    BadRequest,
    EmdegError,
    NotAProgram,
    NotCertified,
    NotGrounded,
    OffTheVariety,
    OverBudget,
    Refuted,
)
from emdeg.programs import (
    InputGroup,
    Program,
    check_slopes,
    companions_of,
    from_data,
    states_of,
    verify_program,
)
from emdeg.robot import Robot


def beside_stored(text: bytes, certificate: Mapping[str, Any]) -> dict[str, str]:
    """The files that go with the artefact of a certificate that was found to hold."""
    if "short" in certificate:
        return {}
    request, _, program = _stored(certificate)
    return beside(text.decode() if TARGETS[request.target].is_text else text, program, request)


def stored_where_defined(certificate: Mapping[str, Any]) -> dict[str, list[int]]:
    """The same of an artefact whose certificate was found to hold."""
    _, robot, program = _stored(certificate)
    return where_defined(program, robot, certificate)


def check_run_of_stored(certificate: Mapping[str, Any], run: Executed) -> None:
    """Refuted where `run` rounds otherwise than the program of a certificate that was found to hold may."""
    request, robot, program = _stored(certificate)
    rounding_of(program, robot, request, certificate["divides_by"], seed=randbits(60), run=run)


def recheck(text: bytes, certificate: Any) -> Execution:
    """What was executed, after all that a certificate says was found to hold for the artefact; else NotCertified.

    The bytes have the digest; the stored program prints to these bytes, header and all; its inputs have the stored
    robot's joints' names; the program equals an independent formulation of the stored robot at fresh points, and at one
    of the stored seed, and a stored Jacobian is the program's; executed at fresh states, the text itself where its
    language is at hand, it rounds as it may; counts, units, probability and errors are those stated. The signature is
    not looked at here.
    """
    same_format(certificate)
    try:
        request, robot, program = _stored(certificate)
        slopes = _stored_slopes(certificate, request)
        stated = {key: certificate[key] for key in PROOF if key != "roots_of"}
        name = certificate["robot"]["name"]  # as its file says it; the robot is stored under a plainer one
        _check_command(request, certificate["robot"]["digest"], robot)
        inputs = function_arrays(robot, request)
    except OverBudget:
        raise
    except (KeyError, TypeError, NotAProgram, EmdegError, ValueError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if hashlib.sha256(text).hexdigest() != stated["digest"]:
        raise NotCertified("the artefact was changed: its digest is not the certificate's")
    try:
        printed = as_bytes(emit(program, name, request, slopes))
    except OverBudget:
        raise
    except (Refuted, NotGrounded) as problem:
        raise NotCertified(f"the artefact is wrong: its Jacobian is not the function's: {problem}") from None
    except (KeyError, IndexError, ValueError, OverflowError, BadRequest) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if printed != text:
        llvm = "; PTX is LLVM's text, whose version may be another" if request.target == "ptx" else ""
        made = f"it was made by emdeg {certificate.get('emdeg')}{llvm}"
        raise NotCertified(f"the stored program does not print to this artefact ({made})")
    if program.inputs != inputs:
        raise NotCertified(f"its inputs or their labels are not the function's: {_told(program.inputs, inputs)}")
    check_points(stated["points"])
    try:
        proof = verify_program(
            program,
            robot,
            request.functions,
            base=request.base,
            seed=stated["seed"],
            points=stated["points"],
            artefact=text,
        )
        target = TARGETS[request.target]
        rounding, execution = executing(
            target.execute,
            text.decode() if target.is_text else text,
            request.name,
            program,
            lambda run: rounding_of(program, robot, request, proof.divides_by, seed=randbits(60), run=run),
            **options_of(request, slopes),
        )
        if slopes is not None and execution.not_because:
            jacobian = next(companions_of(program, slopes))
            states = states_of(program, robot, randbits(60), program.size)
            divisors = [index for index, _ in proof.divides_by]
            check_slopes(program, states, {jacobian.prefix: interpreted_companion(jacobian, program)}, divisors)
    except OverBudget:
        raise
    except (Refuted, OffTheVariety, ValueError) as problem:
        raise NotCertified(f"the artefact is wrong: {problem}") from None
    found = {"artefact": file_of(request), "units": units_of(request), **found_of(proof)}
    check_said(certificate, found, program, rounding, measured_errors(program, robot))
    return execution


def _told(found: Sequence[InputGroup], expected: Sequence[InputGroup]) -> str:
    def words(groups: Sequence[InputGroup]) -> str:
        texts = (f"{g.name}[{g.size}] {g.depends.name.lower()} ({', '.join(map(escaped, g.labels))})" for g in groups)
        return "; ".join(texts)[:300]

    return f"{words(found)}, expected {words(expected)}"


_SEARCH = {"--effort", "--seed", "--weights"}
"""Options that choose among programs, any of which a proof can show right."""


def _check_command(request: Request, digest: str, robot: Robot) -> None:
    """ValueError where the header's command would make something else than the request: another function or robot.

    `robot` is the stored one, `digest` that of the one that was named.
    """
    if not request.command:
        return
    words = shlex.split(request.command)
    word, options = (words[2], words[3:]) if len(words) > 2 else ("", [])
    given: dict[str, str] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name in given and name not in CHOICES:
            raise ValueError(f"its command says {name} twice")
        given[name] = value
    flags = {
        "--batch": request.batch,
        "--casadi": request.casadi,
        "--acados": request.acados,
        "--multirate": request.multirate,
    }
    flags |= {"--float": request.single, "--base": request.base, "--loader": request.loader}
    chosen = {"--trig": request.trig, "--layout": request.layout, "--sm": str(request.sm)}
    chosen |= {"--cpu": request.cpu}
    plain = {"--trig": "libm", "--layout": "rows", "--sm": "75", "--cpu": ""}
    wanted = {
        "--function": "+".join(request.functions),
        "--target": request.target,
        "--out": ".",
        **{name: "" for name, on in flags.items() if on},
        **{name: value for name, value in chosen.items() if name in given or value != plain[name]},
        **({"--name": request.robot_name} if "--name" in given else {}),
        **({"--prefix": request.prefix} if request.prefix else {}),
    }
    said = {name: value for name, value in given.items() if name not in CHOICES | _SEARCH}
    names = parts_of(said.get("--function", ""))
    rubbing = said.pop("--friction", None) == ""
    if rubbing:
        names = [with_friction_in(name) or name for name in names]
    said["--function"] = "+".join(names)
    named = "--name" in given or Path(word).stem == request.robot_name
    if words[:2] != ["emdeg", "generate"] or said != wanted or rubbing != request.friction or not named:
        raise ValueError(f"its command is not the one that makes it: {escaped(request.command)[:200]}")
    check_robot_named(word, options, digest)
    check_robot_told(options, robot)


_KEYS = {
    *PROOF,
    *(
        "format",
        "emdeg",
        "artefact",
        "rounding",
        "float_error_ulps",
        "operations",
        "units",
        "request",
        "robot",
        "program",
    ),
    SLOPES,
    SIGNATURE,
}
_LATER = {"layout", "sm", "loader", "prefix", "cpu", "acados", "friction"}
"""Of a request: what certificates written before it was there do not say."""


def _stored(certificate: Any) -> tuple[Request, Robot, Program]:
    only_known(certificate, _KEYS)
    given = certificate["request"]
    kinds = {each.name: str(each.type) for each in fields(Request)}
    later = {each.name: each.default for each in fields(Request) if each.name in _LATER}
    later["friction"] = any(WITH_FRICTION in str(name) for name in given["functions"])
    given = {**later, **given}
    types = {"bool": bool, "int": int}
    plain = set(given) == set(kinds) and all(
        type(given[name]) is (list if name == "functions" else types.get(kind, str)) for name, kind in kinds.items()
    )
    if not plain or given["target"] not in TARGETS or given["trig"] not in ("libm", "inline") or not given["functions"]:
        raise ValueError("its request is not one of this program's")
    strange = [
        each.name
        for each in fields(Request)
        if each.name in _LATER - TARGETS[given["target"]].options - {"prefix", "friction"}
        and given[each.name] != each.default
    ]
    if strange or given["layout"] not in ("rows", "entries"):
        raise ValueError(f"its request has options that its target has not: {', '.join(strange) or 'layout'}")
    request = Request(**{**given, "functions": tuple(given["functions"])})
    robot = stored_robot(certificate["robot"])
    known_functions(request.functions, robot)
    return request, robot, from_data(certificate["program"])


def _stored_slopes(certificate: Mapping[str, Any], request: Request) -> Program | None:
    if SLOPES not in certificate:
        return None
    if not request.casadi:
        raise ValueError("it has a Jacobian, and nothing that asks for one")
    return from_data(certificate[SLOPES])
