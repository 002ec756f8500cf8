"""The section that says what the robot is: picture, frames, inertias, drives, sources, warnings."""

from __future__ import annotations

import re
from dataclasses import replace

from emdeg.documents import Facts, Folded, Item, Note, Paragraph, Section, Table
from emdeg.reports import robot_tables as tables
from emdeg.reports.robot_tables import number
from emdeg.reports.scene import robot_scene
from emdeg.reports.subject import LENGTH, Subject
from emdeg.robot import BASE, Robot, by_kind

FEW_NOTES, MOST_NOTES = 3, 200
"""Notes up to which each stands by itself; notes that a page lists in full."""


def robot_section(subject: Subject, module: str = "") -> Section:
    """The section; `module` computes the numbers at a configuration on the page (`code_part.page_programs`)."""
    robot = subject.robot
    items: list[Item] = [robot_scene(subject, module)]
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
    rows += mobility_rows(robot)
    if robot.symbols:
        rows.append((f"{len(robot.symbols)} symbols", ", ".join(sorted(robot.symbols))))
    for payload in robot.payloads:
        rows.append((f"load {payload.name}", f"{number(payload.mass)} kg on {payload.link}"))
    if robot.source:
        rows.append(("source", robot.source))
    return tuple(rows)


@by_kind
def mobility_rows(robot: Robot) -> list[tuple[str, str]]:
    """How it moves, where this is not plain from its tree."""
    return []


def _warnings(robot: Robot) -> list[Item]:
    items: list[Item] = []
    if robot.nonphysical:
        items.append(Note(f"Its data break a physical rule; the file says why: {robot.nonphysical}", warning=True))
    if len(robot.notes) <= FEW_NOTES:
        return items + [Note(note, warning=_grave(note)) for note in robot.notes]
    alike: dict[str, list[str]] = {}
    for note in robot.notes:
        alike.setdefault(pattern(note), []).append(note)
    for notes in alike.values():
        if len(notes) == 1:
            items.append(Note(notes[0], warning=_grave(notes[0])))
            continue
        others = len(notes) - 1
        items.append(Note(f"{notes[0]}; and {others} {'note' if others == 1 else 'notes'} alike.", _grave(notes[0])))
    told = [Note(note, warning=_grave(note)) for note in robot.notes[:MOST_NOTES]]
    if len(robot.notes) > MOST_NOTES:
        told.append(Note(f"and {len(robot.notes) - MOST_NOTES} notes more, which emdeg show prints."))
    return [*items, Folded(f"All {len(robot.notes)} notes on its file", tuple(told))]


def _grave(note: str) -> bool:
    return note.startswith("nonphysical")


def pattern(note: str) -> str:
    """What a note says, whatever joint and number it says it of.

    >>> pattern("joint 'left': the angle 1.5708 rad was read as pi/2") == pattern(
    ...     "joint 'right': the angle -0.7854 rad was read as -pi/4"
    ... )
    True
    """
    return re.sub(r"-?\b\d[\w.+-]*|-(?=pi)|/\S+", "", re.sub(r"'[^']*'|^nonphysical: [^:]*:|^\S+:", "", note))
