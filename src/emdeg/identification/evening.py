"""A log on even steps: spikes and short gaps bridged, parted where more is missing; what was measured is not copied."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.errors import RobotError
from emdeg.identification.recording import JUMP, Log

Mask = NDArray[np.bool_]

BRIDGED = 5
"""Missing samples in a row that are interpolated; a longer gap parts the log."""
JITTER = 0.02
"""Of a step: times that vary by more are taken as they are written, and the log is put on even steps."""
SPIKE = 12.0
"""Spreads from its neighbours' median beyond which a sample is a spike."""
SHORTEST = 20
"""A stretch of fewer samples is left out."""
FLAT = 4
"""Equal samples in a row at the largest effort that are no chance."""
STUCK = 10
"""Equal samples in a row that begin or end in the midst of a motion."""
NEIGHBOURS = 2
"""Samples on either side through which a gap is bridged."""


@dataclass(frozen=True)
class LogPiece:
    """Even samples without a gap; `good` (m, n) is False where an effort is known to be wrong."""

    t: Array
    q: Array
    qd: Array | None
    qdd: Array | None
    tau: Array
    good: Mask

    def __len__(self) -> int:
        return len(self.t)


def even_pieces(log: Log, notes: list[str]) -> list[LogPiece]:
    """The log in stretches of even steps, short gaps and spikes bridged; what was done is noted."""
    assert log.effort is not None
    step = log.step
    arrays = {name: getattr(log, name) for name in ("q", "qd", "qdd", "effort") if getattr(log, name) is not None}
    flat = flat_tops(log.effort)
    whole, count = np.isfinite(log.t), 0
    for name, value in arrays.items():
        for k, column in enumerate(value.T):
            spikes = _spikes(column)
            if name == "effort":
                spikes &= ~flat[:, k]
            count += int(spikes.sum())
            whole &= np.isfinite(column) & ~spikes
    if count:
        notes.append(f"{count} values are spikes and were left out")
    for name in ("q", "effort"):
        whole &= ~np.any(stuck(arrays[name]), axis=1)
    rows = np.flatnonzero(whole)
    rows = rows[np.diff(log.t[rows], prepend=-np.inf) != 0]  # of two samples at one time the first counts
    steps = np.diff(log.t[rows])
    cuts = np.flatnonzero((steps <= 0) | (steps > (BRIDGED + JUMP) * step)) + 1
    ends = pairwise([0, *cuts.tolist(), len(rows)])
    good = ~flat
    pieces = [_evened(log.t, rows[a:b], arrays, good, step) for a, b in ends if b - a >= SHORTEST]
    if not pieces:
        raise RobotError("holds no stretch of samples without gaps", file=log.file)
    return pieces


def _evened(t: Array, rows: NDArray[np.intp], arrays: dict[str, Array], good: Mask, step: float) -> LogPiece:
    """The samples at `rows` on even steps: as they are where they lie there already, else interpolated."""
    first, last = int(rows[0]), int(rows[-1])
    length = float(t[last] - t[first])
    count = round(length / step) + 1
    even = t[first] + length * np.arange(count) / max(count - 1, 1)
    places = np.rint((t[rows] - t[first]) * ((count - 1) / length)).astype(np.intp)
    on_steps = bool(np.all(np.diff(places) > 0)) and float(np.max(np.abs(t[rows] - even[places]))) < JITTER * step
    if on_steps and len(rows) == count:
        own = slice(first, last + 1) if last - first + 1 == count else rows
        found = {name: value[own] for name, value in arrays.items()}
        return LogPiece(even, found["q"], found.get("qd"), found.get("qdd"), found["effort"], good[own])
    if on_steps:
        found = {name: _bridged(value[rows], places, count, name != "effort") for name, value in arrays.items()}
    else:
        found = {name: _interpolated(t[rows], value, rows, even, name != "effort") for name, value in arrays.items()}
    nearest = rows[np.clip(np.searchsorted(t[rows], even), 0, len(rows) - 1)]
    return LogPiece(even, found["q"], found.get("qd"), found.get("qdd"), found["effort"], good[nearest])


