"""A recorded motion from a CSV file: positions, measured torques, and rates taken from it or computed here."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis import SampledMotion
from emdeg.errors import RobotError, TooLarge
from emdeg.robot import BUDGET, Robot
from emdeg.writing import Shown

JUMP = 1.5
"""A time step longer than this many usual ones is a gap."""
LONG_STEP = 0.5
"""Samples further apart than this [s] are doubted."""
MANY_TURNS = 4 * math.pi
"""Angles beyond this [rad] are doubted where a joint has no limits."""


@dataclass(frozen=True)
class Recording(Shown):
    """t (m) [s]; q, qd, qdd, tau (m, n) [rad or m, per s, per s^2; N m or N at the joint]."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    derived: tuple[str, ...] = ()
    """Which of qd, qdd were computed here by differentiation."""


def read_recording(
    path: str | PathLike[str],
    robot: Robot,
    *,
    torque_constants: list[float] | None = None,
    window: float | None = None,
) -> Recording:
    """The recording in a CSV file with a header: t, q1..qn, tau1..taun (or i1..in), and qd, qdd if recorded.

    Columns may also be named after the joints (q_shoulder). Currents need `torque_constants` [N m/A at the joint].
    Rates that are not recorded come from a Savitzky-Golay filter over `window` [s] (default: eleven samples), which
    smooths the positions too. Torques stay as measured: the filter shifts nothing in time, and smoothing the jump of
    dry friction where a joint turns back would falsify what is identified. RobotError names the line or column at
    fault.
    """
    header, rows = _table(Path(path))
    file = str(path)
    t, step = _times(header, rows, file)
    q = _need("q", header, rows, robot, file)
    tau = _find("tau", header, rows, robot, file)
    if tau is None:
        current = _find("i", header, rows, robot, file)
        if current is None:
            raise RobotError(
                f"lacks the columns {', '.join(_names('tau', robot))} (or currents {_names('i', robot)[0]}, ...); "
                f"it has {', '.join(header)}",
                file=file,
                line=1,
            )
        if torque_constants is None or len(torque_constants) != robot.n:
            raise RobotError(f"has currents: give {robot.n} torque constants [N m/A at the joint]", file=file)
        tau = current * np.array(torque_constants)
    qd, qdd = _find("qd", header, rows, robot, file), _find("qdd", header, rows, robot, file)
    derived = tuple(name for name, value in (("qd", qd), ("qdd", qdd)) if value is None)
    t, q, qd, qdd, tau = _with_rates(t, step, q, qd, qdd, tau, window, file)
    return Recording(t, q, qd, qdd, tau, derived)


def doubts(recording: Recording | SampledMotion, robot: Robot) -> list[str]:
    """What suggests that a recording is in other units than s and rad: steps and positions that no robot has."""
    found = []
    step = float(np.median(np.diff(recording.t)))
    if step > LONG_STEP:
        found.append(f"its samples are {step:g} s apart: is t in seconds?")
    for k, joint in enumerate(robot.joints):
        low, high = float(recording.q[:, k].min()), float(recording.q[:, k].max())
        ends = [None if end is None else float(end) for end in (joint.limits.lower, joint.limits.upper)]
        first, last = (fallback if end is None else end for end, fallback in zip(ends, (-MANY_TURNS, MANY_TURNS)))
        if joint.kind == "prismatic" and None in ends:
            continue
        slack = 0.1 * (last - first)
        if low < first - slack or high > last + slack:
            unit = "rad" if joint.kind == "revolute" else "m"
            what = "beyond its limits" if None not in ends else "many turns"
            found.append(f"{joint.name} goes from {low:.4g} to {high:.4g}, {what}: are positions in {unit}?")
    return found


def read_motion(path: str | PathLike[str], robot: Robot, *, window: float | None = None) -> SampledMotion:
    """The motion in a CSV file: t, q1..qn, and qd, qdd where they are given; else they are computed as above."""
    header, rows = _table(Path(path))
    file = str(path)
    t, step = _times(header, rows, file)
    q = _need("q", header, rows, robot, file)
    qd, qdd = (_find(name, header, rows, robot, file) for name in ("qd", "qdd"))
    t, q, qd, qdd, _ = _with_rates(t, step, q, qd, qdd, None, window, file)
    return SampledMotion(t, q, qd, qdd)


