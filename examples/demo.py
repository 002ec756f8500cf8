"""The short tour: derive the PUMA 560, make its report, say what came out. Run by `make demo`."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import emdeg
from emdeg.documents.drawing import percent
from emdeg.reports import Report, report
from emdeg.reports.tradeoff import QUOTED

ROBOT = "puma560"
OUTPUT = Path("demo_output")


def counts(made: Report) -> Table:
    """This robot's programs beside what has been published for it."""
    summary = made.summary
    table = Table(title="Inverse dynamics: multiplications and additions", title_justify="left")
    table.add_column("")
    table.add_column("operations", justify="right")
    for figure in summary["published"]:
        table.add_row(figure["what"], str(figure["total"]))
    level = next(one for one in summary["abbreviated"] if one["threshold"] == QUOTED)
    table.add_row(f"emdeg, explicit, terms below {100 * QUOTED:g} % left out", str(level["operations"]))
    exact = summary["operations"]["inverse_dynamics"]
    table.add_row("[bold]emdeg, exact, proved[/bold]", f"[bold]{exact['mul'] + exact['add']}[/bold]")
    return table


def main() -> None:
    out = Console(highlight=False)
    start = time.perf_counter()
    robot = emdeg.load(ROBOT)
    out.print(f"[bold]{robot.title}[/bold]: {robot.n} joints")

    model = emdeg.derive(robot)
    terms = sum(len(formula) for formula in model.entries().values())
    derived = time.perf_counter()
    out.print(f"explicit equations derived in {derived - start:.2f} s: {terms} terms, expanded")
    with out.status("report") as status:
        made = report(robot, OUTPUT, words=[ROBOT], progress=lambda text: status.update(f"report: {text}"))
    page, source, *_ = made.files
    seconds = time.perf_counter() - start

    out.print(counts(made))
    level = next(one for one in made.summary["abbreviated"] if one["threshold"] == QUOTED)
    out.print(
        f"{made.summary['constants']} lumped constants. Leaving out terms below {percent(QUOTED)} costs at most "
        f"{percent(level['certified'], bound=True)} of a joint's largest effort (certified; {percent(level['found'])} "
        "found)."
    )
    out.print(f"{seconds:.0f} s in all. The same as LaTeX: {source}. Open in a browser:")
    out.print(f"[bold]{page.resolve().as_uri()}[/bold]", soft_wrap=True)


if __name__ == "__main__":
    main()
