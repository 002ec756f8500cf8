"""`emdeg loops`: how a mechanism's loops close, in which modes, where they are singular, over what workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from emdeg.algebra import Array
from emdeg.analysis import analyse
from emdeg.cli.analyse_loops import say_written
from emdeg.cli.common import Json, UsageError, head, out, print_json, refuse
from emdeg.cli.evaluate import read_state
from emdeg.cli.progress import working
from emdeg.errors import RobotError
from emdeg.loops import Branch, branches, mode, ready, singularity_figures, weak_loops
from emdeg.robot import Robot

LISTED = 32
"""Labels that are printed in one line; --json and --branches have all."""


def loops(
    robot: Robot,
    q: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="The pose [rad, m], one number a coordinate; else the file's start."),
    ] = None,
    modes: Annotated[
        bool, typer.Option("--modes", help="Every mode's label at the pose, and the signs of the one in use.")
    ] = False,
    branches_: Annotated[bool, typer.Option("--branches", help="Every way the loops close at the pose.")] = False,
    singularities: Annotated[
        bool, typer.Option("--singularities", help="Distances from both kinds, at the pose and over the workspace.")
    ] = False,
    map_: Annotated[bool, typer.Option("--map", help="The workspace, and maps of both kinds over it.")] = False,
    samples: Annotated[int | None, typer.Option(min=1, max=10**7, help="Poses to look at over the workspace.")] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write the maps as figures, and CSV beside each.")
    ] = None,
    json: Json = False,
) -> None:
    """Say how a mechanism's loops close: joints, modes, branches, singularities, workspace.

    Positions of all joints carry their names, in the order of the file along each chain, depth first. A mode is asked
    for with --mode LABEL, in the robot's file ([loops] modes = { LOOP = -1 }) or in Python (emdeg.loops.with_mode).

    Examples:

      emdeg loops delta --modes

      emdeg loops delta --branches --q=0.05,-0.08,-0.45 --json

      emdeg loops delta --mode=-++ --modes

      emdeg loops fivebar --singularities --map --out figures
    """
    if robot.is_tree:
        raise RobotError("it has no closed loops", body=robot.name)
    if not (singularities or map_):
        refuse({"--samples": samples, "--out": out_folder}, "is for --singularities and --map")
    pose = ready(robot).home if q is None else _pose(q, robot)
    found = ready(robot)
    here = mode(robot, pose)
    result: dict[str, Any] = {
        "robot": robot.name,
        "mobility": str(found.mobility),
        "coordinates": [joint.name for joint in robot.coordinates],
        "driven": [joint.name for joint in robot.driven],
        "closure": "analytic" if found.plan is not None else "numeric",
        "q": _named([joint.name for joint in robot.coordinates], pose),
        "mode": _branch(robot, here),
    }
    files: Sequence[Path] = ()
    if modes:
        result["modes"] = _modes(robot, here)
    if modes or branches_:
        with working("every way to close"):
            ways = branches(robot, pose)
        result["labels"] = [one.label for one in ways]
        if branches_:
            result["branches"] = [_branch(robot, one) for one in ways]
    if singularities or map_:
        first, second, *_ = singularity_figures(robot, pose)
        weak = weak_loops(robot, pose)
        result["singularity"] = {
            "first": {"distance": float(first), "loop": weak["first"]},
            "second": {"distance": float(second), "loop": weak["second"]},
        }
        parts = ("workspace", "singularities") if map_ else ("singularities",)
        with working("looking over the workspace"):
            study = analyse(robot, parts, samples=samples, folder=out_folder)
        result |= {part: study.data[part] for part in parts}
        files = study.files
        result["files"] = [str(path) for path in files]
    say_written(files)
    if json:
        print_json(result)
    else:
        _print(robot, result)


def _pose(text: str, robot: Robot) -> Array:
    pose = read_state(text, "q", robot)
    if pose.ndim != 1:
        raise UsageError("--q takes one pose here, numbers with commas")
    return pose


def _named(names: Sequence[str], values: Array) -> dict[str, float]:
    return dict(zip(names, np.asarray(values).tolist()))


def _positions(robot: Robot, joints: Array) -> dict[str, float]:
    """{joint: position} in the order of the tree: the file's along each chain, depth first."""
    return _named([joint.name for joint in robot.joints], joints)


def _branch(robot: Robot, one: Branch) -> dict[str, Any]:
    return {
        "label": one.label,
        "modes": one.modes,
        "sides": one.sides,
        "joints": _positions(robot, one.joints),
    }


def _modes(robot: Robot, here: Branch) -> list[dict[str, Any]]:
    """Every loop with a choice: the sign in use, the side of its knee here, and the joints of the other choice."""
    start = mode(robot, ready(robot).home)
    return [
        {"loop": loop, "sign": sign, "side": here.sides.get(loop), "side_at_start": start.sides.get(loop)}
        for loop, sign in here.modes.items()
    ]


def _print(robot: Robot, result: dict[str, Any]) -> None:
    head(result["robot"], result["mobility"])
    here = result["mode"]
    pose = ", ".join(f"{name} = {value:.6g}" for name, value in result["q"].items())
    sides = ", ".join(f"{loop} {side}" for loop, side in here["sides"].items())
    out.print(f"closes {result['closure']}ally; at {pose}: mode {here['label']}" + (f" ({sides})" if sides else ""))
    kinds = {joint.name: "rad" if joint.kind == "revolute" else "m" for joint in robot.joints}
    if "branches" not in result:
        table = Table("joint", "position", "", title="Every joint of the tree", title_justify="left")
        for name, value in here["joints"].items():
            table.add_row(name, f"{value:.9g}", kinds[name])
        out.print(table)
    if "modes" in result:
        table = Table("loop", "sign", "knee here", "at the start", title="Modes", title_justify="left")
        for row in result["modes"]:
            sign = "+1" if row["sign"] > 0 else "-1"
            table.add_row(row["loop"], sign, row["side"] or "", row["side_at_start"] or "")
        if result["modes"]:
            out.print(table)
        else:
            out.print("no signs to choose: one way, or ways found by a search")
        labels = result["labels"]
        listed = ", ".join(labels[:LISTED]) + (", ..." if len(labels) > LISTED else "")
        out.print(f"{len(labels)} to ask for here (--mode=LABEL): {listed}", soft_wrap=True)
    if "branches" in result:
        names = list(here["joints"])
        table = Table("branch", *names, title=f"{len(result['branches'])} ways to close", title_justify="left")
        for one in result["branches"]:
            mark = "*" if one["joints"] == here["joints"] else ""
            table.add_row(one["label"] + mark, *(f"{one['joints'][name]:.6g}" for name in names))
        out.print(table)
    if "singularity" in result:
        for kind, one in result["singularity"].items():
            out.print(f"{kind} kind: distance {one['distance']:.4g} at this pose, loop {one['loop']}")
    for kind in ("first", "second"):
        if one := result.get("singularities", {}).get(kind):
            at = ", ".join(f"{value:.4g}" for value in one["at"])
            out.print(
                f"{kind} kind over the workspace: nearest {one['smallest_distance']:.3g} at ({at}), {one['loop']}"
            )
    if "workspace" in result:
        space = result["workspace"]
        out.print(
            f"{space['reached']} of {space['samples']} samples reached; volume {space['volume']:.4g} "
            f"+- {space['volume_standard_error']:.2g} {space['volume_unit']}"
        )
