"""`emdeg verify`: prove a function's program, or repeat the proof that lies beside an artefact."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from emdeg.cli.common import CHECK_FAILED, Chosen, Json, UsageError, out, print_json, say
from emdeg.cli.effort import Effort, WeightsText, smallest
from emdeg.cli.generate import Base, chosen_functions
from emdeg.codegen.artefact import measured_errors
from emdeg.codegen.store import recheck_file
from emdeg.errors import NotCertified, Refuted
from emdeg.mechanics.functions import FUNCTIONS
from emdeg.programs.count import count
from emdeg.programs.proofs import verify_program
from emdeg.robot.load import SUFFIXES, library_names

RobotOrFile = Annotated[
    str, typer.Argument(metavar="ROBOT|FILE", help="A robot, with FUNCTION; or a generated file, alone.")
]


def verify(
    robot: Chosen,
    function: Annotated[
        str | None,
        typer.Argument(metavar="FUNCTION", help="For a robot: one of " + ", ".join(FUNCTIONS) + ", or A+B."),
    ] = None,
    base: Base = False,
    seed: Annotated[int, typer.Option(min=0, help="For a robot: where the random points come from.")] = 0,
    effort: Effort = None,
    weights: WeightsText = "operations",
    json: Json = False,
) -> None:
    """Check by exact arithmetic modulo 2^61 - 1 that a program computes what it should.

    With ROBOT and FUNCTION: derive the program and prove it equal to an independent formulation. With FILE: repeat
    the proof of a generated file from the certificate beside it. Exit code 1 if the check fails.

    Examples:

      emdeg verify puma560 inverse_dynamics

      emdeg verify code/puma560_inverse_dynamics.c
    """
    try:
        if function is None:
            result = _of_file(robot.argument)
        else:
            result = _of_robot(robot, function, base, seed, effort, weights)
    except (NotCertified, Refuted) as problem:
        if json:
            print_json({"verified": False, "reason": str(problem)})
        say(f"NOT VERIFIED: {robot.argument}: {problem}")
        raise typer.Exit(CHECK_FAILED) from None
    if json:
        print_json({"verified": True, **result})
        return
    errors = ", ".join(f"{name} {error:g}" for name, error in result["float_error_ulps"].items())
    out.print(f"verified: {robot.argument} {function or ''}".rstrip())
    out.print(f"  {result['formulations'][0]} = {result['formulations'][1]}")
    out.print(f"  modulo {result['prime']} at {result['points']} random points (seed {result['seed']})")
    out.print(f"  probability of a false pass: {result['false_pass_probability']:.1g}")
    out.print(f"  error of double arithmetic, in ulps of the largest entry: {errors}")
    out.print(f"  sha256 {result['digest']}")


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


def _of_file(argument: str) -> dict[str, Any]:
    if argument in library_names() or Path(argument).suffix.lower() in SUFFIXES:
        raise UsageError(f"{argument} is a robot: say which FUNCTION to verify")
    certificate = recheck_file(Path(argument))
    return {"robot": certificate["robot"]["name"]} | {key: certificate[key] for key in _SHOWN}


def _of_robot(
    robot: Chosen, function: str, base: bool, seed: int, effort: float | None, weights: str
) -> dict[str, Any]:
    loaded = robot.load()
    names = chosen_functions(function, base, robot=loaded)
    program = smallest(loaded, names, effort, 0, base, weights)
    proof = verify_program(program, loaded, names, base=base, seed=seed).as_dict()
    return {
        "robot": loaded.name,
        **{key: proof[key] for key in _SHOWN if key in proof},
        "float_error_ulps": measured_errors(program, loaded),
        "operations": count(program).as_dict(),
    }
