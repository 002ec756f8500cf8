"""A robot's report: gather every section, then write it as one HTML page and as LaTeX with figures beside it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.codegen.artefact import Artefact
from emdeg.reports import html
from emdeg.reports.code_part import code
from emdeg.reports.counts_part import CountsFound, counts
from emdeg.reports.equations_part import EquationsFound, equations
from emdeg.reports.robot_part import robot_section
from emdeg.reports.subject import Subject, quiet
from emdeg.reports.workspace_part import loads_section
from emdeg.robot.model import Robot
from emdeg.writing.document import Document


@dataclass(frozen=True, slots=True)
class Made:
    """The report, the code on it and its main figures as plain data."""

    report: Document
    artefacts: tuple[Artefact, ...]
    summary: dict[str, Any]

    @property
    def html(self) -> str:
        return html.write(self.report)


def make(
    robot: Robot,
    *,
    words: Sequence[str] = (),
    options: Sequence[str] = (),
    stem: str = "",
    ranges: Mapping[str, Sequence[float]] | None = None,
    effort: float | None = None,
    made_by: str = "emdeg",
    progress: Callable[[str], None] = quiet,
) -> Made:
    """The report of a robot. `words` are those that choose it on the command line, `options` the report's own."""
    subject = Subject(robot, dict(ranges or {}), progress, effort)
    chosen = list(words) or [robot.name]
    command = shlex.join(["emdeg", "report", *chosen, *options])
    progress("the robot")
    first = robot_section(subject)
    found = equations(subject, shlex.join(chosen))
    operations = counts(subject, found.tradeoff)
    loads = loads_section(subject)
    last, artefacts = code(subject, operations.programs, chosen, stem or robot.name, command, made_by)
    title = robot.title or robot.name
    subtitle = f"{robot.name}: explicit equations of motion, operations, loads and code"
    highlights = _highlights(robot, found, operations, artefacts)
    sections = (first, found.section, operations.section, loads, last)
    report = Document(title, sections, subtitle, highlights, made_by)
    summary: dict[str, Any] = {
        "robot": robot.name,
        "joints": robot.n,
        "freedoms": robot.freedoms,
        "constants": found.constants,
        "operations": {name: total.as_dict() for name, total in operations.counts.items()},
        "published": [{"function": f.function, "what": f.what, "total": f.total} for f in operations.published],
        "abbreviated": []
        if found.tradeoff is None
        else [
            {
                "threshold": level.threshold,
                "operations": level.mul + level.add,
                "certified": max(level.certified, default=0.0),
                "found": max(level.found, default=0.0),
            }
            for level in found.tradeoff.levels
        ],
    }
    return Made(report, tuple(artefacts), summary)


def _highlights(
    robot: Robot, found: EquationsFound, operations: CountsFound, artefacts: Sequence[Artefact]
) -> tuple[tuple[str, str], ...]:
    """A few figures to begin with."""
    rows = [(str(robot.freedoms), "degrees of freedom")]
    if found.constants:
        rows.append((str(found.constants), "lumped constants"))
    rows.append((str(operations.counts["inverse_dynamics"].total), "operations of the exact inverse dynamics"))
    rows += [(str(f.total), f"operations: {f.what}") for f in operations.published if f.headline]
    if artefacts:
        false_pass = max(one.certificate["false_pass_probability"] for one in artefacts)
        rows.append((f"{false_pass:.0e}", "probability that a wrong program passed its proof"))
    return tuple(rows)
