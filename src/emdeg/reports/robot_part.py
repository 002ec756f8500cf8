"""The section that says what the robot is: picture, frames, inertias, drives, sources, warnings."""

from __future__ import annotations

from dataclasses import replace

from emdeg.mechanics import kind_of
from emdeg.reports import robot_tables as tables
from emdeg.reports.robot_tables import number
from emdeg.reports.scene import scene
from emdeg.reports.subject import LENGTH, Subject
from emdeg.robot import BASE, Robot
from emdeg.writing import Facts, Item, Note, Paragraph, Section, Table

MOST_NOTES = 12


def robot_section(subject: Subject) -> Section:
    """The section."""
    robot = subject.robot
    items: list[Item] = [scene(subject)]
    if subject.symbolic:
        items.append(Note(f"Lengths and angles that are symbols are drawn as {float(LENGTH):g} m and rad."))
    items.append(Facts(_facts(robot)))
    items += _warnings(robot)
    items += [_squared(tables.frames(robot))]
    items += [_squared(table) for table in tables.inertias(robot)]
    drives = tables.drives(robot)
    if drives is None:
        items.append(Paragraph("Nothing is known of its drives."))
    else:
        items.append(_squared(drives))
    paths = list(dict.fromkeys([*robot.sources, *robot.tolerances]))
    if paths:
        rows = tuple(
            (
                path,
                f"{float(robot.tolerances[path]):.3g}" if path in robot.tolerances else "",
                robot.sources.get(path, ""),
            )
            for path in paths
        )
        items.append(Table(("parameter", "±", "source"), rows, "Tolerances and sources of single values", True))
    return Section("robot", "The robot", tuple(items))


def _squared(table: Table) -> Table:
    """The table with its units as a page can write them."""
    return replace(table, title=table.title.replace("^2", "²"))


def _facts(robot: Robot) -> tuple[tuple[str, str], ...]:
    tool = "the base" if robot.tool.link == BASE else robot.links[robot.tool.link].name
    rows = [
        ("what it is", f"{tables.kind(robot)} of {robot.n} joints"),
        ("gravity", f"({', '.join(number(g) for g in robot.gravity)}) m/s²"),
        ("tool", f"on {tool}"),
    ]
    if robot.hidden:
        rows.append(("coordinates", ", ".join(joint.name for joint in robot.coordinates)))
        rows.append(("driven joints", ", ".join(joint.name for joint in robot.driven)))
        if not robot.symbols:
            rows.append(("mobility", str(kind_of(robot).mobility(robot))))
    if robot.symbols:
        rows.append((f"{len(robot.symbols)} symbols", ", ".join(sorted(robot.symbols))))
    for payload in robot.payloads:
        rows.append((f"load {payload.name}", f"{number(payload.mass)} kg on {payload.link}"))
    if robot.source:
        rows.append(("source", robot.source))
    return tuple(rows)


def _warnings(robot: Robot) -> list[Item]:
    items: list[Item] = []
    if robot.nonphysical:
        items.append(Note(f"Its data break a physical rule; the file says why: {robot.nonphysical}", warning=True))
    for note in robot.notes[:MOST_NOTES]:
        items.append(Note(note, warning=note.startswith("nonphysical")))
    if len(robot.notes) > MOST_NOTES:
        items.append(Note(f"and {len(robot.notes) - MOST_NOTES} notes more, which emdeg show prints."))
    return items
