"""The section of operation counts: this robot's programs against general recursions and published figures."""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.approximation import TradeoffPoint, curve_of_programs
from emdeg.documents import (
    BLUE,
    ORANGE,
    ChartBar,
    Figure,
    Figures,
    Item,
    Note,
    Paragraph,
    Section,
    Table,
    Trail,
    bars,
    percent,
    trails,
)
from emdeg.errors import RobotError
from emdeg.papers import general_recursion
from emdeg.programs import Count, Effort, Program, count, plain_program, program
from emdeg.reports.published import Published, published_counts
from emdeg.reports.subject import Subject
from emdeg.reports.tradeoff import QUOTED, Tradeoff
from emdeg.robot import by_kind

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity", "coriolis_matrix", "jacobian")


@dataclass(frozen=True, slots=True)
class CountsFound:
    """The section, the programs it counted, and the figures the summary names."""

    section: Section
    programs: dict[str, Program]
    counts: dict[str, Count]
    published: tuple[Published, ...]
    short: tuple[TradeoffPoint, ...] = ()
    """Short programs within rising errors, the exact one first."""


def counts(subject: Subject, short: Tradeoff | None, command: str) -> CountsFound:
    """Programs of this robot, counted by the project's one convention; `command`: how the robot is called there."""
    robot = subject.robot
    programs: dict[str, Program] = {}
    left_out: list[Item] = []
    for name in counted(subject):
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
    points = short_programs(subject)
    items += _curve(totals["inverse_dynamics"], short, points, command)
    if figures:
        rows = tuple((f.what, f.source) for f in figures)
        items.append(Table(("figure", "source"), rows, "Where the grey bars come from", folded=True))
    return CountsFound(Section("operations", "Operations", tuple(items)), programs, totals, figures, points)


@by_kind
def counted(subject: Subject) -> tuple[str, ...]:
    """The functions whose operations are counted."""
    return FUNCTIONS


@by_kind
def short_programs(subject: Subject) -> tuple[TradeoffPoint, ...]:
    """The exact program and short ones; none where no time is given for them."""
    if not subject.curve or subject.symbolic:
        return ()
    return curve_of_programs(
        subject.robot,
        subject.where,
        effort=Effort(subject.curve),
        tell=lambda text: subject.progress(f"short programs {text}"),
    )


def _curve(exact: Count, hidden: Tradeoff | None, programs: tuple[TradeoffPoint, ...], command: str) -> list[Item]:
    """Operations against certified error: terms hidden by the slider, and short programs."""
    rows = []
    if hidden is not None:
        told = [
            (one.mul + one.add, max(one.certified, default=0.0), f"terms below {percent(one.asked)} hidden")
            for one in hidden.levels
        ]
        rows.append(_trail("terms hidden", told, BLUE))
    if programs:
        told = [(one.operations, max(one.certified), f"short program within {percent(one.asked)}") for one in programs]
        rows.append(_trail("short programs", told, ORANGE))
    rows = [row for row in rows if row.places]
    if not rows:
        return []
    drawing = trails(
        rows,
        "Operations against certified error",
        "operations of the inverse dynamics",
        "largest certified error of a joint [% of its largest effort]",
        (float(exact.total), f"exact: {exact.total}"),
    )
    caption = (
        "What a shorter inverse dynamics costs: operations against the certified error of the joint that errs most, "
        "over the workspace. Blue: the explicit equations without the terms that the slider hides. The dashed line is "
        "the smallest exact program found; equations to its right are for reading."
    )
    if programs:
        caption += " Orange: operations of that program left out, within rising errors."
    items: list[Item] = [Figures((Figure("tradeoff", drawing),), caption)]
    if not programs:
        items.append(
            Note(
                "Short programs, which begin with the smallest exact one, are drawn here with --curve SECONDS; one of "
                f"them with its certificate: emdeg abbreviate {command} --worst-error 0.05 --emit short.c"
            )
        )
    return items


def _trail(label: str, points: list[tuple[int, float, str]], colour: str) -> Trail:
    """Those that err at all: an error of nothing has no place on a logarithmic scale."""
    kept = [(n, 100 * error, name) for n, error, name in points if n and error]
    told = tuple(f"{name}: {n} operations, error below {percent(e / 100, bound=True)}" for n, e, name in kept)
    return Trail(label, tuple((float(n), e) for n, e, _ in kept), told, colour)


@by_kind
def recursions(subject: Subject) -> list[ChartBar]:
    """The recursions that any program is compared with."""
    n = subject.robot.n
    recursion = plain_program(subject.robot, "inverse_dynamics", base_parameters=False, factored=False)
    return [
        _bar(f"general recursive Newton-Euler, {n} joints (Luh, Walker, Paul)", general_recursion(n), own=False),
        _bar("emdeg: the recursion with this robot's zeros left out", count(recursion)),
    ]


def _rows(
    subject: Subject, totals: dict[str, Count], short: Tradeoff | None, figures: tuple[Published, ...]
) -> list[ChartBar]:
    robot = subject.robot
    rows = recursions(subject)
    for figure in figures:
        if figure.function == "inverse_dynamics":
            parts = (figure.total,) if figure.mul is None or figure.add is None else (figure.mul, figure.add)
            rows.append(ChartBar(figure.what, tuple(map(float, parts)), str(figure.total), own=False))
    whole = short.levels[0] if short is not None and short.levels else None
    # Equations longer than any recursion are for reading: beside them the other bars would vanish.
    if short is not None and whole is not None and whole.mul + whole.add <= general_recursion(robot.n).total:
        rows.append(_bar("emdeg: explicit equations, all terms", Count(whole.mul, whole.add)))
        level = next(one for one in short.levels if one.asked == QUOTED)
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
