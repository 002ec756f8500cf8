"""A robot's function as an artefact: a text that was proved right before it leaves, and its certificate.

The certificate holds everything needed to repeat the proof without the place the artefact came from: the robot, the
program number for number, the options of the printer, seed and points. `recheck` repeats it.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from secrets import randbits
from typing import Any, Literal

from emdeg._version import __version__
from emdeg.codegen.execution import Executed, Execution, interpreted_companion
from emdeg.codegen.identity import (
    CHOICES,
    FORMAT,
    PROOF,
    SIGNATURE,
    check_points,
    check_robot_named,
    check_said,
    found_of,
    only_known,
    robot_data,
    same_format,
    signed,
    stored_robot,
)
from emdeg.codegen.infix import escaped, identifier
from emdeg.codegen.targets import TARGETS, Target
from emdeg.errors import (
    BadRequest,
    EmdegError,
    NotAProgram,
    NotCertified,
    NotExecutable,
    NotGrounded,
    OffTheVariety,
    OverBudget,
    Refuted,
)
from emdeg.mechanics import kind_of
from emdeg.mechanics.functions import CATALOGUE, WITH_FRICTION, known_functions, with_friction_in
from emdeg.programs import (
    PLAIN,
    Certificate,
    InputGroup,
    Program,
    Rounding,
    base_places,
    check_rounding,
    check_slopes,
    companions_of,
    count,
    float_error,
    from_data,
    function_inputs,
    limits_box,
    nowhere_negative,
    nowhere_zero,
    plain_program,
    prefixes_of,
    probed,
    probing,
    reference_program,
    states_of,
    to_data,
    verify_program,
)
from emdeg.robot import Robot

SLOPES = "slopes"
"""In a certificate: the program of the Jacobian, where one was handed in."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to emit. `robot_name` begins the artefact's name; `command` stands in its header comment.

    The options after `base` are some targets' only: `targets` says whose.
    """

    functions: tuple[str, ...]
    target: Target = "c"
    robot_name: str = "robot"
    command: str = ""
    base: bool = False
    trig: Literal["libm", "inline"] = "libm"
    batch: bool = False
    casadi: bool = False
    acados: bool = False
    multirate: bool = False
    single: bool = False
    layout: Literal["rows", "entries"] = "rows"
    sm: int = 75
    loader: bool = False
    prefix: str = ""
    """Stands in front of the robot's name."""
    cpu: str = ""
    friction: bool = False
    """Whether friction was asked for by itself: then it is in the functions, and not in their names."""

    @property
    def name(self) -> str:
        """The function's name and the file's stem."""
        called = [name.replace(WITH_FRICTION, "") if self.friction else name for name in self.functions]
        return identifier("_".join([self.prefix + self.robot_name, *called]))


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file's name and text, its certificate's data, where it was written, if it was, and files that go with it."""

    file: str
    text: str | bytes = field(repr=False)
    certificate: dict[str, Any] = field(repr=False)
    path: Path | None = None
    beside: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Texts of further files, by name: C's header."""
    left_out: tuple[str, ...] = field(default=(), repr=False)
    """Functions that CasADi looks for and does not find, since they are too long for a compiler."""


def make_artefact(
    robot: Robot,
    request: Request,
    *,
    seed: int = 0,
    program: Program | None = None,
    slopes: Program | None = None,
    key: Path | None = None,
) -> Artefact:
    """The artefact, verified; raises `Refuted` rather than hand out one that is wrong.

    `program` replaces the one that `emdeg.program` derives; it is proved like any other, and so is `slopes`, a program
    of its Jacobian for CasADi (see `emdeg.programs.companions_of`). `key`, a private key's file, signs the certificate.
    """
    built = plain_program(robot, request.functions, base=request.base) if program is None else program
    built = replace(built, inputs=_inputs(robot, request))  # the labels that whoever reads the certificate expects
    text = emit(built, robot.name, request, slopes)
    proof = verify_program(built, robot, request.functions, base=request.base, seed=seed, artefact=as_bytes(text))
    rounding = rounding_of(built, robot, request, proof.divides_by, seed=seed)
    certificate = _certificate(robot_data(robot), request, built, proof, rounding, measured_errors(built, robot))
    certificate |= {} if slopes is None else {SLOPES: to_data(slopes)}
    signed_or_not = certificate if key is None else signed(certificate, key)
    others, left_out = beside(text, built, request), _left_out(text, built, request)
    return Artefact(_file(request), text, signed_or_not, beside=others, left_out=left_out)


