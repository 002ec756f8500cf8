"""Figures of motions, drawn with matplotlib's own objects: no global state, no window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.simulation.perform import Outcome, effort_name

Array = NDArray[np.float64]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#000000", "#E69F00", "#7F7F7F")
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
"""Told apart without colour, too."""


def outcome_figure(outcome: Outcome) -> Any:
    """A figure: positions and efforts (turning and sliding joints apart), and the balances of a simulation."""
    from matplotlib.figure import Figure

    robot, present, shown = outcome.robot, outcome.scenario.present, outcome.shown()
    kinds = [robot.joints[k].kind for k in present.order]
    panels = []
    for values, what, turning, sliding in (("q", "position", "rad", "m"), ("tau", "effort", "N m", "N")):
        for kind, unit in (("revolute", turning), ("prismatic", sliding)):
            columns = [i for i, k in enumerate(kinds) if k == kind]
            if columns:
                label = {"N m": "torque", "N": "force"}.get(unit, what)
                panels.append((values, f"{label} [{unit}]", columns))
    balances = outcome.motion is not None
    rows = (len(panels) + 1) // 2 + int(balances)
    figure = Figure(figsize=(11, 2.9 * rows + 0.5), layout="constrained")
    grid = figure.add_gridspec(rows, 2)
    wide = len(panels) == 1
    for i, (values, label, columns) in enumerate(panels):
        axes = figure.add_subplot(grid[i // 2, :] if wide else grid[i // 2, i % 2])
        for column in columns:
            k = present.order[column]
            name = robot.joints[k].name if values == "q" else effort_name(present, robot, k)
            axes.plot(shown["t"], shown[values][:, column], color=COLOURS[column % 8], linestyle=STYLES[column % 8],
                      label=_plain(name), linewidth=1.4)
        axes.set_ylabel(label)
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
        axes.margins(x=0)
        axes.legend(loc="best", ncols=2, fontsize=8)
    if balances:
        _balances(outcome, figure.add_subplot(grid[-1, :]))
    figure.suptitle(_plain(outcome.scenario.title or f"{robot.name}: {outcome.scenario.name}"))
    return figure


def _balances(outcome: Outcome, axes: Any) -> None:
    assert outcome.motion is not None
    inv = outcome.motion.invariants
    t = outcome.motion.t
    curves = [("energy less work [J]", inv.power_balance)]
    for m, k in enumerate(inv.joints):
        name = outcome.robot.joints[k].name
        curves.append((f"momentum of {name} less impulse", inv.momentum_balance[..., m]))
    for i, (label, values) in enumerate(curves):
        worst = np.abs(values).reshape(-1, len(t)).max(axis=0)
        axes.semilogy(t, np.maximum(worst, 1e-18), color=COLOURS[i], linestyle=STYLES[i], label=_plain(label))
    axes.set_ylabel("drift of constants")
    axes.set_xlabel("time [s]")
    axes.grid(alpha=0.3)
    axes.margins(x=0)
    axes.legend(loc="best", fontsize=8)


def _plain(text: str) -> str:
    """A name from a file, shown as it is: matplotlib would read $ as mathematics."""
    return text.replace("$", r"\$")


def save_figure(outcome: Outcome, path: Path) -> None:
    """PNG, SVG or PDF, by the file's ending."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = outcome_figure(outcome)
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=130)
