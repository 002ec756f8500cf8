"""Recorded motions: the columns of a log by the robot's joints, and rates taken from it or computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from emdeg.algebra import Array
from emdeg.analysis import SampledMotion
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.identification.log_tables import LogTable, read_table
from emdeg.identification.motor_angles import coordinate_rates, coordinates_from_motors
from emdeg.robot import Joint, Robot

JUMP = 1.5
"""A time step longer than this many usual ones is a gap."""
LONG_STEP = 0.5
"""Samples further apart than this [s] are doubted."""
MANY_TURNS = 4 * math.pi
"""Angles beyond this [rad] are doubted where a joint has no limits."""
EFFORT, CURRENT = ("tau",), ("current", "i")
"""What columns of efforts [N m, N] and of currents [A] are called, before the joint's name or number."""
MOTION = ("q", "qd", "qdd")


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


@dataclass(frozen=True)
class Log(Shown):
    """A log as it was written: t (m) [s], positions q and efforts (m, n), rates where they were recorded.

    NaN where a value is missing. Efforts are N m or N at the joints, or amperes where `in_amperes` says so.
    """

    file: str
    t: Array
    q: Array
    qd: Array | None
    qdd: Array | None
    effort: Array | None
    in_amperes: bool
    table: LogTable

    @property
    def step(self) -> float:
        """The usual time between samples [s]."""
        return float(np.nanmedian(np.diff(self.t)))


def read_log(path: str | PathLike[str], robot: Robot, *, efforts: bool = True) -> Log:
    """The log in a CSV or Parquet file with a header: t, q_NAME, tau_NAME (or current_NAME), and qd_, qdd_ if recorded.

    NAME is a joint's; its number serves too (q1, tau1, i1). Of a mechanism with closed loops positions are those of
    the coordinates, or of the driven joints where these are named; efforts are the driven joints'. RobotError names the
    line or column at fault.
    """
    letters = (*MOTION, *EFFORT, *CURRENT)
    joints = (*robot.joints, *robot.coordinates)
    wanted = {"t", *(name for letter in letters for names in _names(letter, joints) for name in names)}
    table = read_table(path, wanted.__contains__)
    for name, column in zip(table.names, table.values.T):
        if np.isnan(column).all():
            raise RobotError(f"holds no number in column {name}", file=table.file)
    if "t" not in table.header:
        hint = "; columns are set apart by commas" if ";" in "".join(table.header[:1]) else ""
        words = f"lacks the column t [s]; it has {', '.join(table.header)}{hint}"
        raise RobotError(words, file=table.file, line=1)
    q, qd, qdd = _motors(table, robot) or [_find((letter,), table, robot.coordinates) for letter in MOTION]
    if q is None:
        raise _lacking(table, _names("q", robot.coordinates)[0])
    effort = _find(EFFORT, table, robot.driven) if efforts else None
    current = _find(CURRENT, table, robot.driven) if efforts and effort is None else None
    if efforts and effort is None and current is None:
        also = f" (or currents {_names('i', robot.driven)[0][0]}, ...)"
        raise _lacking(table, _names("tau", robot.driven)[0], also)
    t = table.column("t")
    return Log(table.file, t, q, qd, qdd, current if effort is None else effort, current is not None, table)


def _motors(table: LogTable, robot: Robot) -> tuple[Array, Array | None, None] | None:
    """(positions, rates if recorded, None) of the coordinates from those of the driven joints; None if not named.

    A driven joint may be called q1 itself; what the coordinates are called goes first.
    """
    named = [names for names in _names("q", robot.coordinates)[1:] if set(names) <= set(table.names)]
    if robot.driven == robot.coordinates or named:
        return None
    own = [joint.name for joint in robot.driven]
    ways = [*_names("q", robot.driven)[1:], *([own] if own == _names("q", robot.driven)[0] else [])]
    found = next((names for names in ways if set(names) <= set(table.names)), None)
    if found is None:
        return None
    q = coordinates_from_motors(robot, table.columns(found))
    rates = next((names for names in _names("qd", robot.driven) if set(names) <= set(table.names)), None)
    return q, None if rates is None else coordinate_rates(robot, q, table.columns(rates)), None


