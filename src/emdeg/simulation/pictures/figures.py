"""Figures of motions, drawn with matplotlib's own objects: no global state, no window."""

from __future__ import annotations

from typing import Any

import numpy as np

from emdeg.documents import COLOURS, line_style, name_text, saved
from emdeg.simulation.scenarios.outcome import Outcome, effort_name


def outcome_figure(outcome: Outcome) -> Any:
    """Positions (turning and sliding joints apart), every joint's effort on its own scale, balances of a simulation."""
    from matplotlib.figure import Figure

    robot, present, shown = outcome.robot, outcome.scenario.present, outcome.shown()
    kinds = [robot.coordinates[k].kind for k in present.order]
    t = shown["t"]
    effort_rows = -(-len(robot.driven) // 3)
    balances = outcome.motion is not None
    heights = [3.0, *[2.0] * effort_rows, *[2.2] * balances]
    figure = Figure(figsize=(11, sum(heights) + 0.6), layout="constrained")
    grid = figure.add_gridspec(len(heights), 6, height_ratios=heights)
    units = (("revolute", "deg" if outcome.deg else "rad"), ("prismatic", "m"))
    groups = [(unit, [i for i, k in enumerate(kinds) if k == kind]) for kind, unit in units]
    groups = [(unit, columns) for unit, columns in groups if columns]
    for i, (unit, columns) in enumerate(groups):
        width = 6 // len(groups)
        axes = _axes(figure, grid[0, i * width : (i + 1) * width], f"position [{unit}]")
        for c in columns:
            label = name_text(robot.coordinates[present.order[c]].name)
            axes.plot(t, shown["q"][:, c], label=label, **line_style(c))
        axes.legend(loc="best", ncols=2, fontsize=8)
    for c, k in enumerate(present.motors):
        unit = "N m" if robot.driven[k].kind == "revolute" else "N"
        name = name_text(effort_name(present, robot, k))
        axes = _axes(figure, grid[1 + c // 3, 2 * (c % 3) : 2 * (c % 3) + 2], f"{name} [{unit}]")
        axes.plot(t, shown["tau"][:, c], color=COLOURS[c % len(COLOURS)], linewidth=1.6)
    if balances:
        _balances(outcome, _axes(figure, grid[-1, :], "drift of constants"))
    figure.suptitle(name_text(outcome.scenario.title or f"{robot.name}: {outcome.scenario.name}"))
    return figure


def _axes(figure: Any, place: Any, label: str) -> Any:
    axes = figure.add_subplot(place)
    axes.set_ylabel(label)
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)
    axes.margins(x=0)
    return axes


def _balances(outcome: Outcome, axes: Any) -> None:
    assert outcome.motion is not None
    inv = outcome.motion.invariants
    t = outcome.motion.t
    curves = [("energy less work [J]", inv.power_balance)]
    if inv.closure is not None:
        curves.append(("loops open by [m, m$^2$, 1]", inv.closure))
    for m, k in enumerate(inv.joints):
        name = outcome.robot.coordinates[k].name
        curves.append((f"momentum of {name_text(name)} less impulse", inv.momentum_balance[..., m]))
    for i, (label, values) in enumerate(curves):
        worst = np.abs(values).reshape(-1, len(t)).max(axis=0)
        worst = np.where(worst > 0, worst, np.nan)
        axes.semilogy(t, worst, label=label, **line_style(i))
    axes.legend(loc="best", fontsize=8)


def figure_bytes(outcome: Outcome) -> bytes:
    """The figure as PNG."""
    return saved(outcome_figure(outcome), "png")
