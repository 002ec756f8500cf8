"""`emdeg measure`: bench readings to a robot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from emdeg.cli.common import Json, out, print_json, refuse, say, write_new
from emdeg.cli.progress import working
from emdeg.papers.bench import CampaignOutcome, MeasuredFigure, Trial, read_campaign, run_trials
from emdeg.papers.bench import measure as measure_campaign
from emdeg.robot import to_toml

MOST_SHOWN = 3
"""So many readings of a trail are printed; --json has all."""


def measure(
    campaign: Annotated[str, typer.Argument(metavar="CAMPAIGN", help="A campaign file (.toml).")],
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="ROBOT.toml", help="Write the robot here.")
    ] = None,
    trials_: Annotated[
        int, typer.Option("--trials", min=0, max=100_000, help="Simulate so many campaigns: bias and coverage.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulated readings.")] = 0,
    allow_nonphysical: Annotated[
        bool, typer.Option("--allow-nonphysical", help="Go on with inertias that no body can have.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Bench readings to a robot file: every number with its tolerance and its trail.

    Weighing, balancing, two-wire suspension, a spring on a driven joint, bodies added and taken away, shells and
    solids. `emdeg new --campaign` writes a campaign to start from; its form is in docs/measuring.md.

    Examples:

      emdeg measure bench.toml --out arm.toml

      emdeg measure bench.toml --trials 1000
    """
    refuse({"--seed": seed or None if not trials_ else None}, "is for --trials")
    outcome = measure_campaign(read_campaign(campaign), allow_nonphysical=allow_nonphysical)
    with working("simulating campaigns") as tell:
        simulated, failed = run_trials(outcome, max(trials_, 2), seed, tell) if trials_ else ((), 0)
    if out_file is not None:
        write_new(out_file, to_toml(outcome.robot), force)
    if json:
        print_json(as_data(outcome, simulated, trials_, failed, out_file))
    else:
        _print(outcome)
        if trials_:
            _print_trials(simulated, trials_, failed)
    for note in outcome.notes:
        say(f"note: {note}")
    if outcome.kept:
        say(f"note: not measured, kept from {outcome.campaign.robot.name}: {', '.join(outcome.kept)}")
    if out_file is not None:
        say(f"wrote {out_file}")


def as_data(
    outcome: CampaignOutcome, simulated: tuple[Trial, ...], count: int, failed: int, out_file: Path | None
) -> dict[str, Any]:
    """{"name", "parameters": {path: number}, "kept", "notes", "trials", "file"}."""
    return {
        "name": outcome.robot.name,
        "parameters": {one.path: _number(one, outcome) for one in outcome.found},
        "kept": list(outcome.kept),
        "notes": list(outcome.notes),
        "trials": {
            "count": count,
            "failed": failed,
            "parameters": {one.path: asdict(one) | {"bias": one.bias} for one in simulated},
        }
        if count
        else None,
        "file": None if out_file is None else str(out_file),
    }


def _number(one: MeasuredFigure, outcome: CampaignOutcome) -> dict[str, Any]:
    trail = []
    for name, part in one.trail:
        source = outcome.campaign.readings[name]
        mean = source.measured
        words = {"reading": name, "value": mean.value, "tolerance": mean.tolerance, "contribution": part}
        trail.append(words | {"times": len(source.values), "source": source.source})
    return {
        "value": one.value.value,
        "tolerance": one.value.tolerance,
        "method": one.method,
        "formula": one.formula,
        "trail": trail,
    }


def _print(outcome: CampaignOutcome) -> None:
    table = Table("number", "value", "+-", "method", "what makes it uncertain", title=outcome.robot.name)
    for one in outcome.found:
        whole = one.value.tolerance
        shares = [f"{name} {part / whole:.0%}" for name, part in one.trail[:MOST_SHOWN] if part > 0.01 * whole]
        plus = f"{whole:.2g}" if whole else ""
        table.add_row(one.path, f"{one.value.value:.5g}", plus, one.method, ", ".join(shares))
    out.print(table)


def _print_trials(simulated: tuple[Trial, ...], count: int, failed: int) -> None:
    table = Table("number", "truth", "bias", "scatter", "stated +-", "within +-", "within 2 +-")
    table.title = f"{count} simulated campaigns" + (f", {failed} failed" if failed else "")
    for one in simulated:
        numbers = (one.truth, one.bias, one.deviation, one.tolerance)
        shares = (f"{one.within_one:.0%}", f"{one.within_two:.0%}")
        table.add_row(one.path, *(f"{value:.3g}" for value in numbers), *shares)
    out.print(table)
