"""`emdeg judge`: a printed model against the exact one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.table import Table

from emdeg.cli.common import (
    CHECK_FAILED,
    Json,
    UsageError,
    assignments,
    end_if_missed,
    head,
    out,
    print_json,
    refuse,
    say,
)
from emdeg.cli.joint_ranges import RangeTexts, joint_ranges
from emdeg.cli.progress import working
from emdeg.cli.robots import load_robot
from emdeg.papers.validation import Judgement, Verdict, judged_workspace, read_printed
from emdeg.papers.validation import judge as judge_model

GAP, MARGIN = 1e-2, 0.05
"""The relative gap that bounds are sought to where none is asked for."""
MOST_NAMED = 12
"""Wrong coefficients of an effort that are named."""


def judge(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A printed model (.toml).")],
    robot: Annotated[
        str | None, typer.Option(metavar="ROBOT", help="The robot it is of, where the file names none or another.")
    ] = None,
    payload: Annotated[str | None, typer.Option(metavar="FILE|SPEC", help="A load, as everywhere.")] = None,
    corrected: Annotated[bool, typer.Option("--corrected", help="With the corrections that the file states.")] = False,
    constant: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another value of a constant. Repeatable.")
    ] = None,
    range_: RangeTexts = None,
    seconds: Annotated[float, typer.Option(min=0.01, max=600, help="Time [s] for the bounds of each entry.")] = 2.0,
    gap: Annotated[
        float | None,
        typer.Option(min=1e-6, max=1.0, help=f"The relative gap of bounds to reach; else {GAP:g} where time allows."),
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Closed loops: the least distance of each from a dead point.")
    ] = MARGIN,
    json: Json = False,
) -> None:
    """Judge a printed model: the certified error of every entry over the workspace; exit code 1 where a claim fails.

    A --gap that is not reached is exit code 1, too.

    The file holds constants, definitions and entries (M11, b112, c12, g2; C12 of Christoffel's matrix; tau_q1, a whole
    effort) as expressions, which are parsed and never run; see docs/judging.md.

    Examples:

      emdeg judge examples/judged/bejczy.toml --constant mL=1.8 --payload mass=1.8@link6

      emdeg judge examples/judged/armstrong.toml --corrected
    """
    printed = read_printed(file, corrected=corrected, constants=assignments(constant or [], "--constant"))
    if not (robot or printed.robot):
        raise UsageError("the file names no robot: give --robot")
    loaded = load_robot(robot or printed.robot, payload=payload or printed.payload or None)
    refuse({"--margin": loaded.is_tree and margin != MARGIN}, "is for closed loops")
    where = judged_workspace(loaded, joint_ranges(range_ or []))
    with working("bounding"):
        verdict = judge_model(printed, loaded, where, gap=gap or GAP, seconds=seconds, margin=margin)
    missed = [] if gap is None else list(_wider(verdict, gap))
    if json:
        within = {} if gap is None else {"within_target": not missed}
        print_json(as_data(verdict, where.data()) | within)
    else:
        _print(verdict)
    for words in verdict.failed:
        say(f"does not hold: {words}")
    end_if_missed(missed, files=False)
    if verdict.failed:
        raise typer.Exit(CHECK_FAILED)


def _wider(verdict: Verdict, gap: float) -> Iterator[str]:
    """Every entry whose largest error is known less closely than `gap`, in words."""
    for one in verdict.entries:
        if not one.exact and not one.problem and one.error.gap > gap:
            yield f"{one.name}: the gap is {one.error.gap:.3g}, asked for was {gap:g}"


def as_data(verdict: Verdict, where: dict[str, Any]) -> dict[str, Any]:
    """{"title", "source", "robot", "workspace", "holds", "failed", "efforts", "entries": {name: judgement}}."""
    return {
        "title": verdict.printed.title,
        "source": verdict.printed.source,
        "robot": verdict.robot,
        "workspace": where,
        "holds": verdict.holds,
        "failed": list(verdict.failed),
        "efforts": list(verdict.efforts),
        "entries": {one.name: _entry(one) for one in verdict.entries},
    }


def _entry(one: Judgement) -> dict[str, Any]:
    data = asdict(one)
    del data["name"]
    for key in ("error", "size", "relative"):
        data[key] = {"value": data[key]["value"], "bound": data[key]["bound"]}
    data["at"] = {str(k): v for k, v in one.error.at.items()}
    return data


def _print(verdict: Verdict) -> None:
    head(verdict.printed.title or verdict.printed.file, verdict.printed.source)
    exact = [one.name for one in verdict.entries if one.exact]
    table = Table("entry", "largest error", "largest entry", "relative", "average", title=f"of {verdict.robot}")
    for one in verdict.entries:
        if one.problem:
            table.add_row(one.name, one.problem, "", "", "")
        elif not one.exact:
            mark = "" if one.pointwise else " *"
            cells = (f"{one.error.bound:.3g}", f"{one.size.value:.4g}", f"{one.relative.bound:.2%}{mark}")
            table.add_row(one.name, *cells, f"{one.average:.2%}")
    if table.row_count:
        out.print(table)
        out.print("errors are certified bounds over the workspace; * of the largest value of the entry", soft_wrap=True)
    for one in verdict.entries:
        if one.wrong:
            more = f" and {len(one.wrong) - MOST_NAMED} more" if len(one.wrong) > MOST_NAMED else ""
            out.print(f"{one.name} is off in {', '.join(one.wrong[:MOST_NAMED])}{more}", soft_wrap=True)
    if exact:
        out.print(f"exact: {', '.join(exact)}", soft_wrap=True)
