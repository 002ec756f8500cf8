"""`emdeg optimise`: search for a small program, prove it, file it for later use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from emdeg.cli.common import BEGAN, INTERRUPTED, Json, UsageError, out, print_json, say
from emdeg.cli.count import FunctionArgument
from emdeg.cli.effort import Seed, WeightsText, checked_effort, chosen_weights, progress_line
from emdeg.dynamics.functions import WITH_FRICTION
from emdeg.programs import cost, count, joined_functions, keep, label, on_file, optimise
from emdeg.robot import Robot


def optimise_command(
    robot: Robot,
    function: FunctionArgument,
    effort: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to search, the start of the program included.")
    ] = 60.0,
    seed: Seed = 0,
    weights: WeightsText = "operations",
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="File it here instead of in the user's folder.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Search and report; file nothing.")] = False,
    json: Json = False,
) -> None:
    """Search for a small program, prove it, and file it: later commands use the smallest on file.

    Interrupted with Ctrl-C it proves and files the best found so far, and exits with code 130.

    Examples:

      emdeg optimise puma560 inverse_dynamics --effort 60

      emdeg optimise my_arm.urdf mass_matrix+bias --effort 20 --weights cycles
    """
    checked_effort(effort)
    names = joined_functions(function, robot)
    if any(name.endswith(WITH_FRICTION) for name in names):
        raise UsageError(f"{function}: friction is added to the smallest program without it; optimise that one")
    chosen = chosen_weights(weights)
    with progress_line(weights) as progress:
        found = optimise(robot, names, effort, seed=seed, weights=chosen, progress=progress, began=BEGAN.get())
    before = on_file(robot, found.program, names, chosen, folder)
    better = before is None or cost(found.program, chosen) < cost(before, chosen)
    data = {
        "operations": found.count.as_dict(),
        "seed": seed,
        "effort": effort,
        "certificate": found.certificate.as_dict(),
    }
    path = None
    if better and not dry_run:
        path = keep(found.program, robot, names, found=data, folder=folder, weights=label(chosen))
    if json:
        print_json(
            {
                **data,
                "seconds": found.seconds,
                "interrupted": found.interrupted,
                "file": str(path) if path else None,
                "on_file": count(before).as_dict() if before is not None else None,
            }
        )
    else:
        out.print(f"{robot.name} {function}: {found.count} (seed {seed}, {found.seconds:.0f} s)")
    if path is not None:
        say(f"filed: {path}")
    elif not better and before is not None:
        say(f"a program with {count(before)} is on file already and stays")
    if found.interrupted:
        say("interrupted: this is the best found so far, proved like any other")
        raise typer.Exit(INTERRUPTED)
