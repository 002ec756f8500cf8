"""Maps of a mechanism with closed loops over two coordinates, the others held: reach and both kinds of singularity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis.figures import COLOURS, STYLES, new_figure, plain, save_figure
from emdeg.analysis.loops import MARGIN, Bools, home, looked_at, motor_figures, reached
from emdeg.loops import ready, singularity_figures
from emdeg.robot import Robot, Workspace

GRID = 121
LINE, NUMERIC_LINE = 721, 21


@dataclass(frozen=True)
class SingularityMap:
    """Over coordinates i and j: poses (rows, columns, n), NaN where a pose is not reached.

    `first` and `second` are distances from a singularity; `turned` is the determinant that changes its sign where the
    motors lose hold of the platform.
    """

    i: int
    j: int
    q: Array
    first: Array
    second: Array
    turned: Array

    @property
    def reached(self) -> Bools:
        return np.isfinite(self.first)

    @property
    def crossed(self) -> bool:
        """Whether the second kind is passed somewhere on the map: its determinant has both signs."""
        return bool(np.nanmin(self.turned) < 0 < np.nanmax(self.turned)) if self.reached.any() else False


def plane(robot: Robot, where: Workspace, i: int, j: int, grid: int | None = None) -> SingularityMap:
    """The map over coordinates i and j, the others where the start has them."""
    grid = grid or GRID
    x, y = (np.linspace(*where.ranges[k], grid) for k in (i, j))
    q = np.tile(home(robot), (grid, grid, 1))
    q[..., i], q[..., j] = x[None, :], y[:, None]
    flat = q.reshape(-1, q.shape[-1])
    there = reached(robot, flat)
    first, second, turned = (np.full(len(flat), np.nan) for _ in range(3))
    if there.any():
        first[there], second[there], _, turned[there] = singularity_figures(robot, flat[there])
    return SingularityMap(i, j, q, *(v.reshape(grid, grid) for v in (first, second, turned)))


def _axis(robot: Robot, k: int) -> tuple[str, float]:
    joint = robot.coordinates[k]
    turning = joint.kind == "revolute"
    return f"{plain(joint.name)} [{'deg' if turning else 'm'}]", 180 / np.pi if turning else 1.0


def draw_map(robot: Robot, found: SingularityMap, folder: Path, stem: str, margin: float = MARGIN) -> list[Path]:
    """Two panels, first and second kind, with the margin's line and the line where the second kind is passed."""
    figure, axes = new_figure(11, 4.6, 1, 2)
    (xlabel, a), (ylabel, b) = _axis(robot, found.i), _axis(robot, found.j)
    x, y = a * found.q[..., found.i], b * found.q[..., found.j]
    names = ("first kind: a loop stretched or folded", "second kind: motors lose the platform")
    for ax, values, name in zip(axes.flat, (found.first, found.second), names):
        shade = ax.contourf(x, y, values, levels=np.linspace(0, max(0.1, float(np.nanmax(values))), 13), cmap="viridis")
        figure.colorbar(shade, ax=ax, label="distance (0: singular)", format="%.2g")
        with np.errstate(invalid="ignore"):
            if np.nanmin(values) < margin < np.nanmax(values):
                ax.contour(x, y, values, levels=[margin], colors="white", linestyles="--", linewidths=1.2)
        ax.plot(*_start(robot, found, a, b), "o", color="#D55E00", markersize=5, label="start")
        ax.set(title=name, xlabel=xlabel, ylabel=ylabel)
        if a == b:
            ax.set_aspect("equal")
    if found.crossed:
        axes[0, 1].contour(x, y, found.turned, levels=[0.0], colors="#CC79A7", linewidths=2.0)
        axes[0, 1].plot([], [], color="#CC79A7", linewidth=2.0, label="singular: passed")
    axes[0, 1].plot([], [], color="0.5", linestyle="--", linewidth=1.2, label=f"distance {margin:g}")
    axes[0, 1].legend(loc="upper right", fontsize=8)
    figure.suptitle(_held(robot, found))
    names = [joint.name for joint in robot.coordinates]
    flat = np.concatenate(
        [found.q.reshape(-1, robot.freedoms), *(v.reshape(-1, 1) for v in (found.first, found.second, found.turned))],
        axis=1,
    )
    return save_figure(figure, folder, stem, [*names, "first", "second", "determinant"], flat.tolist())


def _start(robot: Robot, found: SingularityMap, a: float, b: float) -> tuple[float, float]:
    return a * home(robot)[found.i], b * home(robot)[found.j]


def _held(robot: Robot, found: SingularityMap) -> str:
    others = [k for k in range(robot.freedoms) if k not in (found.i, found.j)]
    values = ", ".join(f"{plain(robot.coordinates[k].name)} = {home(robot)[k]:.3g}" for k in others)
    return f"{plain(robot.name)}: singularities over its reach" + (f", {values}" if values else "")


def draw_lines(robot: Robot, where: Workspace, folder: Path, stem: str, margin: float = MARGIN) -> list[Path]:
    """Along each coordinate through the start: distances from singularity, and what every motor feels."""
    n, count = robot.freedoms, LINE if ready(robot).plan is not None else NUMERIC_LINE
    figure, axes = new_figure(4.2 * min(n, 3), 3.0 * 3 * -(-n // 3), 3 * -(-n // 3), min(n, 3))
    rows: list[Sequence[object]] = []
    for k in range(n):
        top, column = 3 * (k // 3), k % 3
        label, scale = _axis(robot, k)
        q = np.tile(home(robot), (count, 1))
        q[:, k] = np.linspace(*where.ranges[k], count)
        _, first, second, fine = looked_at(robot, q, margin)
        held, weight = np.full((count, n), np.nan), np.full((count, n), np.nan)
        if fine.any():
            values = motor_figures(robot, q[fine])
            held[fine], weight[fine] = values["held"], values["gravity"]
        x = scale * q[:, k]
        _curves(axes[top, column], x, [("first kind", first), ("second kind", second)], label, "distance")
        motors = [plain(joint.name) for joint in robot.driven]
        unit = "kg m$^2$" if robot.driven[0].kind == "revolute" else "kg"
        _curves(axes[top + 1, column], x, list(zip(motors, held.T)), label, f"inertia, others held [{unit}]")
        force = "N m" if robot.driven[0].kind == "revolute" else "N"
        _curves(axes[top + 2, column], x, list(zip(motors, weight.T)), label, f"gravity's load [{force}]")
        rows += [[robot.coordinates[k].name, *values] for values in zip(q[:, k], first, second, *held.T, *weight.T)]
    for ax in list(axes.flat):
        if not ax.has_data():
            ax.remove()
    figure.suptitle(f"{plain(robot.name)}: along each coordinate through the start")
    motors = [joint.name for joint in robot.driven]
    header = ["along", "value", "first", "second", *(f"inertia.{m}" for m in motors), *(f"gravity.{m}" for m in motors)]
    return save_figure(figure, folder, stem, header, rows)


def _curves(ax: Any, x: Array, curves: Sequence[tuple[str, Array]], xlabel: str, ylabel: str) -> None:
    for k, (name, y) in enumerate(curves):
        ax.plot(x, y, color=COLOURS[k % len(COLOURS)], linestyle=STYLES[k % len(STYLES)], label=name, linewidth=1.6)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(loc="best", fontsize=7)
