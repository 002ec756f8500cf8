"""The section on loads: inertia and gravity over the workspace, couplings, efforts along a sample motion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from emdeg.analysis import gravity_ceiling
from emdeg.bounds import Extremes, SearchLimits, extremes
from emdeg.documents import BLUE, GREEN, INK, ORANGE, Figure, Figures, Item, Note, Paragraph, Section, Table
from emdeg.dynamics.functions import numeric
from emdeg.equations import derive
from emdeg.errors import OverBudget
from emdeg.reports.charts import WIDTH, Curve, Span, curves, key_of, matrix, readable, spans
from emdeg.reports.subject import Subject
from emdeg.robot import Joint

GAP = 1e-3
BOXES = 24_000
"""Boxes that the search for one extreme may examine."""
LONG, LONG_BOXES = 150, 2_048
"""A formula of more terms gets fewer boxes: each costs more."""
SAMPLES = 4096
MOST_JOINTS = 7
"""Joints up to which extremes are certified."""


@dataclass(frozen=True, slots=True)
class LoadExtremes:
    """A joint's inertia and gravity effort over the workspace."""

    joint: Joint
    inertia: Extremes
    gravity: Extremes


def loads_section(subject: Subject) -> Section:
    """The section; what a robot cannot have is left out with a line that says why."""
    title = "Loads over the workspace"
    if subject.symbolic:
        why = (
            "Its parameters are symbols: loads, couplings and efforts need numbers (--set NAME=VALUE) and are left out."
        )
        return Section("loads", title, (Note(why),))
    items: list[Item] = []
    if subject.closed:
        items.append(
            Note(
                "With closed loops the workspace is no box of joint positions: certified extremes and "
                "couplings over it are left out."
            )
        )
    else:
        items += _assumptions(subject)
        if subject.robot.n <= MOST_JOINTS:
            items += _extremes(subject)
        else:
            items.append(
                Note(f"Certified extremes are left out: {subject.robot.n} joints are more than {MOST_JOINTS}.")
            )
        items += _couplings(subject)
    items += _motion(subject)
    return Section("loads", title, tuple(items))


def _assumptions(subject: Subject) -> list[Item]:
    free = [name for name, turns in zip(subject.where.joints, subject.where.free) if turns]
    words = "The workspace is the box of the joint limits"
    words += "; joints without limits turn through a whole turn." if free else "."
    items: list[Item] = [Paragraph(words)]
    for name, (low, high) in subject.assumed.items():
        items.append(
            Note(
                f"{name} slides without limits in its file: {low:g} to {high:g} m is assumed here "
                f"(--range {name}=LOW:HIGH for another).",
                warning=True,
            )
        )
    return items


def loads(subject: Subject) -> list[LoadExtremes]:
    """Every M_ii and g_i between its certified extremes."""
    robot, where = subject.robot, subject.where
    try:
        model = subject.model
    except OverBudget:
        model = derive(robot, "M,g")
    found = []
    for i, joint in enumerate(robot.joints):
        subject.progress(f"extremes of joint {i + 1} of {robot.n}")
        own, g = model.M[i][i], model.g[i]
        inertia = extremes(own, where.box, gap=GAP, effort=_effort(len(own)))
        effort = _effort(len(g))
        ceiling = gravity_ceiling(robot, i, where, GAP, effort) if g else math.inf
        found.append(LoadExtremes(joint, inertia, extremes(g, where.box, gap=GAP, effort=effort, ceiling=ceiling)))
    return found


def _effort(terms: int) -> SearchLimits:
    return SearchLimits(boxes=BOXES if terms <= LONG else LONG_BOXES, seconds=math.inf)


