"""`emdeg verify`: prove a function's program, or repeat the proof that lies beside an artefact."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from emdeg.cli.common import CHECK_FAILED, Json, out, print_json, say
from emdeg.cli.count import Base
from emdeg.cli.effort import Effort, WeightsText, checked_effort, checked_weights, default_effort, progress_line
from emdeg.cli.limits import bounded
from emdeg.cli.robots import Chosen
from emdeg.codegen import verify as verified
from emdeg.errors import NotCertified, Refuted


def verify(
    robot: Annotated[
        Chosen, typer.Argument(metavar="ROBOT|FILE", help="A robot, with FUNCTION; or a generated file, alone.")
    ],
    function: Annotated[
        str | None,
        typer.Argument(metavar="FUNCTION", help="For a robot: a function (see `emdeg functions`), or A+B."),
    ] = None,
    base: Base = False,
    seed: Annotated[int, typer.Option(min=0, help="For a robot: where the random points come from.")] = 0,
    effort: Effort = None,
    weights: WeightsText = "operations",
    json: Json = False,
) -> None:
    """Check by exact arithmetic modulo random primes that a program computes what it should.

    With ROBOT and FUNCTION: derive the program and prove it equal to an independent formulation. With FILE: repeat
    the proof of a generated file from the certificate beside it. Exit code 1 if the check fails.

    Examples:

      emdeg verify puma560 inverse_dynamics

      emdeg verify code/puma560_inverse_dynamics.c
    """
    try:
        # A file may be a stranger's; a robot's proof is the user's own wish.
        limits = bounded("repeating the proof") if function is None else contextlib.nullcontext()
        with limits, progress_line(weights) as progress:
            result = verified(
                robot.argument if function is None else robot.load(),
                function,
                base=base,
                seed=seed,
                effort=checked_effort(effort),
                otherwise=default_effort() if effort is None else 0.0,
                weights=checked_weights(weights),
                progress=progress,
            )
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
    out.print(
        f"  modulo {result['points']} primes {result['primes']}, at a random point each (and seed {result['seed']})"
    )
    out.print(f"  probability of a false pass: {result['false_pass_probability']:.1g}")
    out.print(f"  error of double arithmetic, in ulps of the largest entry: {errors}")
    if short := result.get("short"):
        shown = zip(short["certified_error"], short["largest_effort"])
        errors = ", ".join(f"{error:g} of {peak:g}" for error, peak in shown)
        out.print(
            f"  short model: error of each joint over its box, certified, of its largest effort [N m, N]: {errors}"
        )
    out.print(f"  sha256 {result['digest']}")