def _lacking(table: LogTable, names: Sequence[str], also: str = "") -> RobotError:
    words = f"lacks the columns {', '.join(names)}{also}; it has {', '.join(table.header)}"
    return RobotError(words, file=table.file, line=1)


def _names(letter: str, joints: Sequence[Joint]) -> list[list[str]]:
    """The ways in which the columns of one quantity may be named."""
    numbered = [f"{letter}{k + 1}" for k in range(len(joints))]
    return [numbered, *([f"{letter}{mark}{joint.name}" for joint in joints] for mark in "_.")]


def _find(letters: Sequence[str], table: LogTable, joints: Sequence[Joint]) -> Array | None:
    for names in (names for letter in letters for names in _names(letter, joints)):
        present = [name for name in names if name in table.names]
        if len(present) == len(names):
            return table.columns(names)
        if present:
            missing = ", ".join(name for name in names if name not in table.names)
            raise RobotError(f"has {', '.join(present)} but lacks {missing}", file=table.file, line=1)
    return None


def read_recording(
    path: str | PathLike[str],
    robot: Robot,
    *,
    torque_constants: list[float] | None = None,
    window: float | None = None,
) -> Recording:
    """The recording in a log (see `read_log`) without gaps.

    Currents need `torque_constants` [N m/A at the joint]. Rates that are not recorded come from a Savitzky-Golay filter
    over `window` [s] (default: eleven samples), which smooths the positions too. Torques stay as measured: the filter
    shifts nothing in time, and smoothing the jump of dry friction where a joint turns back would falsify what is
    identified. RobotError names the line or column at fault.
    """
    log = read_log(path, robot)
    step = _steady_step(log)
    tau = log.effort
    assert tau is not None
    if log.in_amperes:
        if torque_constants is None or len(torque_constants) != robot.freedoms:
            words = f"has currents: give {robot.freedoms} torque constants [N m/A at the joint]"
            raise RobotError(words, file=log.file)
        tau = tau * np.array(torque_constants)
    derived = tuple(name for name, value in (("qd", log.qd), ("qdd", log.qdd)) if value is None)
    t, q, qd, qdd, tau = _with_rates(log.t, step, log.q, log.qd, log.qdd, tau, window, log.file)
    return Recording(t, q, qd, qdd, tau, derived)


def doubts(recording: Recording | SampledMotion | Log, robot: Robot) -> list[str]:
    """What suggests that a recording is in other units than s and rad: steps and positions that no robot has."""
    found = []
    step = float(np.nanmedian(np.diff(recording.t)))
    if step > LONG_STEP:
        found.append(f"its samples are {step:g} s apart: is t in seconds?")
    for k, joint in enumerate(robot.coordinates):
        low, high = float(np.nanmin(recording.q[:, k])), float(np.nanmax(recording.q[:, k]))
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
    """The motion in a log: t, positions, and qd, qdd where they are given; else they are computed as above."""
    log = read_log(path, robot, efforts=False)
    t, q, qd, qdd, _ = _with_rates(log.t, _steady_step(log), log.q, log.qd, log.qdd, None, window, log.file)
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


def _steady_step(log: Log) -> float:
    """The time between samples [s]; RobotError where a value is missing or the time does not pass steadily."""
    table = log.table
    if np.isnan(table.values).any():
        row, column = (int(v) for v in np.argwhere(np.isnan(table.values))[0])
        words = f"has a gap: no value of {table.names[column]}"
        raise RobotError(words, file=log.file, line=table.line(row))
    steps, usual = np.diff(log.t), log.step
    if np.any(steps <= 0):
        line = table.line(int(np.argmax(steps <= 0)) + 1)
        raise RobotError("the time does not increase", file=log.file, line=line)
    if np.any(steps > JUMP * usual):
        k = int(np.argmax(steps > JUMP * usual))
        words = f"has a gap: {steps[k]:g} s between two samples, where {usual:g} s is usual"
        raise RobotError(words, file=log.file, line=table.line(k + 1))
    return float(np.mean(steps))