def _extremes(subject: Subject) -> list[Item]:
    found = loads(subject)
    rows = []
    inertia, gravity = [], []
    for one in found:
        unit = ("kg m²", "N m") if one.joint.kind == "revolute" else ("kg", "N")
        low, high, g = one.inertia.low, one.inertia.high, one.gravity
        ratio = high.value / low.value if low.value > 0 else math.inf
        limit = one.joint.drive.max_torque or one.joint.limits.effort
        rows.append(
            (
                one.joint.name,
                readable(low.value),
                readable(high.value),
                readable(ratio) if math.isfinite(ratio) else "",
                unit[0],
                readable(g.low.value),
                readable(g.high.value),
                unit[1],
                "" if limit is None else readable(float(limit)),
                _gap(max(low.gap, high.gap, g.low.gap, g.high.gap)),
            )
        )
        if low.value > 0:
            inertia.append(Span(one.joint.name, low.value, high.value, f"x {ratio:.3g}"))
        gravity.append(Span(one.joint.name, g.low.value, g.high.value, "", None if limit is None else float(limit)))
    head = ("joint", "least M_ii", "largest M_ii", "ratio", "", "least g_i", "largest g_i", "", "limit", "gap at most")
    figures = [
        Figure(
            "gravity",
            spans(gravity, "Gravity effort over the workspace", "gravity effort [N m; N]"),
            "Gravity effort, least to largest; orange marks are the drive's limits where they are in reach.",
        )
    ]
    if inertia:
        figures.insert(
            0,
            Figure(
                "inertia",
                spans(inertia, "Inertia over the workspace", "M_ii [kg m²; kg]", log=True),
                "Inertia felt at each joint, least to largest, with their ratio.",
            ),
        )
    return [
        Figures(tuple(figures)),
        Table(
            head, tuple(rows), "Inertia and gravity: values attained; the certified bound differs by the gap at most"
        ),
    ]


def _gap(gap: float) -> str:
    return "< 0.01 %" if gap < 1e-4 else f"{100 * gap:.2g} %"


def _couplings(subject: Subject) -> list[Item]:
    robot = subject.robot
    if robot.n < 2:
        return []
    M = numeric.mass_matrix(robot, subject.where.sample(SAMPLES, seed=13))
    own = np.abs(np.einsum("kii->ki", M))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(M) / own[:, :, None]
    most = np.where(np.isfinite(ratio), ratio, 0.0).max(axis=0)
    cells = [[None if i == j else float(most[i, j]) for j in range(robot.n)] for i in range(robot.n)]
    names = [joint.name for joint in robot.joints]
    caption = (
        "Coupling: the largest |M_ij| / M_ii (row i, column j), that is, what a unit acceleration of joint j costs "
        f"at joint i beside joint i's own; found on {SAMPLES} random configurations."
    )
    return [Figures((Figure("couplings", matrix(cells, names, "Coupling ratios")),), caption)]


def _motion(subject: Subject) -> list[Item]:
    """Efforts along the sample motion and what they are made of."""
    robot, motion = subject.robot, subject.motion
    subject.progress("efforts along the sample motion")
    zero = np.zeros_like(motion.qd)
    total = numeric.inverse_dynamics(robot, motion.q, motion.qd, motion.qdd)
    gravity = numeric.inverse_dynamics(robot, motion.q, zero, zero)
    speeds = numeric.inverse_dynamics(robot, motion.q, motion.qd, zero) - gravity
    inertia = total - gravity - speeds
    scale = np.abs(total).max(axis=0) + 1e-300
    for part in (gravity, speeds, inertia):  # what is zero but for rounding is zero
        part[:, np.abs(part).max(axis=0) < 1e-9 * scale] = 0.0
    parts = (
        ("total", total, INK, (), 2.0),
        ("gravity", gravity, GREEN, (6.0, 3.0), 1.5),
        ("speeds", speeds, ORANGE, (2.0, 3.0), 1.5),
        ("accelerations", inertia, BLUE, (8.0, 3.0, 2.0, 3.0), 1.5),
    )
    figures = []
    t = [round(float(v), 6) for v in motion.t]
    rows: list[Curve] = []
    for k, joint in enumerate(robot.driven):
        rows = [Curve(name, tuple(map(float, v[:, k])), colour, dash, wide) for name, v, colour, dash, wide in parts]
        unit = "N m" if joint.kind == "revolute" else "N"
        figures.append(Figure(f"effort{k + 1}", curves(t, rows, joint.name, "time [s]", unit)))
    key = Figure("effort_key", key_of(rows, WIDTH))
    where = (
        "near the start that the file states"
        if subject.closed
        else "over the middle half of the joints' ranges (a quarter turn where they turn without end)"
    )
    peak = np.abs(total).max(axis=0)
    table = Table(
        ("joint", "peak effort", "of gravity", "of speeds", "of accelerations", ""),
        tuple(
            (
                joint.name,
                readable(float(peak[k])),
                *(readable(float(np.abs(v[:, k]).max())) for v in (gravity, speeds, inertia)),
                "N m" if joint.kind == "revolute" else "N",
            )
            for k, joint in enumerate(robot.driven)
        ),
        "Largest values along the motion",
    )
    caption = f"Efforts of the driven joints along a motion of {motion.t[-1]:g} s {where}, from rest to rest."
    return [Figures((key,)), Figures(tuple(figures), caption), table]
