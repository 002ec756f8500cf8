"""`emdeg identify`: a robot's parameters and friction from logs."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from emdeg.cli.common import (
    Json,
    Scheduler,
    TrustNetwork,
    UsageError,
    assignments,
    out,
    print_json,
    refuse,
    say,
    write_new,
)
from emdeg.cli.progress import Tell, working
from emdeg.cli.robots import Chosen
from emdeg.errors import RobotError

if TYPE_CHECKING:
    from emdeg.identification import Estimate, Everywhere, FrictionFit, Identification, PayloadFit, Validation
    from emdeg.robot import Robot

FRICTION = ("auto", "stribeck", "coulomb", "none")


def identify(
    robot: Chosen,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs, .csv or .parquet.")],
    validate: Annotated[
        Path | None, typer.Option(metavar="LOG", help="A log that is not identified: how well is it explained?")
    ] = None,
    friction: Annotated[
        str, typer.Option(metavar="|".join(FRICTION), help="Terms that earn their place, a law, or no friction.")
    ] = "auto",
    torque_constant: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=VALUE", help="[N m/A, N/A] at the joint, where currents are logged. Repeatable."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="payload", help="The load alone, from two logs: LOG without it, LOG with it."),
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="NEW.toml|NEW.urdf", help="Write the robot: bodies that can exist; or the payload."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="PAGE.html", help="Write a page: measured and predicted, what is left, tests."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    accept_doubts: Annotated[
        bool, typer.Option("--accept-doubts", help="Go on with a log that seems to be wrong.")
    ] = False,
    scheduler: Scheduler = None,
    trust_network: TrustNetwork = False,
    json: Json = False,
) -> None:
    """From logs to numbers: base parameters and friction with 95% intervals, validated on another log.

    A log has a header: t, q_NAME, tau_NAME (or current_NAME), and qd_NAME, qdd_NAME where they were recorded; SI units,
    radians.

    Examples:

      emdeg identify panda.urdf log1.csv log2.csv --validate log3.csv --html page.html

      emdeg identify puma560 log.parquet --out new.toml --json

      emdeg identify panda.urdf empty.csv loaded.csv --only payload --out load.toml

      emdeg identify panda.urdf logs/*.parquet --scheduler 127.0.0.1:8786
    """
    from emdeg.identification import identify as identify_logs
    from emdeg.identification import read_log, validated
    from emdeg.reports import identified_page

    refuse({"--trust-network": trust_network and scheduler is None}, "goes with --scheduler")
    if friction not in FRICTION:
        raise UsageError(f"--friction is one of {', '.join(FRICTION)}; got {friction!r}")
    try:
        constants = {name: float(v) for name, v in assignments(torque_constant or [], "--torque-constant").items()}
    except ValueError:
        raise UsageError(f"--torque-constant needs JOINT=NUMBER; got {torque_constant}") from None
    _need_writable(robot, out_file, page, force)
    if only is not None:
        if scheduler is not None:
            raise UsageError("--only payload reads its two logs here: it goes without --scheduler")
        _need_payload(only, logs, validate, out_file, page)
        _payload(robot.load(), logs, friction, constants, out_file, force, accept_doubts, json)
        return
    start = robot.load()
    with working(f"identifying {start.name}") as tell:
        found = identify_logs(
            start,
            logs,
            friction=friction,  # type: ignore[arg-type]
            torque_constants=constants,
            accept_doubts=accept_doubts,
            everywhere=_cluster(scheduler, trust_network),
            progress=tell,
        )
        other = None if validate is None else read_log(validate, found.robot)
        checked = None if other is None else validated(found, other, accept_doubts=accept_doubts)
        distance = None if out_file is None else _written(found, robot, out_file, force, tell)
        if page is not None:
            # The first log's doubts are known above.
            shown = checked or validated(found, read_log(logs[0], found.robot), accept_doubts=True)
            write_new(page, identified_page(found, shown, checked is not None, " ".join(robot.words)), force)
    doubts = () if checked is None else checked.doubts
    for note in (*found.notes, *(f"{validate}: {doubt.words}" for doubt in doubts)):
        say(f"note: {note}")
    if json:
        bodies = None if distance is None else {"file": str(out_file), "distance": distance}
        print_json(as_data(found, checked) | {"robot_file": bodies})
    else:
        _print(found, checked)
    if page is not None:
        say(f"wrote {page}")
    if distance is not None:
        say(f"wrote {out_file}: its bodies' base parameters lie {distance:.2g} standard deviations from those found")


def _cluster(scheduler: str | None, trust_network: bool) -> Everywhere | None:
    """What reads and smooths logs on a scheduler's workers."""
    if scheduler is None:
        return None
    from emdeg.sweeps import cluster_map, scheduler_address

    return partial(cluster_map, address=scheduler_address(scheduler, trust_network), what="log")


def _need_payload(only: str, logs: list[Path], validate: Path | None, out_file: Path | None, page: Path | None) -> None:
    if only != "payload":
        raise UsageError(f"--only is payload; got {only!r}")
    if len(logs) != 2:
        raise UsageError(f"--only payload needs two logs, without the load and with it; got {len(logs)}")
    if validate is not None or page is not None:
        raise UsageError("--only payload goes without --validate and --html")
    if out_file is not None and out_file.suffix != ".toml":
        raise UsageError(f"--only payload writes a .toml file, for --payload; got {out_file.name!r}")


def _payload(
    robot: Robot,
    logs: list[Path],
    friction: str,
    constants: dict[str, float],
    out_file: Path | None,
    force: bool,
    accept_doubts: bool,
    json: bool,
) -> None:
    """The load alone, printed and written."""
    from emdeg.identification import identify_payload, payload_toml

    with working(f"identifying what {robot.name} carries") as tell:
        found = identify_payload(
            robot,
            *logs,
            friction=friction,  # type: ignore[arg-type]
            torque_constants=constants,
            accept_doubts=accept_doubts,
            progress=tell,
        )
        if out_file is not None:
            write_new(out_file, payload_toml(found), force)
    for note in found.notes:
        say(f"note: {note}")
    if json:
        print_json(payload_data(found) | {"payload_file": None if out_file is None else str(out_file)})
    else:
        table = Table("of the load", "value", "95% from", "to", title=f"{robot.name}: carried by {found.link}")
        for name, value in _load_rows(found):
            table.add_row(name, *_numbers(value))
        out.print(table)
        for words in found.hidden:
            out.print(f"not identified: {words}", soft_wrap=True)
    if found.tensor is not None and not found.can_exist:
        say("note: no body has this tensor: the motion shows it too little; a payload file has none")
    if out_file is not None:
        say(f"wrote {out_file}")


def _load_rows(found: PayloadFit) -> list[tuple[str, Estimate]]:
    rows = [("mass [kg]", found.mass)]
    rows += [(f"com {axis} [m]", value) for axis, value in zip("xyz", found.com or ())]
    return rows + [(f"I{name.lower()} [kg m^2]", value) for name, value in (found.tensor or {}).items()]


def payload_data(found: PayloadFit) -> dict[str, Any]:
    """{"payload": {"link", "mass": {value, low, high}, "com": [...], "tensor": {...}}}; null for what is not shown."""
    tensor = None if found.tensor is None else {f"I{k.lower()}": asdict(v) for k, v in found.tensor.items()}
    return {
        "robot": found.robot.name,
        "payload": {
            "link": found.link,
            "mass": asdict(found.mass),
            "com": None if found.com is None else [asdict(value) for value in found.com],
            "tensor": tensor,
            "can_exist": found.can_exist,
        },
        "not_identified": list(found.hidden),
        "notes": list(found.notes),
    }


def _need_writable(robot: Chosen, out_file: Path | None, page: Path | None, force: bool) -> None:
    """What cannot be written is said before anything is worked out."""
    if page is not None and page.suffix != ".html":
        raise UsageError(f"--html is a .html file; got {page.name!r}")
    for file in (out_file, page):
        if file is not None and file.exists() and not force:
            raise RobotError("it exists already; pass --force to replace it", file=str(file))
    if out_file is None:
        return
    if out_file.suffix not in (".toml", ".urdf"):
        raise UsageError(f"--out is a .toml or .urdf file; got {out_file.name!r}")
    if out_file.suffix == ".urdf" and (not robot.argument.endswith(".urdf") or robot.options["lock"]):
        raise UsageError("--out NEW.urdf replaces the inertials of a URDF: ROBOT must be one, without --lock")


def _written(found: Identification, robot: Chosen, out_file: Path, force: bool, tell: Tell) -> float:
    """Writes the identified robot; how far its bodies are from what was found, in standard deviations."""
    from emdeg.identification import identified_robot, identified_urdf
    from emdeg.robot import to_toml

    tell("bodies that can exist")
    new, bodies = identified_robot(found)
    if out_file.suffix == ".toml":
        write_new(out_file, to_toml(new), force)
    else:
        if any(joint.drive.inertia for joint in new.joints):
            say("note: a URDF has no place for the drives' inertias; --out NEW.toml keeps them")
        write_new(out_file, identified_urdf(new, Path(robot.argument).read_text(encoding="utf-8-sig")), force)
    return bodies.distance


def as_data(found: Identification, checked: Validation | None) -> dict[str, Any]:
    """{"parameters": {name: value, low, high}, "friction": {joint: ...}, "validation": {"relative_error": [...]}}."""
    return {
        "robot": found.robot.name,
        "parameters": {
            name: asdict(value) | {"combination": found.combinations[name]} for name, value in found.parameters.items()
        },
        "friction": {fit.joint: _friction_data(fit) for fit in found.friction},
        "motor_constants": {name: asdict(value) for name, value in found.constants.items()},
        "friction_tests": [asdict(test) for test in found.tests],
        "not_identified": list(found.hidden),
        "notes": list(found.notes),
        "doubts": [asdict(doubt) for doubt in found.doubts],
        "logs": [_log_data(one) for one in found.logs],
        "rows": found.fit.rows,
        "rows_that_count_less": found.fit.far,
        "validation": None if checked is None else _validation_data(checked),
    }


def _friction_data(fit: FrictionFit) -> dict[str, Any]:
    return {name: value for name, value in asdict(fit).items() if name != "joint"}


def _log_data(one: Any) -> dict[str, Any]:
    return {
        "file": one.file,
        "samples": len(one),
        "step": one.step,
        "band": one.band,
        "position_noise": one.position_noise.tolist(),
    }


def _validation_data(checked: Validation) -> dict[str, Any]:
    joints = [asdict(joint) | {"dominated_by": joint.dominated_by} for joint in checked.joints]
    doubts = [asdict(doubt) for doubt in checked.doubts]
    return {"file": checked.file, "relative_error": checked.relative_error, "joints": joints, "doubts": doubts}


def _print(found: Identification, checked: Validation | None) -> None:
    table = Table("parameter", "value", "95% from", "to", "stands for", title=f"{found.robot.name}: base parameters")
    for name, value in found.parameters.items():
        table.add_row(name, *_numbers(value), found.combinations[name])
    out.print(table)
    table = Table("joint", "law", "viscous", "Coulomb", "at rest", "Stribeck velocity", "offset", title="friction")
    for fit in found.friction:
        cells = (fit.viscous, fit.coulomb, fit.stribeck, fit.stribeck_velocity, fit.offset)
        table.add_row(fit.joint, fit.law, *("" if cell is None else _plus(cell) for cell in cells))
    out.print(table)
    for words in found.hidden:
        out.print(f"not identified: {words}", soft_wrap=True)
    if checked is not None:
        table = Table("joint", "rms of what is left", "relative", "worst", "noise", "model error", "dominated by")
        table.title = f"validation: {checked.file}"
        for joint in checked.joints:
            sizes = (f"{v:.3g}" for v in (joint.worst, joint.noise, joint.model_error))
            cells = (f"{joint.rms:.3g} {joint.unit}", f"{joint.relative:.2%}", *sizes, joint.dominated_by)
            table.add_row(joint.joint, *cells)
        out.print(table)


def _numbers(value: Estimate) -> tuple[str, str, str]:
    return f"{value.value:.5g}", f"{value.low:.5g}", f"{value.high:.5g}"


def _plus(value: Estimate) -> str:
    return f"{value.value:.4g} +- {value.high - value.value:.2g}"