def _left_out(text: str | bytes, program: Program, request: Request) -> tuple[str, ...]:
    wanted = [f"{prefix}_{request.name}_casadi" for prefix in prefixes_of(program)] if request.casadi else []
    return tuple(name for name in wanted if f"int {name}(".encode() not in as_bytes(text))


def _inputs(robot: Robot, request: Request) -> tuple[InputGroup, ...]:
    """The input arrays that the functions have: names, sizes, the joints' names as labels."""
    return function_inputs(robot, request.functions)


def rounding_of(
    program: Program,
    robot: Robot,
    request: Request,
    divides_by: Sequence[Sequence[Any]],
    *,
    seed: int,
    run: Executed | None = None,
) -> Rounding:
    """What floating point makes of the program, or of what `run` executes; Refuted where that is too much.

    `divides_by` is a proof's.
    """
    reference = reference_program(robot, request.functions, base_places(robot) if request.base else None)
    named = [index for index, whose in divides_by if whose == PLAIN]
    looked = probed(program, request.functions)
    states = states_of(looked, robot, seed, reference.size)
    others = {} if run is None else run.others
    found = check_rounding(
        looked,
        reference,
        states,
        run=None if run is None else probing(run, program, request.functions),
        others={name: probing(other, program, request.functions) for name, other in others.items()},
        single=request.single,
        named=named,
    )
    divisors = [index for index, _ in divides_by]
    if run is not None and run.slopes:
        check_slopes(program, states, run.slopes, divisors)
    if run is not None and run.slopes_held:
        check_slopes(program, states, run.slopes_held, divisors, held=("parameters",))
    return found


def executing(
    execute: Callable[..., Executed],
    text: str | bytes,
    name: str,
    program: Program,
    check: Callable[[Executed | None], Rounding],
    **options: Any,
) -> tuple[Rounding, Execution]:
    """What `check` finds about the text as it is executed, or of the program where it cannot be; and which it was."""
    try:
        run = execute(text, name, program, **options)
        return check(run), Execution(run.by, run.functions(name), run.left_out)
    except NotExecutable as problem:
        return check(None), Execution(not_because=f"{problem}; the program was, in floating point")


def emit(program: Program, robot: str, request: Request, slopes: Program | None = None) -> str | bytes:
    """The text of a program in the target's language, or the bytes of an object."""
    emitting = TARGETS[request.target].emit
    options = _options(request, slopes)
    return emitting(program, name=request.name, robot=robot, command=request.command, **options)


def as_bytes(text: str | bytes) -> bytes:
    """What is written to a file."""
    return text.encode() if isinstance(text, str) else text


def _options(request: Request, slopes: Program | None = None) -> dict[str, Any]:
    """The request's options that its target understands, and `slopes` for those that differentiate."""
    options = {option: getattr(request, option) for option in TARGETS[request.target].options}
    return options | ({"slopes": slopes} if slopes is not None and request.casadi else {})


def beside(text: str | bytes, program: Program, request: Request) -> dict[str, str]:
    """Further files, by name, that go with an artefact's text."""
    making = TARGETS[request.target].beside
    if making is None:
        return {}
    meaning = "; ".join(CATALOGUE[name].meaning for name in request.functions)
    return making(text, program, name=request.name, meaning=meaning, units=_units(request), **_options(request))


def beside_stored(text: bytes, certificate: Mapping[str, Any]) -> dict[str, str]:
    """The files that go with the artefact of a certificate that was found to hold."""
    if "short" in certificate:
        return {}
    request, _, program = _stored(certificate)
    return beside(text.decode() if TARGETS[request.target].is_text else text, program, request)


