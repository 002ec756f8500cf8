"""`emdeg sweep`: design studies on all cores or a cluster, resumable, as Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from emdeg.cli.common import INTERRUPTED, Json, Scheduler, TrustNetwork, err, out, print_json, refuse, say
from emdeg.errors import Interrupted, SweepError

if TYPE_CHECKING:
    from emdeg.sweeps import Plan

# The sweeps' modules are imported where they are used: other commands shall not wait for them.

StudyArgument = Annotated[
    Path, typer.Argument(metavar="STUDY.toml", help="The study, or the results.parquet of one to compute again.")
]


def sweep(
    study: StudyArgument,
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The results' folder; one begun before is gone on with."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-j", min=0, metavar="N", help="Local processes; 0: this one. Default: all cores."),
    ] = None,
    scheduler: Scheduler = None,
    trust_network: TrustNetwork = False,
    backend: Annotated[
        Literal["llvm", "cuda"] | None,
        typer.Option(help="What computes: the processors, or this machine's NVIDIA GPU. Default: what the study says."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the study and say what it would compute; write nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a design study: grids, Latin hypercubes, Monte-Carlo over parameters, payloads, workspaces and robots.

    Stopped at any moment, by Ctrl-C, a kill or the power, the same command goes on from what is on disk. Exit codes:
    0 done, 2 wrong usage, 3 the study, a robot, the folder, the disk, a worker or the scheduler is bad, 4 over a
    budget, 130 interrupted. Results in DIR: results.parquet and manifest.json.

    Examples:

      emdeg sweep payload_study.toml --out results

      emdeg sweep payload_study.toml --out results --scheduler 127.0.0.1:8786

      emdeg sweep payload_study.toml --out results --backend cuda

      emdeg sweep results/results.parquet --out again --json
    """
    from emdeg.sweeps import planned
    from emdeg.sweeps import sweep as run

    refuse({"--trust-network": trust_network and scheduler is None}, "goes with --scheduler")
    refuse({"--workers": workers if scheduler is not None else None}, "does not go with --scheduler, which has its own")
    if dry_run:
        plan, _ = planned(study, backend)
        _show_plan(plan, json)
        return
    try:
        with _progress() as told:
            found = run(
                study,
                _place(study, folder),
                workers=workers,
                scheduler=scheduler,
                trust_network=trust_network,
                backend=backend,
                progress=told,
            )
    except Interrupted as stopped:
        say(f"interrupted: {stopped}; the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        say("interrupted; the same command goes on from what is on disk")
        raise typer.Exit(INTERRUPTED) from None
    except MemoryError:
        raise SweepError("there is not enough memory; a smaller chunk_states needs less") from None
    for note in found.notes:
        say(f"note: {note}")
    result: dict[str, Any] = {
        "folder": str(found.folder),
        "results": str(found.path),
        "rows": found.rows,
        "chunks": found.chunks,
        "computed": found.computed,
        "seconds": found.seconds,
        "busy_seconds": found.busy,
        "sha256": found.manifest["results"]["sha256"],
        "study_digest": found.manifest["study_digest"],
    }
    if json:
        print_json(result)
        return
    before = found.chunks - found.computed
    out.print(f"{found.path}: {found.rows} rows", soft_wrap=True)
    out.print(f"{found.computed} chunks in {found.seconds:.1f} s" + (f", {before} from before" if before else ""))


def _place(study: Path, folder: Path | None) -> Path | None:
    """Where the results go if neither --out nor the study says it: beside nothing, in this folder."""
    from emdeg.sweeps import read_study

    if folder is not None or study.suffix == ".parquet":
        return folder
    return None if read_study(study)[1] is not None else Path(f"{study.stem}_results")


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar with an estimate on stderr, on a terminal only."""
    if not err.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("sweep"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("chunks"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("sweep", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show_plan(plan: Plan, json: bool) -> None:
    work = plan.work
    result = {
        "study": plan.study.name,
        "study_digest": plan.study_digest,
        "cases": [{"robot": case.robot, "payload": case.payload} for case in plan.cases],
        "varied": list(plan.varied),
        "samples": work.samples,
        "states": work.states,
        "chunks": work.chunks,
        "outputs": [label for case in plan.cases[:1] for output in case.outputs for label in output.entries],
    }
    if json:
        print_json(result)
        return
    for key, value in result.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        out.print(f"{key}: {shown}", soft_wrap=True)
