"""A robot's function as an artefact: a text that was proved right before it leaves, and its certificate.

The certificate holds everything needed to repeat the proof without the place the artefact came from: the robot, the
program number for number, the options of the printer, seed and points. `recheck` repeats it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from emdeg._version import __version__
from emdeg.codegen.c import COptions, emit_c
from emdeg.codegen.infix import escaped, identifier
from emdeg.codegen.jax import emit_jax
from emdeg.codegen.numpy import emit_numpy
from emdeg.codegen.python import emit_python
from emdeg.errors import NotAProgram, NotCertified, OverBudget, Refuted, RobotError
from emdeg.mechanics import kind_of
from emdeg.mechanics.functions import WITH_FRICTION, known_functions
from emdeg.programs import (
    FALSE_PASS,
    Certificate,
    Program,
    count,
    float_error,
    from_data,
    plain_program,
    to_data,
    verify_program,
    wrong_format,
)
from emdeg.robot import Robot, assemble, read_toml, to_toml

FORMAT = 3
"""Of a certificate. 1 said `schema_version`, and `made_by` for the version; 2 knew one prime."""
MOST_POINTS = 16
Target = Literal["c", "numpy", "python", "jax"]
SUFFIX: Mapping[str, str] = {"c": ".c", "numpy": ".py", "python": ".py", "jax": ".py"}
_PYTHON = {"numpy": emit_numpy, "python": emit_python, "jax": emit_jax}


@dataclass(frozen=True, slots=True)
class Request:
    """What to emit. `robot_name` begins the artefact's name; `command` stands in its header comment.

    The options after `base` are the C target's.
    """

    functions: tuple[str, ...]
    target: Target = "c"
    robot_name: str = "robot"
    command: str = ""
    base: bool = False
    trig: Literal["libm", "inline"] = "libm"
    batch: bool = False
    casadi: bool = False
    multirate: bool = False
    single: bool = False

    @property
    def name(self) -> str:
        """The function's name and the file's stem."""
        return identifier("_".join([self.robot_name, *(name.removesuffix(WITH_FRICTION) for name in self.functions)]))


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file's name and text, the data of its certificate, and where it was written, if it was."""

    file: str
    text: str = field(repr=False)
    certificate: dict[str, Any] = field(repr=False)
    path: Path | None = None


def make_artefact(robot: Robot, request: Request, *, seed: int = 0, program: Program | None = None) -> Artefact:
    """The artefact, verified; raises `Refuted` rather than hand out one that is wrong.

    `program` replaces the one that `emdeg.program` derives; it is proved like any other.
    """
    built = plain_program(robot, request.functions, base=request.base) if program is None else program
    text = emit(built, robot.name, request)
    proof = verify_program(built, robot, request.functions, base=request.base, seed=seed, artefact=text.encode())
    return Artefact(_file(request), text, _certificate(robot, request, built, proof))


def emit(program: Program, robot: str, request: Request) -> str:
    """The text of a program in the target's language."""
    if request.target == "c":
        options = COptions(
            trig=request.trig,
            batch=request.batch,
            casadi=request.casadi,
            multirate=request.multirate,
            single=request.single,
            robot=robot,
            command=request.command,
        )
        return emit_c(program, options, name=request.name)
    return _PYTHON[request.target](program, name=request.name, robot=robot, command=request.command)


def _certificate(robot: Robot, request: Request, program: Program, proof: Certificate) -> dict[str, Any]:
    toml = to_toml(robot)
    return {
        "format": FORMAT,
        "emdeg": __version__,
        "artefact": _file(request),
        "digest": proof.digest,
        "formulations": list(proof.formulations),
        "primes": proof.primes,
        "seed": proof.seed,
        "points": proof.points,
        "degree_bound": proof.degree_bound,
        "height_bound": proof.height_bound,
        "false_pass_probability": proof.false_pass_probability,
        "divides_by": [list(one) for one in proof.divides_by],
        "float_error_ulps": measured_errors(program, robot),
        "operations": count(program).as_dict(),
        "request": asdict(request) | {"functions": list(request.functions)},
        "robot": {"name": robot.name, "digest": hashlib.sha256(toml.encode()).hexdigest(), "toml": toml},
        "program": to_data(program),
    }


def measured_errors(program: Program, robot: Robot) -> dict[str, float]:
    """The error of double arithmetic in each output, in ulps, at random states where the robot can be."""
    kind = kind_of(robot)
    errors = float_error(program, near=None if kind.is_everywhere(robot) else kind.home(robot))
    return {name: round(error, 2) for name, error in errors.items()}


