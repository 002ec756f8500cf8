"""The section of operation counts: this robot's programs against general recursions and published figures."""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.errors import RobotError
from emdeg.programs import Count, Program, count, plain_program, program
from emdeg.reduce import general_recursion
from emdeg.reports.charts import ChartBar, bars
from emdeg.reports.published import Published, published_counts
from emdeg.reports.subject import Subject
from emdeg.reports.tradeoff import QUOTED, Tradeoff
from emdeg.writing import Figure, Figures, Item, Note, Paragraph, Section, Table, percent

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity", "coriolis_matrix", "jacobian")
LOOPS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity")


@dataclass(frozen=True, slots=True)
class CountsFound:
    """The section, the programs it counted, and the figures the summary names."""

    section: Section
    programs: dict[str, Program]
    counts: dict[str, Count]
    published: tuple[Published, ...]


def counts(subject: Subject, short: Tradeoff | None) -> CountsFound:
    """Programs of this robot, counted by the project's one convention."""
    robot = subject.robot
    programs: dict[str, Program] = {}
    left_out: list[Item] = []
    for name in LOOPS if subject.closed else FUNCTIONS:
        subject.progress(f"program of {name}")
        effort = subject.effort if name == "inverse_dynamics" else None
        try:
            programs[name] = program(robot, name, effort=effort)
        except RobotError as problem:
            left_out.append(Note(f"{name} is left out: {problem.rule}.", warning=True))
    totals = {name: count(p) for name, p in programs.items()}
    figures = published_counts(robot)
    items: list[Item] = [
        Paragraph(
            "Multiplications and additions of one evaluation, exact models unless said otherwise; sines and cosines "
            "are counted apart, one pair an angle. Constants are folded beforehand. Recounting the operators in the C "
            "code below gives the same numbers."
        ),
        Figures(
            (
                Figure(
                    "counts",
                    bars(
                        _rows(subject, totals, short, figures),
                        ("multiplications", "additions"),
                        f"Operations of the inverse dynamics of {robot.name}",
                    ),
                ),
            ),
            "Inverse dynamics: efforts from positions, speeds and accelerations.",
        ),
        _table(totals),
        *left_out,
    ]
    if figures:
        rows = tuple((f.what, f.source) for f in figures)
        items.append(Table(("figure", "source"), rows, "Where the grey bars come from", folded=True))
    return CountsFound(Section("operations", "Operations", tuple(items)), programs, totals, figures)


def _rows(
    subject: Subject, totals: dict[str, Count], short: Tradeoff | None, figures: tuple[Published, ...]
) -> list[ChartBar]:
    robot = subject.robot
    rows: list[ChartBar] = []
    if not subject.closed:
        rows.append(
            _bar(
                f"general recursive Newton-Euler, {robot.n} joints (Luh, Walker, Paul)",
                general_recursion(robot.n),
                own=False,
            )
        )
    for figure in figures:
        if figure.function == "inverse_dynamics":
            parts = (figure.total,) if figure.mul is None or figure.add is None else (figure.mul, figure.add)
            rows.append(ChartBar(figure.what, tuple(map(float, parts)), str(figure.total), own=False))
    if not subject.closed:
        recursion = plain_program(robot, "inverse_dynamics", base_parameters=False, factored=False)
        rows.append(_bar("emdeg: the recursion with this robot's zeros left out", count(recursion)))
    if short is not None and short.levels:
        whole = short.levels[0]
        rows.append(_bar("emdeg: explicit equations, all terms", Count(whole.mul, whole.add)))
        level = next(one for one in short.levels if one.threshold == QUOTED)
        share = percent(max(level.certified, default=0.0), bound=True)
        name = f"emdeg: explicit, terms below {percent(QUOTED)} hidden (error certified below {share})"
        rows.append(_bar(name, Count(level.mul, level.add)))
    rows.append(_bar("emdeg: smallest program found, exact", totals["inverse_dynamics"]))
    rows.sort(key=lambda row: -sum(row.parts))
    return rows


def _bar(label: str, total: Count, own: bool = True) -> ChartBar:
    more = total.div + total.sqrt
    note = f"{total.total}" + (f" ({more} divisions and roots)" if more else "")
    return ChartBar(label, (float(total.mul), float(total.add)), note, own)


def _table(totals: dict[str, Count]) -> Table:
    head = ("function", "x", "+", "/", "roots", "sin-cos pairs", "x + / roots")
    rows = []
    for name, total in totals.items():
        rows.append((name, *(str(v) for v in (total.mul, total.add, total.div, total.sqrt, total.sincos, total.total))))
    return Table(head, tuple(rows), "emdeg's programs of this robot")
