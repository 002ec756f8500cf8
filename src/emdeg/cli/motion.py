"""`emdeg torques` and `emdeg simulate`: motions of a robot, as tables, figures and animations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from emdeg.cli.common import INTERRUPTED, Json, UsageError, as_json, err, out, print_json, refuse, say
from emdeg.cli.progress import stoppable
from emdeg.cli.terminal import SafeConsole
from emdeg.codegen import write_files
from emdeg.documents import nearest
from emdeg.dynamics.formulations import need_friction
from emdeg.errors import RobotError
from emdeg.robot import Robot

if TYPE_CHECKING:
    from emdeg.simulation.scenarios import Outcome, Scenario

# The simulation's modules are imported where they are used: other commands shall not wait for SciPy.

Folder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write table, figure and JSON summary into this folder.")
]
Form = Annotated[str, typer.Option("--table", metavar="csv|parquet", help="How --out writes the table.")]
Animation = Annotated[
    Path | None, typer.Option("--animation", metavar="FILE", help="Write a moving stick figure: .gif or .html.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Deg = Annotated[bool, typer.Option("--deg", help="Turning joints in degrees in all that is shown and written.")]


def torques(
    robot: Robot,
    trajectory: Annotated[str, typer.Option("--trajectory", metavar="FILE.toml|NAME", help="The motion.")],
    folder: Folder = None,
    form: Form = "csv",
    animation: Animation = None,
    force: Force = False,
    deg: Deg = False,
    json: Json = False,
) -> None:
    """The efforts of a given motion.

    Examples:

      emdeg torques stanford_arm --trajectory stanford_fig1

      emdeg torques puma560 --trajectory move.toml --out results --animation move.html
    """
    from emdeg.simulation.scenarios import load_trajectory, perform

    _, scenario = load_trajectory(trajectory, robot)
    files = _files(scenario, folder, form, animation, force)
    _finish(replace(perform(scenario), deg=deg), files, json)


def simulate(
    robot: Robot,
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="FILE.toml|NAME", help="What the robot shall do: a file or a name.")
    ],
    friction: Annotated[
        bool, typer.Option("--friction", help="The drives' friction acts, whatever the scenario says.")
    ] = False,
    no_effort_limits: Annotated[
        bool, typer.Option("--no-effort-limits", help="Let a controller ask for more than the file's drives can give.")
    ] = False,
    folder: Folder = None,
    form: Form = "csv",
    animation: Animation = None,
    force: Force = False,
    deg: Deg = False,
    json: Json = False,
) -> None:
    """Simulate a robot: states, efforts, constants of motion and their drift.

    Examples:

      emdeg simulate stanford_arm --scenario stanford_fig3 --out results --animation results/arm.gif

      emdeg simulate puma560 --scenario my_run.toml --json
    """
    from emdeg.simulation.scenarios import load_scenario, perform, scenario_names

    plan = load_scenario(scenario, robot)
    if friction:
        need_friction(robot)
        plan = replace(plan, options={**plan.options, "friction": True})
    if no_effort_limits:
        plan = replace(plan, options={**plan.options, "effort_limits": False})
    if not scenario.endswith(".toml") and scenario in scenario_names():
        say(f"scenario: {plan.title} ({plan.source})")
    if plan.written_for and plan.written_for != robot.name:
        say(f"note: the scenario is written for {plan.written_for}, not for {robot.name}")
    files = _files(plan, folder, form, animation, force)
    with _progress(plan) as told, stoppable() as stop:
        outcome = perform(plan, lambda share: told(share) or stop.asked)
    _finish(replace(outcome, deg=deg), files, json)
    if outcome.motion is not None and outcome.motion.interrupted:
        say(
            f"interrupted at t = {outcome.motion.t[-1]:g} s of {plan.duration:g} s: what was run until then is complete"
        )
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _progress(plan: Scenario) -> Iterator[Callable[[float], None]]:
    """A bar on stderr, on a terminal only."""
    if not err.is_terminal or plan.mode == "torques":
        yield lambda share: None
        return
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("simulating", total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _files(plan: Scenario, folder: Path | None, form: str, animation: Path | None, force: bool) -> dict[str, Path]:
    """What will be written, by kind; what cannot be is said before anything runs."""
    from emdeg.documents import arrow
    from emdeg.simulation.pictures import KINDS

    if form not in ("csv", "parquet"):
        raise UsageError(f"--table is csv or parquet; got {form!r}")
    files = {}
    refuse({"--table": folder is None and form != "csv"}, "goes with --out")
    if folder is not None:
        stem = "".join(c if c.isalnum() or c in "_-" else "_" for c in plan.name) or "run"
        endings = {"table": form, "figure": "png", "summary": "json"}
        files = {kind: folder / f"{stem}.{ending}" for kind, ending in endings.items()}
        if form == "parquet":
            arrow()
    if animation is not None:
        if animation.suffix.lower() not in KINDS:
            raise UsageError(f"--animation is written as .gif or .html; got {animation.name!r}")
        files["animation"] = animation
    for path in files.values():
        _need_free(path, force)
    return files


def _need_free(path: Path, force: bool) -> None:
    if path.is_dir():
        raise RobotError("it is a directory", file=str(path))
    if path.exists() and not force:
        raise RobotError("it exists already; pass --force to replace it", file=str(path))
    folder, possible = nearest(path.absolute().parent)
    if not possible:
        why = "is not writable" if folder.is_dir() else "is no folder"
        raise RobotError(f"cannot be written: {folder} {why}", file=str(path))


def _finish(outcome: Outcome, files: dict[str, Path], json: bool) -> None:
    from emdeg.simulation.scenarios import summary

    result = summary(outcome)
    for warning in outcome.warnings:
        say(f"warning: {warning}")
    write_files({str(path): _content(kind, path, outcome, result) for kind, path in files.items()}, Path(), force=True)
    written = {kind: str(path) for kind, path in files.items()}
    for kind, path in written.items():
        say(f"{kind}: {path}")
    if json:
        print_json(result | {"files": written})
    else:
        _print(outcome, result)


def _content(kind: str, path: Path, outcome: Outcome, result: dict[str, Any]) -> bytes:
    from emdeg.simulation.pictures import animation, figure_bytes
    from emdeg.simulation.scenarios import table

    match kind:
        case "table":
            return table(outcome, path.suffix.removeprefix("."))
        case "figure":
            return figure_bytes(outcome)
        case "summary":
            return as_json(result, indent=1).encode()
    shown = outcome.prescribed or outcome.motion
    assert shown is not None
    q = shown.q if shown.q.ndim == 2 else shown.q[0]
    return animation(outcome.robot, shown.t, q, path.suffix.lower(), outcome.scenario.title)


def _print(outcome: Outcome, result: dict[str, Any]) -> None:
    samples = result["samples"]
    angle = result["angles"]
    parts = (("q", result["joints"], f"positions [{angle}, m]"), ("tau", result["efforts"], "efforts [N m, N]"))
    for key, names, title in parts:
        shown = Table(title=title, title_justify="left")
        shown.add_column("t [s]", justify="right")
        for name in names:
            shown.add_column(str(name), justify="right")
        for t, row in zip(samples["t"], samples[key]):
            shown.add_row(f"{t:.4g}", *(f"{value:.8g}" for value in row))
        # Off a terminal nothing is cut: a number that loses its exponent is another number.
        width = max(out.width, 12 + 18 * len(names))
        wide = out if out.is_terminal else SafeConsole(highlight=False, markup=False, emoji=False, width=width)
        wide.print(shown)
    if result["efforts_on_inner_body"]:
        out.print(f"efforts of {', '.join(result['efforts_on_inner_body'])} act on the inner body")
    if "drift" in result:
        drift = ", ".join(f"{name} {value:.3g}" for name, value in result["drift"].items())
        out.print(f"{result['method']}, {result['steps']} steps; drift: {drift}", soft_wrap=True)
        for event in result["events"][:20]:
            out.print(f"event at {event['t']:.6g} s: {event['what']} of {event['joint']}")
    if "tracking_error" in result:
        errors = ", ".join(f"{value:.3g}" for value in result["tracking_error"])
        out.print(f"largest distance to the trajectory [{angle}, m]: {errors}", soft_wrap=True)
