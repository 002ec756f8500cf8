"""Figures of an analysis, each with its data as CSV beside it. Colours after Okabe and Ito, lines told apart twice."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emdeg.analysis.extremes import JointLoad
from emdeg.analysis.importance import Share
from emdeg.analysis.motion import SampledMotion
from emdeg.analysis.ratios import Curves, RatioMap
from emdeg.analysis.servo import ServoView
from emdeg.documents import nearest, write_whole
from emdeg.errors import RobotError
from emdeg.robot import Robot

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")


def new_figure(width: float = 7.0, height: float = 4.4, rows: int = 1, columns: int = 1):
    """(figure, its axes (rows, columns)) in the house's style, sizes in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax in axes.flat:
        ax.grid(True, alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figure(
    figure: Any, folder: Path, stem: str, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> list[Path]:
    """Write a figure as PNG and its data as CSV beside it; the paths."""
    picture, data = folder / f"{stem}.png", folder / f"{stem}.csv"
    drawn, text = io.BytesIO(), io.StringIO(newline="")
    figure.savefig(drawn, dpi=130, format="png")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole({picture: drawn.getvalue(), data: text.getvalue().encode()})
    except OSError as problem:
        raise _unwritable(folder, problem.strerror or str(problem)) from None
    return [picture, data]


def check_folder(folder: Path) -> None:
    """RobotError where figures could not be written to this folder, before anything is computed for them."""
    there, possible = nearest(folder)
    if not possible:
        raise _unwritable(folder, "no permission to write" if there.is_dir() else f"{there} is not a folder")


def _unwritable(folder: Path, why: str) -> RobotError:
    return RobotError(f"figures cannot be written there: {why}", file=str(folder))


def axis_of(robot: Robot, joint: int) -> tuple[str, float]:
    """(label with unit, factor to that unit): degrees for people where a joint turns."""
    one = robot.joints[joint - 1]
    if one.kind == "revolute":
        return f"{plain(one.name)} [deg]", 180 / np.pi
    return f"{plain(one.name)} [m]", 1.0


def plain(name: str) -> str:
    """A name from a file as text: no mathematics is read into it."""
    return name.replace("$", r"\$")


def _in_degrees(*axes: Any) -> None:
    """Ticks of an axis in degrees at parts of a right angle."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator(9, steps=[1, 1.5, 3, 4.5, 6, 9, 10]))


def _line(k: int) -> dict[str, object]:
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "linewidth": 1.8}


def inertia_variation(
    robot: Robot, bare: Sequence[JointLoad], loaded: Sequence[JointLoad] | None, folder: Path, stem: str
) -> list[Path]:
    """Largest over least total inertia at each joint (Bejczy, Fig. 3)."""
    figure, axes = new_figure()
    ax = axes[0, 0]
    x = np.arange(len(bare))
    least = np.array([one.inertia.low.value for one in bare])
    series = [("no load", np.array([one.inertia.high.value for one in bare]) / least)]
    if loaded is not None:
        series.append(("with load", np.array([one.inertia.high.value for one in loaded]) / least))
    width = 0.8 / len(series)
    for k, (name, values) in enumerate(series):
        place = x + (k - (len(series) - 1) / 2) * width
        bars = ax.bar(place, values, width * 0.92, label=name, color=COLOURS[k], hatch=("", "//")[k], edgecolor="white")
        ax.bar_label(bars, [f"{v:.3g}" for v in values], fontsize=8, padding=2)
    ax.axhline(1.0, color="black", linewidth=0.8)
    long = sum(len(one.joint) for one in bare) > 50  # names that would run into each other
    ax.set_xticks(x, [plain(one.joint) for one in bare], rotation=30 if long else 0, ha="right" if long else "center")
    ax.set_xlabel("joint")
    ax.set_ylabel("largest inertia / least inertia without load [1]")
    ax.set_title(f"{plain(robot.name)}: variation of total inertia over the workspace", fontsize=11)
    ax.legend()
    ax.margins(y=0.12)
    header = ["joint", *(name.replace(" ", "_") for name, _ in series)]
    return save_figure(
        figure, folder, stem, header, [[one.joint, *(v[i] for _, v in series)] for i, one in enumerate(bare)]
    )


def ratio_curves(robot: Robot, one: Curves, folder: Path, stem: str, title: str, name: str) -> list[Path]:
    """A ratio along a joint, one line for each value of another."""
    figure, axes = new_figure()
    ax = axes[0, 0]
    label, factor = axis_of(robot, one.joint)
    x = one.x * factor
    header, family_label = [label], ""
    if one.family_joint:
        family_label, family_factor = axis_of(robot, one.family_joint)
        header += [f"{name} at {family_label} = {v * family_factor:g}" for v in one.family]
    else:
        header.append(name)
    for k, values in enumerate(one.values):
        text = header[k + 1].split(" at ")[-1] if one.family_joint else None
        ax.plot(x, values, label=text, **_line(k))
    ax.set_xlabel(label)
    defined = "" if name == one.ratio.name else f"{name} = "
    ax.set_ylabel(f"{defined}|{one.ratio.name.replace('/', '| / |')}| [{one.ratio.unit}]")
    ax.set_title(plain(title), fontsize=11)
    ax.set_ylim(bottom=0)
    if factor != 1.0:
        _in_degrees(ax.xaxis)
    if one.family_joint:
        ax.legend()
    return save_figure(figure, folder, stem, header, np.column_stack([x, one.values.T]).tolist())


def ratio_surface(robot: Robot, one: RatioMap, folder: Path, stem: str, title: str) -> list[Path]:
    """A ratio as a map over two joints."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = new_figure(6.4, 4.8)
    ax = axes[0, 0]
    ax.grid(False)
    (xl, xf), (yl, yf) = (axis_of(robot, joint) for joint in one.joints)
    mesh = ax.pcolormesh(one.x * xf, one.y * yf, one.values, cmap="cividis", shading="auto", rasterized=True)
    if np.ptp(one.values) > 1e-12 * np.abs(one.values).max():
        # |above| has a kink where it is zero, along which a contour would only trace the grid.
        top = one.values.max()
        levels = [level for level in MaxNLocator(7).tick_values(0.0, top) if 0.02 * top < level < top]
        lines = ax.contour(one.x * xf, one.y * yf, one.values, levels, colors="white", linewidths=0.7)
        ax.clabel(lines, fontsize=7, fmt="%.3g")
    figure.colorbar(mesh, ax=ax, label=f"|{one.ratio.name.replace('/', '| / |')}| [{one.ratio.unit}]")
    ax.set_xlabel(xl)
    ax.set_ylabel(yl)
    ax.set_title(plain(title), fontsize=11)
    _in_degrees(*(axis for axis, factor in ((ax.xaxis, xf), (ax.yaxis, yf)) if factor != 1.0))
    rows = [[x * xf, y * yf, v] for y, line in zip(one.y, one.values) for x, v in zip(one.x, line)]
    return save_figure(figure, folder, stem, [xl, yl, one.ratio.name], rows)


def servo_figure(robot: Robot, motion: SampledMotion, view: ServoView, folder: Path, stem: str) -> list[Path]:
    """Velocity gain for critical damping, and reaction torque, along a motion."""
    figure, axes = new_figure(7.0, 6.4, rows=2)
    reaction = 100 * np.abs(view.reaction) / np.maximum(np.abs(view.torque).max(axis=0), 1e-300)
    for k, joint in enumerate(robot.joints):
        axes[0, 0].plot(motion.t, view.velocity_gain[:, k], label=plain(joint.name), **_line(k))
        axes[1, 0].plot(motion.t, reaction[:, k], **_line(k))
    axes[0, 0].set_ylabel("velocity gain / nominal [1]")
    axes[0, 0].set_title(f"{plain(robot.name)}: gain for critical damping (square root of the inertia)", fontsize=11)
    axes[0, 0].legend(ncols=2, fontsize=8)
    axes[1, 0].set_ylabel("|reaction| / peak torque [%]")
    axes[1, 0].set_title("torque from other joints' accelerations and all speeds", fontsize=11)
    axes[1, 0].set_xlabel("time [s]")
    names = [joint.name for joint in robot.joints]
    header = ["t [s]", *(f"{what} {name}" for what in ("inertia", "gain", "reaction") for name in names)]
    rows = np.column_stack([motion.t, view.inertia, view.velocity_gain, view.reaction]).tolist()
    return save_figure(figure, folder, stem, header, rows)


def importance_figure(robot: Robot, shares: Sequence[Share], folder: Path, stem: str, keep: int = 5) -> list[Path]:
    """The terms that carry each joint's torque: share of variance and of peak."""
    n = robot.n
    columns = 2 if n > 1 else 1
    figure, axes = new_figure(8.4, 2.1 * ((n + columns - 1) // columns) + 0.6, (n + columns - 1) // columns, columns)
    for k, joint in enumerate(robot.joints):
        ax = axes.flat[k]
        mine = [share for share in shares if share.joint == joint.name][:keep][::-1]
        y = np.arange(len(mine))
        ax.barh(y + 0.2, [100 * s.variance for s in mine], 0.38, color=COLOURS[0], label="of variance")
        style = {"color": COLOURS[1], "hatch": "//", "edgecolor": "white"}
        ax.barh(y - 0.2, [100 * s.peak for s in mine], 0.38, label="of peak", **style)
        ax.set_yticks(y, [s.term for s in mine], fontsize=8)
        ax.set_xlabel("share [%]", fontsize=8)
        ax.set_title(plain(joint.name), fontsize=10)
    for ax in list(axes.flat)[n:]:
        ax.set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, fontsize=8)
    rows = [[s.joint, s.term, s.variance, s.peak] for s in shares]
    return save_figure(figure, folder, stem, ["joint", "term", "share_of_variance", "share_of_peak"], rows)