def recheck(text: bytes, certificate: Any) -> dict[str, Any]:
    """The certificate, after everything in it was found to hold for the artefact `text`; else NotCertified.

    The bytes have the digest; the stored program prints to these bytes; the program equals an independent formulation
    of the stored robot at fresh points, and at one of the stored seed; the probability is what these imply; rounding
    errors are about as large as stated.
    """
    same_format(certificate)
    try:
        request, robot, program = _stored(certificate)
        stated = {key: certificate[key] for key in _PROOF}
        name = str(certificate["robot"]["name"])  # as its file says it; the robot is stored under a plainer one
    except OverBudget:
        raise
    except (KeyError, TypeError, NotAProgram, RobotError, ValueError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if hashlib.sha256(text).hexdigest() != stated["digest"]:
        raise NotCertified("the artefact was changed: its digest is not the certificate's")
    try:
        printed = emit(program, name, request).encode()
    except (ValueError, OverflowError) as problem:
        raise NotCertified(f"the certificate is damaged: {problem}") from None
    if printed != text:
        raise NotCertified(
            f"the stored program does not print to this artefact (it was made by emdeg {certificate.get('emdeg')})"
        )
    if not isinstance(stated["points"], int) or not 0 < stated["points"] <= MOST_POINTS:
        raise NotCertified(f"the certificate is damaged: points must be a number from 1 to {MOST_POINTS}")
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
    except OverBudget:
        raise
    except (Refuted, ValueError) as problem:
        raise NotCertified(f"the artefact is wrong: {problem}") from None
    found = {key: value for key, value in proof.as_dict().items() if key in _PROOF}
    found["formulations"], found["divides_by"] = list(proof.formulations), [list(one) for one in proof.divides_by]
    for key in _PROOF:
        if found[key] != stated[key]:
            raise NotCertified(f"the certificate was changed: {key} is {stated[key]!r}, found {found[key]!r}")
    if proof.false_pass_probability >= FALSE_PASS:
        raise NotCertified(f"the points are too few: a false pass has probability {proof.false_pass_probability:.1g}")
    for key, value in (("operations", count(program).as_dict()), ("artefact", _file(request))):
        if certificate.get(key) != value:
            raise NotCertified(f"the certificate was changed: {key} is {certificate.get(key)!r}, found {value!r}")
    errors = measured_errors(program, robot)
    if not _alike(certificate.get("float_error_ulps"), errors):
        stated = certificate.get("float_error_ulps")
        raise NotCertified(f"the certificate was changed: float_error_ulps is {stated!r}, found {errors!r}")
    return certificate


def same_format(certificate: Any) -> None:
    """NotCertified where another version of emdeg wrote the certificate in another format: says which, what to do."""
    if not isinstance(certificate, dict):
        return
    request = certificate.get("request")
    command = str(request.get("command", "")) if isinstance(request, dict) else ""
    again = ": ".join(["generate the file again", *([escaped(command)[:500]] if command else [])])
    maker = str(certificate.get("made_by", "")).removeprefix("emdeg ")  # where format 1 kept the version
    if (word := wrong_format({"emdeg": maker or None} | certificate, FORMAT, again)) is not None:
        raise NotCertified(f"the certificate cannot be used: {word}")


def _alike(stated: Any, found: Mapping[str, float]) -> bool:
    """Whether these are errors of the same program: another machine's sines may round otherwise."""
    if not isinstance(stated, dict) or stated.keys() != found.keys():
        return False
    return all(
        isinstance(one, int | float) and one <= 4 * other + 4 and other <= 4 * one + 4
        for one, other in ((stated[name], found[name]) for name in found)
    )


_PROOF = (
    "digest",
    "formulations",
    "primes",
    "seed",
    "points",
    "degree_bound",
    "height_bound",
    "false_pass_probability",
    "divides_by",
)


def _file(request: Request) -> str:
    return f"{request.name}{SUFFIX[request.target]}"


def _stored(certificate: Any) -> tuple[Request, Robot, Program]:
    given = certificate["request"]
    kinds = {each.name: str(each.type) for each in fields(Request)}
    plain = set(given) == set(kinds) and all(
        isinstance(given[name], bool if kind == "bool" else list if name == "functions" else str)
        for name, kind in kinds.items()
    )
    if not plain or given["target"] not in SUFFIX or given["trig"] not in ("libm", "inline") or not given["functions"]:
        raise ValueError("its request is not one of this program's")
    if not isinstance(certificate["seed"], int) or certificate["seed"] < 0:
        raise ValueError("its seed is no whole number")
    request = Request(**{**given, "functions": tuple(given["functions"])})
    toml = certificate["robot"]["toml"]
    if not isinstance(toml, str):
        raise ValueError("its robot is no text")
    if hashlib.sha256(toml.encode()).hexdigest() != certificate["robot"]["digest"]:
        raise ValueError("the stored robot does not have the stated digest")
    robot = assemble(read_toml(toml, "the stored robot"), allow_nonphysical=True)
    known_functions(request.functions, robot)
    return request, robot, from_data(certificate["program"])
