"""What logs said of a robot, as one page: parameters, friction, measured and predicted efforts, and what is left."""

from __future__ import annotations

import numpy as np

from emdeg._version import __version__
from emdeg.algebra import Array
from emdeg.documents import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    SOFT,
    Document,
    Figure,
    Figures,
    Item,
    Note,
    Paragraph,
    Section,
    Table,
)
from emdeg.identification import Estimate, Identification, TermTest, Validation
from emdeg.reports import html
from emdeg.reports.charts import WIDTH, Curve, curves, key_of

SHOWN = 900
"""Points of a curve."""
SECONDS = 30.0
"""Of a log that curves show: its first."""
UNLIKELY = 0.01
"""Chances below this are none."""
WORDS = {
    "stribeck": "Stribeck's peak",
    "viscous_asymmetry": "viscous friction that differs with the direction",
    "offset": "Coulomb friction that differs with the direction, or an offset",
}


def identified_page(found: Identification, checked: Validation, own: bool, command: str = "") -> str:
    """The page; `own` says whether the log that is explained is none of those that were identified."""
    return html.write(identified_document(found, checked, own, command))


def identified_document(found: Identification, checked: Validation, own: bool, command: str = "") -> Document:
    """The page before it is written."""
    robot = found.robot
    worst = max(checked.joints, key=lambda joint: joint.relative)
    samples = sum(len(one) for one in found.logs)
    highlights = (
        (str(len(found.parameters)), f"of {len(found.base)} base parameters found"),
        (f"{samples}", f"rows from {len(found.logs)} log{'s' * (len(found.logs) > 1)}"),
        (f"{worst.relative:.2%}", f"of the effort left at worst, at {worst.joint}"),
    )
    sections = (
        _explained(checked, own),
        _left(checked),
        _contributions(checked),
        _parameters(found),
        _friction(found),
        _words(found),
    )
    subtitle = f"{robot.name}: identified from {', '.join(one.file for one in found.logs)}"
    return Document(robot.title or robot.name, sections, subtitle, highlights, f"emdeg {__version__} {command}".strip())


def _explained(checked: Validation, own: bool) -> Section:
    rows, t = _shown(checked)
    measured, predicted = checked.samples.tau[rows], checked.predicted[rows]
    names = (("measured", SOFT, (), 1.0), ("predicted", BLUE, (), 1.8))
    figures = []
    key: list[Curve] = []
    for k, joint in enumerate(checked.joints):
        key = [
            Curve(name, _numbers(values[:, k]), colour, dash, wide)
            for (name, colour, dash, wide), values in zip(names, (measured, predicted))
        ]
        figures.append(Figure(f"explained{k + 1}", curves(t, key, joint.joint, "time [s]", joint.unit)))
    table = Table(
        ("joint", "left, rms", "of the effort", "worst", "noise", "model error", "", "dominated by"),
        tuple(
            (
                joint.joint,
                f"{joint.rms:.3g}",
                f"{joint.relative:.2%}",
                *(f"{v:.3g}" for v in (joint.worst, joint.noise, joint.model_error)),
                joint.unit,
                joint.dominated_by,
            )
            for joint in checked.joints
        ),
        "What is left",
    )
    words = f"Along {checked.file}, " + (
        "a log that was not identified." if own else "one of the logs that were identified: no other was given."
    )
    items: list[Item] = [Paragraph(words) if own else Note(words, warning=True)]
    caption = f"Measured and predicted efforts, the first {t[-1] - t[0]:.3g} s."
    items += [Figures((Figure("explained_key", key_of(key, WIDTH)),)), Figures(tuple(figures), caption), table]
    return Section("explained", "Measured and predicted", tuple(items))


def _left(checked: Validation) -> Section:
    rows, t = _shown(checked)
    rest = checked.samples.tau[rows] - checked.predicted[rows]
    over_time, with_itself = [], []
    for k, joint in enumerate(checked.joints):
        line = Curve("left", _numbers(rest[:, k]), ORANGE, (), 1.0)
        over_time.append(Figure(f"left{k + 1}", curves(t, [line], joint.joint, "time [s]", joint.unit)))
        lags = [float(lag) for lag in range(len(joint.correlation) + 1)]
        bound = [joint.bound] * len(lags)
        lines = [
            Curve("correlation", (1.0, *joint.correlation), BLUE),
            Curve("bound", tuple(bound), SOFT, (4.0, 3.0), 1.0),
            Curve("bound", tuple(-v for v in bound), SOFT, (4.0, 3.0), 1.0),
        ]
        with_itself.append(Figure(f"white{k + 1}", curves(lags, lines, joint.joint, "samples later", "")))
    table = Table(
        ("joint", "chance that white noise is as correlated", ""),
        tuple(
            (
                joint.joint,
                f"{joint.white:.2g}",
                "white" if joint.white > UNLIKELY else "not white: the model lacks something",
            )
            for joint in checked.joints
        ),
        "Whiteness (Ljung and Box)",
    )
    items: tuple[Item, ...] = (
        Figures(tuple(over_time), "What is left of the efforts."),
        Figures(
            tuple(with_itself), "How what is left correlates with itself; of white noise 95% lies between the lines."
        ),
        table,
    )
    return Section("left", "What is left", items)