def _certificate(
    robot: Mapping[str, str],
    request: Request,
    program: Program,
    proof: Certificate,
    rounding: Rounding,
    errors: Mapping[str, float],
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": _file(request),
        **found_of(proof),
        "rounding": asdict(rounding),
        "float_error_ulps": dict(errors),
        "operations": count(program).as_dict(),
        "units": _units(request),
        "request": asdict(request) | {"functions": list(request.functions)},
        "robot": dict(robot),
        "program": to_data(program),
    }


def _units(request: Request) -> dict[str, str]:
    """The unit of every input and output, as the catalogue has it."""
    entries = [CATALOGUE[name] for name in request.functions]
    inputs = {name: array.unit for entry in entries for name, array in entry.arrays.items()}
    return inputs | {one.name: one.unit for entry in entries for one in entry.outputs}


def where_defined(program: Program, robot: Robot, proof: Mapping[str, Any]) -> dict[str, list[int]]:
    """Which of a proof's divisors are certainly not zero, `nowhere_zero`, and which radicands not negative.

    That is wherever the joints' limits let the robot be.
    """
    divisors, radicands = ([int(one[0]) for one in proof.get(key, ())] for key in ("divides_by", "roots_of"))
    if not divisors and not radicands:
        return {"nowhere_zero": [], "nowhere_negative": []}
    box = limits_box(robot)
    return {
        "nowhere_zero": sorted(nowhere_zero(program, divisors, box)),
        "nowhere_negative": sorted(nowhere_negative(program, radicands, box)),
    }


def stored_where_defined(certificate: Mapping[str, Any]) -> dict[str, list[int]]:
    """The same of an artefact whose certificate was found to hold."""
    _, robot, program = _stored(certificate)
    return where_defined(program, robot, certificate)


def check_run_of_stored(certificate: Mapping[str, Any], run: Executed) -> None:
    """Refuted where `run` rounds otherwise than the program of a certificate that was found to hold may."""
    request, robot, program = _stored(certificate)
    rounding_of(program, robot, request, certificate["divides_by"], seed=randbits(60), run=run)


def measured_errors(program: Program, robot: Robot) -> dict[str, float]:
    """The error of double arithmetic in each output, in ulps, at random states where the robot can be."""
    kind = kind_of(robot)
    errors = float_error(program, near=None if kind.is_everywhere(robot) else kind.surroundings(robot))
    return {name: round(error, 2) for name, error in errors.items()}


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
        _check_command(request, certificate["robot"])
        inputs = _inputs(robot, request)
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
            **_options(request, slopes),
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
    found = {"artefact": _file(request), "units": _units(request), **found_of(proof)}
    check_said(certificate, found, program, rounding, measured_errors(program, robot))
    return execution


def _told(found: Sequence[InputGroup], expected: Sequence[InputGroup]) -> str:
    def words(groups: Sequence[InputGroup]) -> str:
        texts = (f"{g.name}[{g.size}] {g.depends.name.lower()} ({', '.join(map(escaped, g.labels))})" for g in groups)
        return "; ".join(texts)[:300]

    return f"{words(found)}, expected {words(expected)}"


_SEARCH = {"--effort", "--seed", "--weights"}
"""Options that choose among programs, any of which a proof can show right."""


def _check_command(request: Request, robot: Mapping[str, str]) -> None:
    """ValueError where the header's command would make something else than the request: another function or robot."""
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
    names = [part.strip() for part in said.get("--function", "").split("+")]
    rubbing = said.pop("--friction", None) == ""
    if rubbing:
        names = [with_friction_in(name) or name for name in names]
    said["--function"] = "+".join(names)
    named = "--name" in given or Path(word).stem == request.robot_name
    if words[:2] != ["emdeg", "generate"] or said != wanted or rubbing != request.friction or not named:
        raise ValueError(f"its command is not the one that makes it: {escaped(request.command)[:200]}")
    check_robot_named(word, given, robot["digest"])


def _file(request: Request) -> str:
    return f"{request.name}{TARGETS[request.target].suffix}"


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
