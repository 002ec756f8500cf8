"""The room's two verbs: `generate` makes proved code of a robot's functions, `verify` proves or repeats a proof.

The command line calls these and prints what they return.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from emdeg.codegen.artefact import Artefact, Request, Target, artefact, measured_errors
from emdeg.codegen.store import recheck_file, write
from emdeg.errors import BadRequest, UnknownFunction
from emdeg.programs.best import program
from emdeg.programs.build import joined_functions
from emdeg.programs.ir import count
from emdeg.programs.proofs import verify_program
from emdeg.programs.weights import OPERATIONS, Progress, Weights, as_text
from emdeg.robot.loading import SUFFIXES, RobotLike, as_robot, library_names
from emdeg.robot.model import Robot

LONGEST_NAME = 160
"""Of a function: its file's and certificate's names must still be ones that a file system takes."""


def generate(
    robot: RobotLike,
    function: str | Sequence[str],
    target: Target = "c",
    *,
    out: str | PathLike[str] | None = None,
    trig: Literal["libm", "inline"] | None = None,
    batch: bool = False,
    casadi: bool = False,
    multirate: bool = False,
    single: bool = False,
    base: bool = False,
    effort: float | None = None,
    otherwise: float = 0.0,
    seed: int = 0,
    weights: Weights | str = OPERATIONS,
    name: str | None = None,
    force: bool = False,
    words: Sequence[str] = (),
    progress: Progress | None = None,
) -> tuple[Artefact, ...]:
    """The code of each function (or of several in one program, "A+B"), proved, with its certificate; SI units.

    With `out` the files are written into that folder, all or none, and each artefact knows its `path`; a file that
    emdeg did not generate is replaced only with `force`. `trig` (the library's sine or polynomials in the file),
    `batch`, `casadi`, `multirate` and `single` (float instead of double) are the C target's. `effort`, `otherwise`,
    `seed` and `weights` choose the program as in `emdeg.program`; `base`: a regressor's columns of the base parameters
    only. `name` replaces the robot's in files and functions. `words` are those of a command that chooses the robot, for
    the header's line `command`; a robot's name or path is one by itself.

    >>> import emdeg
    >>> (code,) = emdeg.generate("planar2r", "gravity")
    >>> code
    Artefact(file='planar2r_gravity.c', path=None)
    >>> code.certificate["false_pass_probability"] < 1e-15
    True
    """
    options = {"trig": trig, "batch": batch, "casadi": casadi, "multirate": multirate, "float": single}
    given = [f"--{option}" for option, value in options.items() if value]
    if target != "c" and given:
        raise BadRequest(f"{', '.join(given)}: for --target c only, not for {target}")
    if casadi and single:
        raise BadRequest("--casadi and --float exclude each other: CasADi's interface is of doubles")
    loaded = as_robot(robot)
    if not words and not isinstance(robot, Robot):
        words = [fspath(robot)]
    texts = [function] if isinstance(function, str) else list(function)
    wanted = {text: tuple(joined_functions(text, loaded, base and "regressor" in text)) for text in texts}
    if base and not any("regressor" in names for names in wanted.values()):
        raise BadRequest("--base applies to regressor, which is not among the functions")
    made = []
    for text, names in wanted.items():
        of_base = base and "regressor" in names
        choices = [f"--function={text}", f"--target={target}", *([f"--trig={trig}"] if trig else [])]
        choices += [option for option in given if option != "--trig"]
        choices += ["--base"] if of_base else []
        choices += [f"--name={name}"] if name else []
        choices += [] if effort is None else [f"--effort={effort:g}"]
        choices += [f"--seed={seed}"] if seed else []
        choices += [] if weights in ("operations", OPERATIONS) else [f"--weights={as_text(weights)}"]
        request = Request(
            functions=names,
            target=target,
            robot_name=name or (Path(words[0]).stem if words else loaded.name),
            base=of_base,
            command=shlex.join(["emdeg", "generate", *words, *choices, "--out=."]) if words else "",
            trig=trig or "libm",
            batch=batch,
            casadi=casadi,
            multirate=multirate,
            single=single,
        )
        if len(request.name) > LONGEST_NAME:
            raise BadRequest(f"{request.name[:40]}... has more than {LONGEST_NAME} characters: give a shorter --name")
        found = program(
            loaded,
            names,
            effort=effort,
            otherwise=otherwise,
            seed=seed,
            base=of_base,
            weights=weights,
            progress=progress,
        )
        made.append(artefact(loaded, request, program=found))
    return tuple(made) if out is None else write(made, Path(out), force)


_SHOWN = (
    "artefact",
    "digest",
    "formulations",
    "prime",
    "seed",
    "points",
    "degree_bound",
    "false_pass_probability",
    "float_error_ulps",
    "operations",
)


def verify(
    robot: RobotLike,
    function: str | None = None,
    *,
    base: bool = False,
    seed: int = 0,
    effort: float | None = None,
    otherwise: float = 0.0,
    weights: Weights | str = OPERATIONS,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What a proof says: formulations, prime, points, the probability of a false pass, errors of doubles [ulps].

    With a robot and a function (or "A+B") its program, chosen as in `emdeg.program`, is proved equal to an independent
    formulation modulo 2^61 - 1 at points drawn from `seed`. With the path of a generated file alone, the proof in the
    certificate beside it is repeated. `Refuted` or `NotCertified` where it fails.

    >>> import emdeg
    >>> emdeg.verify("planar2r", "gravity")["false_pass_probability"] < 1e-15
    True
    """
    if function is None:
        return _of_file(robot)
    loaded = as_robot(robot)
    names = joined_functions(function, loaded, base)
    found = program(loaded, names, effort=effort, otherwise=otherwise, base=base, weights=weights, progress=progress)
    proof = verify_program(found, loaded, names, base=base, seed=seed).as_dict()
    return {
        "robot": loaded.name,
        **{key: proof[key] for key in _SHOWN if key in proof},
        "float_error_ulps": measured_errors(found, loaded),
        "operations": count(found).as_dict(),
    }


def _of_file(path: RobotLike) -> dict[str, Any]:
    if isinstance(path, Robot):
        raise UnknownFunction("say which function of the robot to verify")
    text = fspath(path)
    if text in library_names() or Path(text).suffix.lower() in SUFFIXES:
        raise UnknownFunction(f"{text} is a robot: say which FUNCTION to verify")
    certificate = recheck_file(Path(text))
    return {"robot": certificate["robot"]["name"]} | {key: certificate[key] for key in _SHOWN}
