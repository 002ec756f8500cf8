"""`emdeg show`, `emdeg robots`, `emdeg check`, `emdeg new`: looking at robots."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from emdeg.cli.common import CHECK_FAILED, Json, UsageError, assignments, head, out, print_json, say, write_new
from emdeg.documents import document, text
from emdeg.dynamics import kind_of
from emdeg.errors import RobotError, StateError
from emdeg.loops import ready
from emdeg.papers.bench import CAMPAIGN
from emdeg.reports import PARAMETERS, number
from emdeg.reports import robot_tables as tables
from emdeg.robot import (
    BASE,
    LOOP_TEMPLATE,
    SNAP,
    TEMPLATE,
    Robot,
    assemble,
    findings,
    library_names,
    load,
    parse_locks,
    read_draft,
    to_toml,
)


def summary(robot: Robot) -> list[Table]:
    """The tables that describe a robot: frames, inertias, drives."""
    cells = [tables.frames(robot), *tables.inertias(robot)]
    if (drives := tables.drives(robot)) is not None:
        cells.append(drives)
    return [_table(one) for one in cells]


def _table(cells: document.Table) -> Table:
    table = Table(title=cells.title, title_justify="left")
    for column in cells.head:
        table.add_column(column)
    for row in cells.rows:
        table.add_row(*(text.cell(value) for value in row))
    return table


def print_summary(robot: Robot) -> None:
    """The robot for a person: what it is, where it comes from, its tables, what was checked."""
    head(robot.name, robot.title)
    gravity = ", ".join(number(g) for g in robot.gravity)
    out.print(
        f"{tables.kind(robot)} of {robot.n} joints; gravity ({gravity}) m/s^2; "
        f"tool on {'the base' if robot.tool.link == BASE else robot.links[robot.tool.link].name}"
    )
    if robot.hidden:
        _print_loops(robot)
    if robot.source:
        out.print(f"source: {robot.source}")
    if robot.symbols:
        out.print(f"symbols ({len(robot.symbols)}): {', '.join(sorted(robot.symbols))}")
    for table in summary(robot):
        out.print(table)
    for payload in robot.payloads:
        out.print(f"payload {payload.name} on {payload.link}: {number(payload.mass)} kg")
    broken = [note for note in robot.notes if note.startswith("nonphysical")]
    if broken:
        out.print(f"checked: mass, positive semidefinite inertia, triangle inequality: {len(broken)} broken")
        if robot.nonphysical:
            out.print(f"  the file says why: {robot.nonphysical}")
        for note in broken:
            out.print(f"  {note.removeprefix('nonphysical: ')}")
    else:
        out.print("checked: mass, positive semidefinite inertia, triangle inequality: kept by every link")
    if robot.tolerances:
        out.print(f"tolerances stated for {len(robot.tolerances)} parameters")


def _print_loops(robot: Robot) -> None:
    for rod in robot.rods:
        out.print(f"rod {rod.name}: {number(rod.length)} m, {number(rod.mass)} kg")
    for closure in robot.closures:
        out.print(f"{closure.kind} joint {closure.name} closes a loop")
    out.print(
        f"coordinates: {', '.join(joint.name for joint in robot.coordinates)}; "
        f"driven: {', '.join(joint.name for joint in robot.driven)}"
    )
    if not robot.symbols:
        out.print(str(kind_of(robot).mobility(robot)), soft_wrap=True)


def _loops_data(robot: Robot) -> dict[str, Any]:
    data: dict[str, Any] = {
        "rods": [
            {"name": r.name, "length": str(r.length), "mass": str(r.mass), "com": str(r.com), "inertia": str(r.inertia)}
            for r in robot.rods
        ],
        "closures": [{"name": c.name, "type": c.kind} for c in robot.closures],
        "coordinates": [joint.name for joint in robot.coordinates],
        "driven": [joint.name for joint in robot.driven],
    }
    if not robot.symbols:
        found = ready(robot).mobility
        data |= {
            "equations": found.equations,
            "rank": found.rank,
            "mobility": found.freedoms,
            "redundant": list(found.redundant),
        }
    return data


def as_data(robot: Robot) -> dict[str, Any]:
    """The robot as plain data: exact values as strings, so nothing is lost."""
    links = []
    for link in robot.links:
        joint, place = link.joint, link.joint.placement
        links.append(
            {
                "name": link.name,
                "parent": None if link.parent == BASE else robot.links[link.parent].name,
                "joint": {
                    "name": joint.name,
                    "type": joint.kind,
                    "alpha": str(place.alpha),
                    "a": str(place.a),
                    "theta": str(place.theta),
                    "d": str(place.d),
                    "gamma": str(place.gamma),
                    "b": str(place.b),
                    "beta": str(place.beta),
                    "limits": {
                        "lower": _float(joint.limits.lower),
                        "upper": _float(joint.limits.upper),
                        "velocity": _float(joint.limits.velocity),
                        "effort": _float(joint.limits.effort),
                    },
                },
                "inertia": dict(zip(PARAMETERS, (str(v) for v in link.inertia.parameters))),
                "drive_inertia": str(joint.drive.inertia),
            }
        )
    return {
        "name": robot.name,
        "title": robot.title,
        "source": robot.source,
        "joints": robot.n,
        "serial": robot.is_serial,
        "gravity": [str(g) for g in robot.gravity],
        "symbols": sorted(robot.symbols),
        "base": {"xyz": [str(v) for v in robot.base.xyz], "rpy": [str(v) for v in robot.base.rpy]},
        "tool": {
            "link": None if robot.tool.link == BASE else robot.links[robot.tool.link].name,
            "xyz": [str(v) for v in robot.tool.pose.xyz],
            "rpy": [str(v) for v in robot.tool.pose.rpy],
        },
        "links": links,
        "notes": list(robot.notes),
        "nonphysical": robot.nonphysical,
        "tolerances": {path: float(value) for path, value in robot.tolerances.items()},
        "loops": _loops_data(robot) if robot.hidden else None,
    }


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def show(
    robot: Robot,
    format: Annotated[Literal["text", "toml"], typer.Option(help="For reading, or as a robot file.")] = "text",
    json: Json = False,
) -> None:
    """Show a robot: its frames, inertias, drives, where the numbers come from.

    Examples:

      emdeg show puma560

      emdeg show my_arm.urdf --format toml > my_arm.toml
    """
    if json:
        print_json(as_data(robot))
    elif format == "toml":
        typer.echo(to_toml(robot), nl=False)
    else:
        print_summary(robot)


def robots(json: Json = False) -> None:
    """List the robots that come with emdeg."""
    rows = []
    for name in library_names():
        robot = load(name)
        rows.append({"name": name, "joints": robot.n, "symbols": len(robot.symbols), "title": robot.title})
    if json:
        print_json(rows)
        return
    table = Table("name", "joints", "symbols", "what it is")
    for row in rows:
        table.add_row(row["name"], str(row["joints"]), str(row["symbols"] or ""), row["title"])
    out.print(table)


def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A robot file, or a library robot's name.")],
    snap: Annotated[float, typer.Option(metavar="ANGLE", help="As for every command [rad]; 0 disables.")] = SNAP,
    lock: Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=VALUE", help="Make a joint rigid at a value [rad, m, or '30 deg']."),
    ] = None,
    allow_nonphysical: Annotated[bool, typer.Option("--allow-nonphysical", help="Broken rules only warn.")] = False,
    json: Json = False,
) -> None:
    """Check a robot file against every rule; exit code 1 if a physical rule is broken and the file does not say why.

    Example:

      emdeg check my_arm.urdf
    """
    draft = read_draft(file, snap=snap)
    locks = parse_locks(assignments(lock or [], "--lock"))
    robot = assemble(draft, locks=locks, allow_nonphysical=True)
    if not robot.symbols:
        try:
            kind_of(robot).mobility(robot)  # it can move as the file says
        except StateError as problem:
            raise RobotError(str(problem), file=file) from None
    broken = findings(draft)
    excused = bool(draft.nonphysical) or allow_nonphysical
    passed = not broken or excused
    if json:
        print_json(
            {
                "passed": passed,
                "joints": robot.n,
                "broken": [{"body": f.body, "line": f.line, "rule": f.rule} for f in broken],
                "nonphysical": draft.nonphysical,
                "notes": list(draft.notes),
            }
        )
    else:
        for finding in broken:
            place = f"{file}:{finding.line}" if finding.line else file
            say(f"{'warning' if excused else 'error'}: {place}: {finding}")
        for note in draft.notes:
            say(f"note: {note}")
        if broken and draft.nonphysical:
            say(f"the file says why: {draft.nonphysical}")
        verdict = "passes" if not broken else "passes with warnings" if excused else "breaks physical rules"
        out.print(f"{file}: {robot.n} joints, {len(draft.bodies)} links: {verdict}", soft_wrap=True)
    if not passed:
        raise typer.Exit(CHECK_FAILED)


def new(
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write here instead of to stdout.")
    ] = None,
    campaign: Annotated[
        bool, typer.Option("--campaign", help="A measuring campaign instead (see `emdeg measure`).")
    ] = False,
    loop: Annotated[bool, typer.Option("--loop", help="A mechanism with a closed loop instead.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: Json = False,
) -> None:
    """Print a commented robot file to start from.

    Examples:

      emdeg new --out my_arm.toml && emdeg show my_arm.toml

      emdeg new --loop --out my_linkage.toml && emdeg loops my_linkage.toml --modes

      emdeg new --campaign --out bench.toml && emdeg measure bench.toml
    """
    if campaign and loop:
        raise UsageError("--campaign and --loop are two files: ask for one")
    template = CAMPAIGN if campaign else LOOP_TEMPLATE if loop else TEMPLATE
    if out_file is not None:
        write_new(out_file, template, force)
        say(f"wrote {out_file}")
    if json:
        print_json({"file": None if out_file is None else str(out_file), "text": template})
    elif out_file is None:
        typer.echo(template, nl=False)