def _bridged(x: Array, places: NDArray[np.intp], count: int, smooth: bool) -> Array:
    """(count, n) of samples at some places of a grid; what lies between follows its neighbours.

    A cubic through two on either side where the signal is smooth, else a line.
    """
    found = np.empty((count, x.shape[1]), order="F")
    found[places] = x
    there = np.zeros(count, dtype=bool)
    there[places] = True
    gaps = np.flatnonzero(~there)
    reach = NEIGHBOURS if smooth else 1
    after = np.searchsorted(places, gaps)
    first = np.clip(after - reach, 0, max(0, len(places) - 2 * reach))
    nodes = first[:, None] + np.arange(2 * reach)
    at = places[nodes].astype(float)
    for j in range(2 * reach):
        others = [k for k in range(2 * reach) if k != j]
        share = np.prod([(gaps - at[:, k]) / (at[:, j] - at[:, k]) for k in others], axis=0)
        part = share[:, None] * x[nodes[:, j]]
        found[gaps] = part if j == 0 else found[gaps] + part
    return found


def _interpolated(t: Array, x: Array, rows: NDArray[np.intp], even: Array, smooth: bool) -> Array:
    """(len(even), n), column by column: splines of all of an hour at once would not fit."""
    from scipy.interpolate import CubicSpline

    found = np.empty((len(even), x.shape[1]), order="F")
    for k in range(x.shape[1]):
        own = x[rows, k]
        found[:, k] = CubicSpline(t, own)(even) if smooth else np.interp(even, t, own)
    return found


def _spikes(x: Array) -> Mask:
    """(m) samples far from the median of their neighbours, beyond what the signal and its noise do elsewhere."""
    from scipy.ndimage import median_filter

    none = np.zeros(len(x), dtype=bool)
    column = np.where(np.isfinite(x), x, 0.0)
    away = np.abs(column - median_filter(column, 7, mode="nearest"))
    usual = float(np.quantile(away, 0.99))
    spread = 1.4826 * float(np.median(away))
    if not away.max(initial=0.0) > max(SPIKE * spread, 6 * usual):
        return none
    # Of a motion that goes one way a median is the sample itself: its noise shows in how it bends.
    bend = np.abs(column[2:] - 2 * column[1:-1] + column[:-2])
    noise = 1.4826 * float(np.median(bend)) / np.sqrt(6)
    found: Mask = away > max(SPIKE * spread, 6 * usual, SPIKE * noise)
    # One sample in a hundred at most: what happens more often is the signal.
    return found if usual + noise > 0 and found.mean() < 0.01 else none


def flat_tops(effort: Array) -> Mask:
    """(m, n) where an effort stands at its largest or smallest value for several samples: its drive gives no more."""
    flat = np.zeros(effort.shape, dtype=bool, order="F")
    for k in range(effort.shape[1]):
        x = effort[:, k]
        same = np.concatenate([[False], x[1:] == x[:-1]])
        if same.mean() > 0.5:  # a coarse converter, or an effort that does not change
            continue
        for end in (np.nanmax(x), np.nanmin(x)):
            runs = _runs(x == end)
            for first, last in runs:
                if last - first >= FLAT:
                    flat[first:last, k] = True
    return flat


def stuck(x: Array) -> Mask:
    """(m, n) where a column stands still although it moves right before or right after: its sensor was not read."""
    found = np.zeros(x.shape, dtype=bool, order="F")
    for k, column in enumerate(x.T):
        steps = np.abs(np.diff(column))
        moving = steps[steps > 0]
        if not len(moving) or len(moving) < 0.2 * len(steps):  # at rest, or coarser than its motion
            continue
        usual = max(0.5 * float(np.quantile(moving, 0.99)), 3 * float(moving.min()))
        for first, last in _runs(steps == 0):  # samples first..last are equal
            if last - first + 1 < STUCK:
                continue
            into = steps[first - 1] if first else 0.0
            out = steps[last] if last < len(steps) else 0.0
            if np.nanmax([into, out, 0.0]) > usual:
                found[first + 1 : last + 1, k] = True
    return found


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """[first, last) of every stretch in which a mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.view(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))
