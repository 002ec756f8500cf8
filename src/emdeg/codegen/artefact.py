"""A robot's function as an artefact: a text that was proved right before it leaves, and its certificate.

The certificate holds everything needed to repeat the proof without the place the artefact came from: the robot, the
program number for number, the options of the printer, seed and points. `rechecking` repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from emdeg._version import __version__
from emdeg.codegen.execution import Executed, Execution
from emdeg.codegen.identity import FORMAT, found_of, robot_data, signed
from emdeg.codegen.infix import identifier
from emdeg.codegen.targets import TARGETS, Target
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import CATALOGUE, WITH_FRICTION
from emdeg.errors import NotExecutable
from emdeg.programs import (
    PLAIN,
    Certificate,
    InputGroup,
    Program,
    Rounding,
    base_places,
    check_rounding,
    check_slopes,
    count,
    float_error,
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
    built = replace(built, inputs=function_arrays(robot, request))  # with the labels that readers expect
    text = emit(built, robot.name, request, slopes)
    proof = verify_program(built, robot, request.functions, base=request.base, seed=seed, artefact=as_bytes(text))
    rounding = rounding_of(built, robot, request, proof.divides_by, seed=seed)
    certificate = _certificate(robot_data(robot), request, built, proof, rounding, measured_errors(built, robot))
    certificate |= {} if slopes is None else {SLOPES: to_data(slopes)}
    signed_or_not = certificate if key is None else signed(certificate, key)
    others, left_out = beside(text, built, request), _left_out(text, built, request)
    return Artefact(file_of(request), text, signed_or_not, beside=others, left_out=left_out)


def _left_out(text: str | bytes, program: Program, request: Request) -> tuple[str, ...]:
    wanted = [f"{prefix}_{request.name}_casadi" for prefix in prefixes_of(program)] if request.casadi else []
    return tuple(name for name in wanted if f"int {name}(".encode() not in as_bytes(text))


def function_arrays(robot: Robot, request: Request) -> tuple[InputGroup, ...]:
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
    options = options_of(request, slopes)
    return emitting(program, name=request.name, robot=robot, command=request.command, **options)


def as_bytes(text: str | bytes) -> bytes:
    """What is written to a file."""
    return text.encode() if isinstance(text, str) else text


def options_of(request: Request, slopes: Program | None = None) -> dict[str, Any]:
    """The request's options that its target understands, and `slopes` for those that differentiate."""
    options = {option: getattr(request, option) for option in TARGETS[request.target].options}
    return options | ({"slopes": slopes} if slopes is not None and request.casadi else {})


def beside(text: str | bytes, program: Program, request: Request) -> dict[str, str]:
    """Further files, by name, that go with an artefact's text."""
    making = TARGETS[request.target].beside
    if making is None:
        return {}
    meaning = "; ".join(CATALOGUE[name].meaning for name in request.functions)
    return making(text, program, name=request.name, meaning=meaning, units=units_of(request), **options_of(request))


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
        "artefact": file_of(request),
        **found_of(proof),
        "rounding": asdict(rounding),
        "float_error_ulps": dict(errors),
        "operations": count(program).as_dict(),
        "units": units_of(request),
        "request": asdict(request) | {"functions": list(request.functions)},
        "robot": dict(robot),
        "program": to_data(program),
    }


def units_of(request: Request) -> dict[str, str]:
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


def measured_errors(program: Program, robot: Robot) -> dict[str, float]:
    """The error of double arithmetic in each output, in ulps, at random states where the robot can be."""
    errors = float_error(program, near=kind_of(robot).surroundings(robot))
    return {name: round(error, 2) for name, error in errors.items()}


def file_of(request: Request) -> str:
    return f"{request.name}{TARGETS[request.target].suffix}"
