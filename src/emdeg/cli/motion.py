"""`emdeg torques` and `emdeg simulate`: motions of a robot, as tables, figures and animations."""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from emdeg.cli.common import Json, UsageError, err, out, print_json, say, write_new
from emdeg.robot.errors import RobotError
from emdeg.robot.model import Robot

if TYPE_CHECKING:
    from emdeg.simulation.perform import Outcome
    from emdeg.simulation.scenario import Scenario

# The simulation's modules are imported where they are used: other commands shall not wait for SciPy.

Folder = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write CSV, figure and JSON summary into this folder.")
]
Animation = Annotated[
    Path | None, typer.Option("--animation", metavar="FILE", help="Write a moving stick figure: .gif or .html.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def torques(
    robot: Robot,
    trajectory: Annotated[str, typer.Option("--trajectory", metavar="FILE.toml|NAME", help="The motion.")],
    folder: Folder = None,
    animation: Animation = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """The efforts of a given motion.

    Examples:

      emdeg torques stanford_arm --trajectory stanford_fig1

      emdeg torques puma560 --trajectory move.toml --out results --animation move.html
    """
    from emdeg.simulation.perform import perform
    from emdeg.simulation.scenario import load_trajectory

    _, scenario = load_trajectory(trajectory, robot)
    _finish(perform(scenario), folder, animation, force, json)


def simulate(
    robot: Robot,
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="FILE.toml|NAME", help="What the robot shall do: a file or a name.")
    ],
    folder: Folder = None,
    animation: Animation = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Simulate a robot: states, efforts, constants of motion and their drift.

    Examples:

      emdeg simulate stanford_arm --scenario stanford_fig3 --out results --animation results/arm.gif

      emdeg simulate puma560 --scenario my_run.toml --json
    """
    from emdeg.simulation.perform import perform
    from emdeg.simulation.scenario import load_scenario, scenario_names

    plan = load_scenario(scenario, robot)
    if not scenario.endswith(".toml") and scenario in scenario_names():
        say(f"scenario: {plan.title} ({plan.source})")
    if plan.written_for and plan.written_for != robot.name:
        say(f"note: the scenario is written for {plan.written_for}, not for {robot.name}")
    with _progress(plan) as told:
        outcome = perform(plan, told)
    _finish(outcome, folder, animation, force, json)


@contextmanager
def _progress(plan: Scenario) -> Iterator[Callable[[float], None] | None]:
    """A bar on stderr, on a terminal only."""
    if not err.is_terminal or plan.mode == "torques":
        yield None
        return
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("simulating", total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _finish(outcome: Outcome, folder: Path | None, animation: Path | None, force: bool, json: bool) -> None:
    from emdeg.simulation.animation import animate
    from emdeg.simulation.perform import summary

    if animation is not None and animation.suffix not in (".gif", ".html"):
        raise UsageError(f"--animation is written as .gif or .html; got {animation.name!r}")
    result = summary(outcome)
    for warning in outcome.warnings:
        say(f"warning: {warning}")
    files = {} if folder is None else _write(outcome, result, folder, force)
    if animation is not None:
        _need_free(animation, force)
        shown = outcome.prescribed or outcome.motion
        assert shown is not None
        q = shown.q if shown.q.ndim == 2 else shown.q[0]
        animation.parent.mkdir(parents=True, exist_ok=True)
        animate(outcome.robot, shown.t, q, animation, outcome.scenario.title)
        files["animation"] = str(animation)
    for what, file in files.items():
        say(f"{what}: {file}")
    if json:
        print_json(result | {"files": files})
    else:
        _print(outcome, result)


def _write(outcome: Outcome, result: dict[str, Any], folder: Path, force: bool) -> dict[str, str]:
    from emdeg.simulation.figures import save_figure
    from emdeg.simulation.perform import table

    stem = "".join(c if c.isalnum() or c in "_-" else "_" for c in outcome.scenario.name)
    paths = {kind: folder / f"{stem}.{ending}" for kind, ending in
             (("table", "csv"), ("figure", "png"), ("summary", "json"))}
    for path in paths.values():
        _need_free(path, force)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise RobotError(f"cannot be made: {problem.strerror or problem}", file=str(folder)) from None
    write_new(paths["table"], table(outcome), force)
    save_figure(outcome, paths["figure"])
    write_new(paths["summary"], json_.dumps({"schema_version": 1, "result": result}, indent=1) + "\n", force)
    return {kind: str(path) for kind, path in paths.items()}


def _need_free(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise RobotError("it exists already; pass --force to replace it", file=str(path))


def _print(outcome: Outcome, result: dict[str, Any]) -> None:
    samples = result["samples"]
    parts = (("q", result["joints"], "positions [rad, m]"), ("tau", result["efforts"], "efforts [N m, N]"))
    for key, names, title in parts:
        shown = Table(title=title, title_justify="left")
        shown.add_column("t [s]", justify="right")
        for name in names:
            shown.add_column(str(name), justify="right")
        for t, row in zip(samples["t"], samples[key]):
            shown.add_row(f"{t:.4g}", *(f"{value:.8g}" for value in row))
        # Off a terminal nothing is cut: a number that loses its exponent is another number.
        wide = out if out.is_terminal else Console(highlight=False, width=max(out.width, 12 + 18 * len(names)))
        wide.print(shown)
    if result["efforts_on_inner_body"]:
        out.print(f"efforts of {', '.join(result['efforts_on_inner_body'])} act on the inner body", markup=False)
    if "drift" in result:
        drift = ", ".join(f"{name} {value:.3g}" for name, value in result["drift"].items())
        out.print(f"{result['method']}, {result['steps']} steps; drift: {drift}", markup=False)
        for event in result["events"][:20]:
            out.print(f"event at {event['t']:.6g} s: {event['what']} of {event['joint']}", markup=False)
    if "tracking_error" in result:
        errors = ", ".join(f"{value:.3g}" for value in result["tracking_error"])
        out.print(f"largest distance to the trajectory [rad, m]: {errors}", markup=False)
