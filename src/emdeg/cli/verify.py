"""`emdeg verify`: prove a function's program, or repeat the proof that lies beside an artefact."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from emdeg.cli.common import CHECK_FAILED, Json, UsageError, out, print_json, refuse, say
from emdeg.cli.count import Base
from emdeg.cli.effort import Effort, WeightsText, checked_effort, checked_weights, default_effort, progress_line
from emdeg.cli.limits import bounded
from emdeg.cli.robots import Chosen
from emdeg.codegen import verify as verified
from emdeg.documents import plain
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
    of: Annotated[
        str | None, typer.Option("--robot", metavar="ROBOT", help="For a file: the robot that it must be of.")
    ] = None,
    signed_by: Annotated[
        Path | None, typer.Option(metavar="KEY", help="For a file: the public key that must have signed it.")
    ] = None,
    json: Json = False,
) -> None:
    """Check by exact arithmetic modulo random primes that a program computes what it should.

    With ROBOT and FUNCTION: derive the program and prove it equal to an independent formulation. With FILE: repeat
    the proof of a generated file from the certificate beside it, and execute it. Which robot that is of is printed, or
    checked with --robot, to which the robot's options apply. Exit code 1 if the check fails.

    Examples:

      emdeg verify puma560 inverse_dynamics

      emdeg verify code/puma560_inverse_dynamics.c --robot puma560
    """
    if function is None:
        given = {"--base": base, "--seed": seed or None, "--effort": effort, "--weights": weights != "operations"}
        refuse(given, "is for a robot's FUNCTION; a file's program is the one that it holds")
        if of is None and (options := robot.words[1:]):
            raise UsageError(f"{options[0]} says which robot a file must be of: name it, --robot ROBOT")
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
                of=None if of is None else replace(robot, argument=of).load(),
                signed_by=signed_by,
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
    if "members" in result:
        out.print(f"verified: {robot.argument}, printed from {', '.join(result['members'])}, each proved again")
        out.print(f"  {_executed(result['executed'])}", soft_wrap=True)
        _say_whose(result)
        out.print(f"  sha256 {result['digest']}")
        return
    errors = ", ".join(f"{name} {error:g}" for name, error in result["float_error_ulps"].items())
    out.print(f"verified: {robot.argument} {function or ''}".rstrip())
    out.print(f"  {result['formulations'][0]} = {result['formulations'][1]}")
    out.print(
        f"  modulo {result['points']} primes {result['primes']}, at a random point each (and seed {result['seed']})"
    )
    out.print(f"  probability of a false pass: {result['false_pass_probability']:.1g}")
    _say_where("divides by", result["divides_by"], result.get("nowhere_zero", ()), "zero")
    _say_where("takes roots of", result["roots_of"], result.get("nowhere_negative", ()), "negative")
    rounding = result["rounding"]
    out.print(f"  {_executed(result['executed'])}", soft_wrap=True)
    out.print(
        f"  rounding errors, stated at {rounding['states']} states: at most {rounding['largest']:g} times what one "
        f"rounding a step of the independent formulation adds up to ({rounding['allowed']:g} are allowed)"
    )
    out.print(f"  error of double arithmetic, in ulps of the largest entry: {errors}")
    if function is None:
        _say_whose(result)
    if short := result.get("short"):
        peaks = short.get("largest_effort")
        shown = [
            f"{error:g}" + (f" of {peaks[k]:g}" if peaks else "") for k, error in enumerate(short["certified_error"])
        ]
        whose = "joint" if peaks else "output"
        of = ", of its largest effort" if peaks else ""
        out.print(f"  short model: error of each {whose} over its box, certified{of} [SI]: {', '.join(shown)}")
        said = (f"{name} {', '.join(f'{x:g}' for x in ends)}" for name, ends in short["box"].items())
        out.print(f"  its box [SI]: {'; '.join(said)}", soft_wrap=True)
    out.print(f"  sha256 {result['digest']}")


def _say_whose(result: dict[str, Any]) -> None:
    """Which robot an artefact is of, and who signed it."""
    out.print(f"  robot: {plain(result['robot'])}, {result['robot_digest']}; {result['robot_note']}", soft_wrap=True)
    out.print(f"  signed by: {result['signed_by'] or 'nobody'}", soft_wrap=True)


def _say_where(does: str, values: Sequence[object], sure: Sequence[object], what: str) -> None:
    """What a program does with values that may be wrong for it somewhere, and of how many that is ruled out."""
    if values:
        out.print(
            f"  {does} {len(values)} values that are no numbers, as the formulations it is held against do; "
            f"{len(sure)} of them certainly not {what} within the joints' limits",
            soft_wrap=True,
        )


def _executed(execution: dict[str, Any]) -> str:
    """What was executed, in words."""
    if not execution["functions"]:
        return f"the text was not executed: {execution['not_because']}"
    words = f"executed by {execution['by']}: {', '.join(execution['functions'])}"
    return "; ".join(filter(None, [words, execution["not_because"]]))
