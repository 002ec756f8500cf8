"""`emdeg report`: what emdeg knows of a robot, as one page for people and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from emdeg.cli.common import Json, err, print_json, say
from emdeg.cli.effort import Effort, checked_effort
from emdeg.cli.joint_ranges import joint_ranges
from emdeg.cli.robots import Chosen
from emdeg.codegen import identifier


def report(
    robot: Chosen,
    out_dir: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where the report goes; by default ROBOT_report.")
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", metavar="JOINT=LOW:HIGH", help="A range [rad, m, or '30 deg'] of a joint. Repeatable."),
    ] = None,
    effort: Effort = None,
    curve: Annotated[
        float,
        typer.Option(help="Processor time [s] for short programs on the chart of operations and errors.", min=0),
    ] = 0.0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that emdeg did not generate.")] = False,
    json: Json = False,
) -> None:
    """Write a report: one HTML page that needs no network, and the same as LaTeX.

    The page shows the robot in 3-D, its explicit equations with a slider that hides small terms, operation counts,
    loads over the workspace, efforts along a motion, and C code with its proof.

    Examples:

      emdeg report puma560

      emdeg report my_arm.urdf --out report --range "q3=0:0.5"

      emdeg report my_arm.urdf --curve 60
    """
    # Drawing and proving take as long to import as other commands take to run.
    from emdeg.reports import report as make

    loaded = robot.load()
    name = identifier(Path(robot.argument).stem)
    options = [f"--range={text}" for text in ranges or []]
    options += [] if effort is None else [f"--effort={effort:g}"]
    options += [f"--curve={curve:g}"] if curve else []
    folder = out_dir or Path(f"{name}_report")
    # An interrupt leaves nothing behind: the report's files are written together, at its end.
    with _progress() as progress:
        made = make(
            loaded,
            folder,
            ranges=joint_ranges(ranges or []),
            effort=checked_effort(effort),
            curve=curve,
            force=force,
            words=robot.words,
            options=options,
            stem=Path(robot.argument).stem,
            progress=progress,
        )
    for path in made.files[:2]:
        say(f"wrote {path}")
    if json:
        files = [str(path) for path in made.files]
        print_json({**made.summary, "page": files[0], "latex": files[1], "files": files})


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """What is being done, on one line of a terminal, else one line each."""
    if not err.is_terminal:
        yield lambda text: say(f"report: {text}")
        return
    with err.status("") as status:
        yield lambda text: status.update(escape(text))
