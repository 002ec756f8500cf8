"""`emdeg optimise`: search for a small program, prove it, file it for later use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from emdeg.cli.common import Json, out, print_json, say
from emdeg.cli.effort import Seed, checked_effort, progress_line
from emdeg.cli.generate import FunctionArgument, chosen_functions
from emdeg.program.count import count
from emdeg.program.search.optimise import optimise
from emdeg.program.search.weights import WEIGHTS, cost
from emdeg.program.store import keep, stored
from emdeg.robot.model import Robot


def optimise_command(
    robot: Robot,
    function: FunctionArgument,
    effort: Annotated[float, typer.Option(metavar="SECONDS", help="How long to search.")] = 60.0,
    seed: Seed = 0,
    weights: Annotated[
        Literal["operations", "cycles"], typer.Option(help="What to make small: operations, or estimated cycles.")
    ] = "operations",
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="File it here instead of in the user's folder.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Search and report; file nothing.")] = False,
    json: Json = False,
) -> None:
    """Search for a small program, prove it, and file it: later commands use the smallest on file.

    Interrupted with Ctrl-C it keeps the best found so far.

    Examples:

      emdeg optimise puma560 inverse_dynamics --effort 60

      emdeg optimise my_arm.urdf mass_matrix+bias --effort 20 --weights cycles
    """
    checked_effort(effort)
    names = chosen_functions(function)
    chosen = WEIGHTS[weights]
    with progress_line() as progress:
        found = optimise(robot, names, effort, seed=seed, weights=chosen, progress=progress)
    before = stored(robot, names, weights)
    better = before is None or cost(found.program, chosen) < cost(before, chosen)
    data = {
        "operations": found.count.as_dict(),
        "seed": seed,
        "effort": effort,
        "certificate": found.certificate.as_dict(),
    }
    path = None
    if better and not dry_run:
        path = keep(found.program, robot, names, found=data, folder=folder, weights=weights)
    if json:
        print_json({**data, "seconds": found.seconds, "file": str(path) if path else None,
                    "on_file": count(before).as_dict() if before is not None else None})  # fmt: skip
        return
    out.print(f"{robot.name} {function}: {found.count} (seed {seed}, {found.seconds:.0f} s)", markup=False)
    if path is not None:
        say(f"filed: {path}")
    elif not better and before is not None:
        say(f"a program with {count(before)} is on file already and stays")