def _contributions(checked: Validation) -> Section:
    parts = list(checked.joints[0].parts)
    rows, t = _shown(checked)
    table = Table(
        ("joint", *parts, "", "largest"),
        tuple(
            (
                joint.joint,
                *(f"{joint.parts[name]:.3g}" for name in parts),
                joint.unit,
                max(joint.parts, key=lambda name, own=joint.parts: own[name]),
            )
            for joint in checked.joints
        ),
        "rms of what each part of the model gives",
    )
    colours = dict(zip(parts, ((BLUE, (8.0, 3.0, 2.0, 3.0)), (ORANGE, (2.0, 3.0)), (GREEN, (6.0, 3.0)), (INK, ()))))
    figures = []
    key: list[Curve] = []
    for k, joint in enumerate(checked.joints):
        key = [Curve(name, _numbers(checked.parts[name][rows, k]), *colours[name], 1.5) for name in parts]
        figures.append(Figure(f"part{k + 1}", curves(t, key, joint.joint, "time [s]", joint.unit)))
    items = (Figures((Figure("part_key", key_of(key, WIDTH)),)), Figures(tuple(figures)), table)
    return Section("parts", "Which terms explain how much", items)


def _parameters(found: Identification) -> Section:
    rows = tuple(
        (name, f"{v.value:.5g}", f"{v.low:.5g}", f"{v.high:.5g}", found.combinations[name])
        for name, v in found.parameters.items()
    )
    items: list[Item] = [Table(("parameter", "value", "95% from", "to", "stands for"), rows)]
    items += [Note(f"Not identified: {words}.") for words in found.hidden]
    if found.constants:
        constants = tuple(
            (name, f"{v.value:.4g}", f"{v.low:.4g}", f"{v.high:.4g}") for name, v in found.constants.items()
        )
        items.append(Table(("joint", "N m/A or N/A", "95% from", "to"), constants, "Motor constants"))
    return Section("parameters", "Base parameters", tuple(items))


def _friction(found: Identification) -> Section:
    rows = tuple(
        (
            fit.joint,
            fit.law,
            *map(_plus, (fit.viscous, fit.coulomb, fit.stribeck, fit.stribeck_velocity, fit.offset)),
        )
        for fit in found.friction
    )
    head = ("joint", "law", "viscous", "Coulomb", "at rest", "Stribeck velocity", "offset")
    items: list[Item] = [Table(head, rows)]
    if found.tests:
        tests = tuple((t.joint, WORDS[t.term], f"{t.F:.3g}", f"{t.probability:.2g}", _verdict(t)) for t in found.tests)
        title = "Does the term explain more than chance would? (F-test)"
        items.append(Table(("joint", "term", "F", "chance", ""), tests, title))
    return Section("friction", "Friction", tuple(items))


def _verdict(test: TermTest) -> str:
    if test.probability < UNLIKELY:
        return "in the model, and needed" if test.used else "would explain more, too little to be taken in"
    return "in the model, and not needed" if test.used else "not needed"


def _words(found: Identification) -> Section:
    notes: tuple[Item, ...] = tuple(Note(note, warning=True) for note in found.notes)
    return Section("logs", "The logs", notes or (Paragraph("Nothing in the logs gave rise to doubts."),))


def _shown(checked: Validation) -> tuple[slice, list[float]]:
    """(the rows of the first seconds, not too many; their times [s])."""
    samples = checked.samples
    count = min(len(samples), max(2, round(SECONDS / samples.step)))
    rows = slice(0, count, max(1, count // SHOWN))
    return rows, [round(float(v), 6) for v in samples.t[rows]]


def _numbers(values: Array) -> tuple[float, ...]:
    return tuple(float(f"{v:.6g}") for v in np.nan_to_num(values))


def _plus(value: Estimate | None) -> str:
    return "" if value is None else f"{value.value:.4g} +- {value.high - value.value:.2g}"
