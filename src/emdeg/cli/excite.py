"""`emdeg excite`: a motion that shows a robot's parameters, and what will be known before anything moves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from emdeg.cli.common import INTERRUPTED, Json, UsageError, assignments, out, print_json, say
from emdeg.cli.joint_ranges import RangeTexts, joint_ranges
from emdeg.cli.progress import stoppable, working
from emdeg.codegen import write_files
from emdeg.errors import RobotError
from emdeg.robot import Robot

if TYPE_CHECKING:
    from emdeg.identification import Excitation, PredictedParameter


def excite(
    robot: Robot,
    seconds: Annotated[float, typer.Option(min=1.0, max=3600.0, help="How long the motion lasts [s].")] = 20.0,
    rate: Annotated[float, typer.Option(min=1.0, max=20_000.0, help="Samples a second of the log [1/s].")] = 100.0,
    noise: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=VALUE", help="Standard deviation of an effort's sensor [N m, N]. Repeatable."),
    ] = None,
    speed: Annotated[float | None, typer.Option(min=0.0, help="Of every joint at most [rad/s, m/s].")] = None,
    acceleration: Annotated[float | None, typer.Option(min=0.0, help="At most [rad/s^2, m/s^2]; else 5.")] = None,
    range_: RangeTexts = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the motions that are climbed from.")] = 0,
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="F.csv", help="The motion; the scenario F.toml beside it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json: Json = False,
) -> None:
    """A periodic motion that shows the parameters best, and how well each will be known before it is made.

    It begins and ends at rest and keeps the limits of positions, speeds, accelerations and efforts; the latter by the
    file's own masses. Interrupted with Ctrl-C it gives the best found so far, and exits with code 130.

    Examples:

      emdeg excite panda --seconds 20 --out motion.csv

      emdeg excite z1.urdf --seconds 30 --acceleration 3 --json
    """
    from emdeg.identification import excitation_files
    from emdeg.identification import excite as excite_robot

    files: list[Path] = [] if out_file is None else [out_file, out_file.with_suffix(".toml")]
    if out_file is not None and out_file.suffix != ".csv":
        raise UsageError(f"--out is a .csv file; got {out_file.name!r}")
    for file in files:
        if file.exists() and not force:
            raise RobotError("it exists already; pass --force to replace it", file=str(file))
    sensors = _noise(robot, noise or [])
    with working(f"exciting {robot.name}") as tell, stoppable() as stop:
        found = excite_robot(
            robot,
            seconds,
            rate=rate,
            noise=sensors,
            ranges=joint_ranges(range_ or []),
            speed=speed,
            acceleration=acceleration,
            seed=seed,
            progress=lambda text: tell(text) or stop.asked,
        )
    if files:
        table, scenario = excitation_files(found)
        write_files({str(files[0]): table.encode(), str(files[1]): scenario.encode()}, Path(), force=True)
    for note in found.notes:
        say(f"note: {note}")
    if json:
        print_json(as_data(found) | {"files": [str(file) for file in files]})
    else:
        _print(found)
    for file in files:
        say(f"wrote {file}")
    if found.interrupted:
        say("interrupted: this is the best motion so far, within every limit")
        raise typer.Exit(INTERRUPTED)


def _noise(robot: Robot, texts: list[str]) -> list[float] | None:
    """One number a driven joint, where any is given."""
    given = assignments(texts, "--noise")
    if not given:
        return None
    names = [joint.name for joint in robot.driven]
    if missing := sorted(set(names) ^ set(given)):
        raise UsageError(f"--noise needs one number for each of {', '.join(names)}; see {missing[0]}")
    try:
        return [float(given[name]) for name in names]
    except ValueError:
        raise UsageError(f"--noise needs JOINT=NUMBER; got {texts}") from None


def as_data(found: Excitation) -> dict[str, Any]:
    """The predicted standard deviations, what is hardly told apart, the motion's coefficients."""
    motion = found.trajectory
    return {
        "robot": found.robot.name,
        "seconds": found.seconds,
        "rate": found.rate,
        "joints": [joint.name for joint in found.robot.coordinates],
        "noise": found.noise.tolist(),
        "parameters": {one.name: {"deviation": _known(one), "value": one.value} for one in found.parameters},
        "friction": {one.name: {"deviation": _known(one)} for one in found.friction},
        "hardly_told": list(found.hardly_told),
        "condition": found.condition,
        "log_det": found.log_det,
        "largest_efforts": found.efforts.tolist(),
        "trajectory": {
            "period": motion.period,
            "offset": motion.offset.tolist(),
            "a": motion.a.tolist(),
            "b": motion.b.tolist(),
        },
        "notes": list(found.notes),
        "interrupted": found.interrupted,
    }


def _known(one: PredictedParameter) -> float | None:
    """Its standard deviation; None where it has no effect, which JSON has no number for."""
    return one.deviation if math.isfinite(one.deviation) else None


def _print(found: Excitation) -> None:
    table = Table("parameter", "in the file", "+- after the motion", "of its value", title=found.robot.name)
    for one in found.parameters:
        share = "" if not one.value else f"{one.deviation / abs(one.value):.2%}"
        table.add_row(one.name, "" if one.value is None else f"{one.value:.4g}", f"{one.deviation:.2g}", share)
    out.print(table)
    table = Table("friction", "+- after the motion")
    for one in found.friction:
        table.add_row(one.name, f"{one.deviation:.2g}")
    out.print(table)
    for words in found.hardly_told:
        out.print(words, soft_wrap=True)
    period = found.trajectory.period
    out.print(
        f"period {period:g} s, condition {found.condition:.3g}, largest efforts "
        + ", ".join(f"{value:.3g}" for value in found.efforts),
        soft_wrap=True,
    )