def _with_rates(
    t: Array,
    step: float,
    q: Array,
    qd: Array | None,
    qdd: Array | None,
    tau: Array | None,
    window: float | None,
    file: str,
) -> tuple[Array, Array, Array, Array, Array]:
    """The arrays with what was missing computed, the motion smoothed if anything was; torques as they are."""
    from scipy.signal import savgol_filter

    torque = np.zeros_like(q) if tau is None else tau
    if qd is not None and qdd is not None:
        return t, q, qd, qdd, torque
    samples = 11 if window is None else max(5, 2 * round(window / step / 2) + 1)
    if samples >= len(t):
        raise RobotError(f"holds {len(t)} samples; differentiating it needs more than {samples}", file=file)

    def smooth(x: Array, order: int) -> Array:
        return np.asarray(savgol_filter(x, samples, 4, deriv=order, delta=step, axis=0), dtype=np.float64)

    if qd is None:
        qd, qdd = smooth(q, 1), smooth(q, 2) if qdd is None else smooth(qdd, 0)
    else:
        qd, qdd = smooth(qd, 0), smooth(qd, 1)
    # The filter's ends are poor where positions are measured; a planned motion keeps all of its time.
    inner = slice(samples, -samples) if tau is not None and len(t) > 4 * samples else slice(None)
    return t[inner], smooth(q, 0)[inner], qd[inner], qdd[inner], torque[inner]


def _table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    file = str(path)
    try:
        if path.stat().st_size > 64 * BUDGET.bytes:
            raise TooLarge(f"it is larger than {64 * BUDGET.bytes // 2**20} MiB", file=file)
        with path.open(newline="", encoding="utf-8-sig") as handle:
            lines = [(number, row) for number, row in enumerate(csv.reader(handle), 1) if row]
    except OSError as problem:
        raise RobotError(f"cannot be read: {problem.strerror or problem}", file=file) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise RobotError(f"is not a CSV file: {problem}", file=file) from None
    if len(lines) < 8:
        raise RobotError(f"holds {max(0, len(lines) - 1)} samples below its header; at least 7 are needed", file=file)
    header = [cell.strip() for cell in lines[0][1]]
    doubled = sorted({name for name in header if header.count(name) > 1})
    if doubled:
        raise RobotError(f"has two columns {doubled[0]!r}", file=file, line=1)
    return header, lines[1:]


def _names(letter: str, robot: Robot) -> list[str]:
    return [f"{letter}{k + 1}" for k in range(robot.n)]


def _need(letter: str, header: list[str], rows: list[tuple[int, list[str]]], robot: Robot, file: str) -> Array:
    found = _find(letter, header, rows, robot, file)
    if found is None:
        raise RobotError(
            f"lacks the columns {', '.join(_names(letter, robot))}; it has {', '.join(header)}", file=file, line=1
        )
    return found


def _find(letter: str, header: list[str], rows: list[tuple[int, list[str]]], robot: Robot, file: str) -> Array | None:
    numbered = _names(letter, robot)
    for names in (numbered, [f"{letter}_{joint.name}" for joint in robot.joints]):
        present = [name for name in names if name in header]
        if len(present) == len(names):
            return _columns(header, rows, names, file)
        if present:
            missing = ", ".join(name for name in names if name not in header)
            raise RobotError(f"has {', '.join(present)} but lacks {missing}", file=file, line=1)
    return None


def _columns(header: list[str], rows: list[tuple[int, list[str]]], names: list[str], file: str) -> Array:
    places = [header.index(name) for name in names]
    values = []
    for number, row in rows:
        one = []
        for name, place in zip(names, places):
            cell = row[place].strip() if place < len(row) else ""
            if not cell:
                raise RobotError(f"has a gap: no value of {name}", file=file, line=number)
            try:
                value = float(cell)
            except ValueError:
                raise RobotError(f"{cell!r} in column {name} is not a number", file=file, line=number) from None
            if not math.isfinite(value):
                raise RobotError(f"has a gap: {name} is {cell}", file=file, line=number)
            one.append(value)
        values.append(one)
    return np.array(values)


def _times(header: list[str], rows: list[tuple[int, list[str]]], file: str) -> tuple[Array, float]:
    """(the times, the step between them), which must be steady."""
    if "t" not in header:
        hint = "; columns are set apart by commas" if ";" in header[0] else ""
        raise RobotError(f"lacks the column t [s]; it has {', '.join(header)}{hint}", file=file, line=1)
    t = _columns(header, rows, ["t"], file)[:, 0]
    steps = np.diff(t)
    usual = float(np.median(steps))
    if np.any(steps <= 0):
        raise RobotError("the time does not increase", file=file, line=rows[int(np.argmax(steps <= 0)) + 1][0])
    if np.any(steps > JUMP * usual):
        k = int(np.argmax(steps > JUMP * usual))
        rule = f"has a gap: {steps[k]:g} s between two samples, where {usual:g} s is usual"
        raise RobotError(rule, file=file, line=rows[k + 1][0])
    return t, float(np.mean(steps))
