"""`emdeg tolerance`: which measurement to improve."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from emdeg.analysis import Improvement, check_folder, improvement_figure, improvement_of, workspace
from emdeg.cli.common import Json, UsageError, out, print_json, say
from emdeg.cli.joint_ranges import RangeTexts, joint_ranges
from emdeg.cli.progress import working
from emdeg.dynamics import TREE, kind_of
from emdeg.robot import Robot, need_numbers, with_assumed_tolerances

MOST_SHOWN = 12


def tolerance(
    robot: Robot,
    range_: RangeTexts = None,
    states: Annotated[int, typer.Option(min=1, max=100_000, help="Random states of the workspace.")] = 200,
    draws: Annotated[int, typer.Option(min=2, max=1_000_000, help="Random robots for Monte-Carlo.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of states and robots.")] = 0,
    negligible: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Smaller shares of every joint's spread need no better number.")
    ] = 0.1,
    assume: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="PERCENT", help="Tolerance of masses, centres and moments that state none [%]."),
    ] = None,
    out_dir: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Figure and data here.")] = None,
    json: Json = False,
) -> None:
    """Which measurement to improve: every stated tolerance's share of constants and efforts, ranked.

    To first order over random states of the workspace, with Monte-Carlo beside it; a tolerance is a standard deviation.

    Examples:

      emdeg tolerance puma560

      emdeg tolerance puma560 --out figures --json

      emdeg tolerance arm.urdf --assume 5
    """
    if kind_of(robot) is not TREE:
        raise UsageError("tolerance is for open chains and trees")
    need_numbers(robot)
    if assume is not None:
        robot = with_assumed_tolerances(robot, Fraction(repr(assume)) / 100)
    if out_dir is not None:
        check_folder(out_dir)
    where = workspace(robot, joint_ranges(range_ or []))
    if states * draws > 20_000_000:
        raise UsageError(f"--states times --draws must not exceed 20 million; got {states * draws}")
    with working("varying"):
        found = improvement_of(robot, where, states=states, draws=draws, seed=seed, negligible=negligible)
    files = [] if out_dir is None else improvement_figure(found, out_dir)
    if json:
        data = asdict(found) | {"known_well_enough": list(found.known_well_enough), "files": [str(f) for f in files]}
        print_json(data | {"workspace": where.data()})
    else:
        _print(found)
    for file in files:
        say(f"wrote {file}")


def _print(found: Improvement) -> None:
    table = Table("joint", "effort", "+- first order", "+- Monte-Carlo", title=f"{found.robot}: rms over the workspace")
    for joint in found.joints:
        table.add_row(joint.joint, *(f"{v:.3g}" for v in (joint.effort, joint.first_order, joint.monte_carlo)))
    out.print(table)
    table = Table("number", "+-", *(joint.joint for joint in found.joints), title="share of each joint's spread")
    for one in found.influences[:MOST_SHOWN]:
        cells = (f"{share:.0%}" if share >= 0.005 else "" for share in one.shares)
        table.add_row(one.path, f"{one.tolerance:.2g}", *cells)
    out.print(table)
    table = Table("constant", "value", "+-", "Monte-Carlo", "what makes it uncertain")
    for c in found.constants:
        if c.first_order:
            words = ", ".join(f"{name} {share:.0%}" for name, share in c.parts[:3])
            table.add_row(c.name, f"{c.value:.4g}", f"{c.first_order:.2g}", f"{c.monte_carlo:.2g}", words)
    out.print(table)
    enough = found.known_well_enough
    words = ", ".join(enough) if enough else "none"
    out.print(f"known well enough (below {found.negligible:.0%} for every joint): {words}", soft_wrap=True)
