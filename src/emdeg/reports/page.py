"""A robot's report: gather every section, then write it as one HTML page and as LaTeX with figures beside it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emdeg._version import __version__
from emdeg.codegen import Artefact, may_replace, write_files
from emdeg.documents import FOLDER, Document, figures, saved
from emdeg.errors import RobotError
from emdeg.reports import html, latex
from emdeg.reports.code_part import code, page_programs
from emdeg.reports.counts_part import CountsFound, counts
from emdeg.reports.equations_part import EquationsFound, equations
from emdeg.reports.robot_part import robot_section
from emdeg.reports.subject import Subject, quiet
from emdeg.reports.workspace_part import loads_section
from emdeg.robot import Robot, RobotLike, as_robot

PAGE, SOURCE = "report.html", "report.tex"


@dataclass(frozen=True, slots=True)
class Report:
    """The document, the code on it, its main figures as plain data, and the files it was written to."""

    document: Document
    artefacts: tuple[Artefact, ...]
    summary: dict[str, Any]
    files: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        return f"Report({self.document.title!r}, {len(self.artefacts)} functions, files: {len(self.files)})"

    @property
    def html(self) -> str:
        """The page."""
        return html.write(self.document)

    @property
    def latex(self) -> str:
        """The LaTeX source; its figures are files of `write`."""
        return latex.write(self.document)

    def write(self, out: str | Path, force: bool = False) -> Report:
        """The same with its files: report.html, report.tex and figures/*.pdf in the folder `out`, all of them or none.

        RobotError where a file that emdeg did not generate would be replaced, unless `force`.
        """
        files = {PAGE: self.html.encode(), SOURCE: self.latex.encode()}
        for figure in figures(self.document):
            files[f"{FOLDER}/{figure.name}.pdf"] = saved(figure.drawing.figure, "pdf")
        return replace(self, files=tuple(write_files(files, Path(out), force)))


def report(
    robot: RobotLike,
    out: str | Path | None = None,
    *,
    ranges: Mapping[str, Sequence[float]] | None = None,
    effort: float | None = None,
    curve: float = 0.0,
    force: bool = False,
    words: Sequence[str] = (),
    options: Sequence[str] = (),
    stem: str = "",
    progress: Callable[[str], None] = quiet,
) -> Report:
    """What emdeg knows of a robot, as one HTML page and as LaTeX, written into the folder `out` if that is given.

    `ranges`: {joint: (low, high)} [rad, m] that narrow the workspace; `effort`: nominal seconds [s] of search for a
    smaller inverse dynamics; `curve`: processor seconds [s] for short programs within rising errors. `words` and
    `options` are those of the command line, which the page repeats.

    >>> import emdeg
    >>> sorted(emdeg.report("planar2r").summary["operations"]["gravity"])
    ['add', 'div', 'mul', 'sincos', 'sqrt']
    """
    if out is not None:
        need_free(Path(out), force)
    if not isinstance(robot, Robot):
        words, stem = words or [str(robot)], stem or Path(robot).stem
        robot = as_robot(robot)
    made = _gathered(Subject(robot, dict(ranges or {}), progress, effort, curve), words, options, stem)
    if out is None:
        return made
    progress("writing")
    return made.write(out, force)


def need_free(folder: Path, force: bool) -> None:
    """An error where the report could not be written: said before it is made."""
    if folder.exists() and not folder.is_dir():
        raise RobotError("it is no folder", file=str(folder))
    for name in (PAGE, SOURCE):
        may_replace(folder / name, force)


def _gathered(subject: Subject, words: Sequence[str], options: Sequence[str], stem: str) -> Report:
    robot, made_by = subject.robot, f"emdeg {__version__}"
    chosen = list(words) or [robot.name]
    command = shlex.join(["emdeg", "report", *chosen, *options])
    found = equations(subject, shlex.join(chosen))
    operations = counts(subject, found.tradeoff, shlex.join(chosen))
    loads = loads_section(subject)
    last, artefacts = code(subject, operations.programs, chosen, stem or robot.name, command, made_by)
    subject.progress("the robot")
    first = robot_section(subject, page_programs(subject, operations.programs, artefacts))
    title = robot.title or robot.name
    subtitle = f"{robot.name}: explicit equations of motion, operations, loads and code"
    highlights = _highlights(robot, found, operations, artefacts)
    sections = (first, found.section, operations.section, loads, last)
    document = Document(title, sections, subtitle, highlights, made_by)
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
                "threshold": level.asked,
                "operations": level.mul + level.add,
                "certified": max(level.certified, default=0.0),
                "found": max(level.found, default=0.0),
            }
            for level in found.tradeoff.levels
        ],
        "short_programs": [
            {"asked": p.asked, "operations": p.operations, "certified": max(p.certified), "found": max(p.found)}
            for p in operations.short
        ],
    }
    return Report(document, tuple(artefacts), summary)


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
