"""A log made ready for least squares: even steps, spikes out, smoothed, differentiated, thinned out.

Positions are smoothed just enough to keep all of their signal. Efforts pass a filter of their own before they are
thinned out, and the columns of friction pass the very same filter: dry friction jumps, and a jump that is smoothed on
one side only would falsify what is identified. Nothing is shifted in time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array
from emdeg.errors import RobotError
from emdeg.identification.friction_terms import FrictionTerm, candidates, expected_sign
from emdeg.identification.recording import JUMP, Log
from emdeg.identification.smoothing import WIDEST, SmoothingFilter, signal_band, smoothing_filter
from emdeg.robot import Robot
from emdeg.writing import Shown

Mask = NDArray[np.bool_]

BRIDGED = 5
"""Missing samples in a row that are interpolated; a longer gap parts the log."""
JITTER = 0.02
"""Of a step: times that vary by more are taken as they are written, and the log is put on even steps."""
SPIKE = 12.0
"""Spreads from its neighbours' median beyond which a sample is a spike."""
STILL = {"revolute": 5e-3, "prismatic": 5e-4}
"""A joint that stays within this [rad, m] did not move."""
ALIASED = 60.0
"""[dB] by which noise is damped that thinning out would fold back."""
LEAST_SLOPE = 4.0
"""[Hz] from the pass to the stop band at least: a steeper filter costs more of a log's ends than noise is worth."""
RATE = 12.0
"""Rows a second that are kept, over the frequency at which the motion ends."""
MOST_ROWS = 400_000
"""Rows of one log that are kept at most."""
FEWEST_ROWS = 20
"""A piece of a log with fewer is left out."""
FLAT = 4
"""Equal samples in a row at the largest effort that are no chance."""


@dataclass(frozen=True)
class LogSamples(Shown):
    """Rows for least squares: t (m) [s]; q, qd, qdd, tau (m, n); the efforts of every friction term (m, n, terms).

    `pieces` are the rows at which a stretch without gaps begins; `used` (m, n) is False where an effort is known to be
    wrong. Where `in_amperes`, tau is a current [A].
    """

    file: str
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    friction: Array
    used: Mask
    pieces: tuple[int, ...]
    terms: tuple[tuple[FrictionTerm, ...], ...]
    """Of every driven joint."""
    fastest: Array
    """(n) the greatest speed of each driven joint [rad/s, m/s]."""
    still: tuple[bool, ...]
    """Coordinates that did not move."""
    step: float
    """Between rows [s]."""
    band: float
    """[Hz] beyond which positions are noise."""
    position_noise: Array
    in_amperes: bool
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.t)

    def in_efforts(self, constants: Array) -> LogSamples:
        """The samples with efforts for currents, by constants (n) [N m/A, N/A]."""
        return replace(self, tau=self.tau * constants, in_amperes=False) if self.in_amperes else self

    def moving(self, qd: Array, qdd: Array) -> LogSamples:
        """The samples at the same places with other rates."""
        return replace(self, qd=qd, qdd=qdd)


@dataclass(frozen=True)
class LogPiece:
    """Even samples without a gap; `good` (m, n) is False where an effort is known to be wrong."""

    t: Array
    q: Array
    qd: Array | None
    qdd: Array | None
    tau: Array
    good: Mask


def fastest_speeds(log: Log) -> Array:
    """(n) about the greatest speed of each coordinate [rad/s, m/s]."""
    apart = min(len(log.t) - 1, max(1, round(0.02 / log.step)))
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.abs(log.q[apart:] - log.q[:-apart]) / (apart * log.step)
    return np.nan_to_num(np.nanquantile(speeds, 0.999, axis=0))


def prepare(log: Log, robot: Robot, fastest: Array, *, thinned: bool = True) -> LogSamples:
    """The log's samples with rates; `fastest` (n) [rad/s, m/s] sets the Stribeck velocities that can be told.

    Not `thinned`, every sample stays with its effort as it was measured, unless there are too many.
    """
    assert log.effort is not None
    notes: list[str] = []
    pieces = even_pieces(log, notes)
    step = log.step
    longest = max(pieces, key=lambda piece: len(piece.t))
    still = tuple(_still(longest.q[:, k], joint.kind) for k, joint in enumerate(robot.coordinates))
    looks = [signal_band(longest.q[:, k], step) for k in range(robot.freedoms)]
    band = max([look[0] for look, rests in zip(looks, still) if not rests], default=1 / (10 * step))
    noise = np.array([look[1] for look in looks])
    smooth = _smoothing(step, band)
    every = max(int(1 / (RATE * band * step)) if thinned else 1, -(-len(log.t) // MOST_ROWS), 1)
    half = 0.5 / (every * step)
    thin = smoothing_filter(step, WIDEST * half, (2 - WIDEST) * half, ALIASED) if every > 1 else None
    rates = [_rates(piece, smooth, still) for piece in pieces]
    fastest = np.maximum(fastest, 1e-9)
    terms = tuple(candidates(float(v)) for v in fastest)
    speed_noise = noise * float(np.linalg.norm(smooth.taps[1])) if smooth.reach and log.qd is None else 0 * noise
    kept = []
    for piece, (t, q, qd, qdd) in zip(pieces, rates):
        rows = _thinned(piece, t, q, qd, qdd, smooth, thin, every, terms, speed_noise)
        if len(rows.t) >= FEWEST_ROWS:
            kept.append(rows)
    if not kept:
        need = 2 * (smooth.reach + (0 if thin is None else thin.reach)) * step
        rule = f"no stretch without a gap is long enough: smoothing alone needs {need:.3g} s"
        raise RobotError(rule, file=log.file)
    starts = np.cumsum([0, *(len(rows.t) for rows in kept[:-1])])
    lost = sum(len(piece.t) for piece in pieces) - sum(len(rows.t) for rows in kept) * every
    if lost > 0.2 * len(log.t):
        notes.append(f"{lost} of {len(log.t)} samples fall to the filter's ends")
    rows = _Rows(*(np.concatenate(parts) for parts in zip(*(vars(each).values() for each in kept))))  # type: ignore[arg-type]
    return LogSamples(
        log.file,
        rows.t,
        rows.q,
        rows.qd,
        rows.qdd,
        rows.tau,
        rows.friction,
        rows.used,
        tuple(int(start) for start in starts),
        terms,
        fastest,
        still,
        every * step,
        band,
        noise,
        log.in_amperes,
        tuple(notes),
    )


def _smoothing(step: float, band: float) -> SmoothingFilter:
    """What keeps the band, and at most 0.8 of half the sampling rate."""
    half = 0.5 / step
    passed = min(1.2 * band, WIDEST * half)
    stopped = passed + max(passed, LEAST_SLOPE)
    return smoothing_filter(step, passed, min(stopped, half * (2 - WIDEST)))


def _still(q: Array, kind: str) -> bool:
    low, high = np.quantile(q, [0.002, 0.998])
    return bool(high - low < STILL["prismatic" if kind == "prismatic" else "revolute"])


def even_pieces(log: Log, notes: list[str]) -> list[LogPiece]:
    """The log in stretches of even steps, short gaps and spikes bridged; what was done is noted."""
    assert log.effort is not None
    step = log.step
    arrays = {name: getattr(log, name) for name in ("q", "qd", "qdd", "effort") if getattr(log, name) is not None}
    flat = flat_tops(log.effort)
    spikes = {name: _spikes(value) for name, value in arrays.items()}
    spikes["effort"] &= ~flat
    found = sum(int(mask.sum()) for mask in spikes.values())
    if found:
        notes.append(f"{found} values are spikes and were left out")
    whole = np.isfinite(log.t)
    for name, value in arrays.items():
        whole &= np.isfinite(value).all(axis=1) & ~spikes[name].any(axis=1)
    rows = np.flatnonzero(whole)
    t = log.t[rows]
    steps = np.diff(t)
    cuts = np.flatnonzero((steps <= 0) | (steps > (BRIDGED + JUMP) * step)) + 1
    pieces = []
    for part in np.split(np.arange(len(rows)), cuts):
        if len(part) >= FEWEST_ROWS:
            own = rows[part]
            pieces.append(_evened(t[part], {name: value[own] for name, value in arrays.items()}, ~flat[own], step))
    if not pieces:
        raise RobotError("holds no stretch of samples without gaps", file=log.file)
    return pieces


def _evened(t: Array, arrays: dict[str, Array], good: Mask, step: float) -> LogPiece:
    """The samples on even steps: as they are where they lie there already, else interpolated."""
    count = round((t[-1] - t[0]) / step) + 1
    even = t[0] + (t[-1] - t[0]) * np.arange(count) / max(count - 1, 1)
    if count == len(t) and np.max(np.abs(t - even)) < JITTER * step:
        q, tau, rates = arrays["q"], arrays["effort"], {k: arrays.get(k) for k in ("qd", "qdd")}
    else:
        from scipy.interpolate import CubicSpline

        q = CubicSpline(t, arrays["q"])(even)
        tau = np.stack([np.interp(even, t, column) for column in arrays["effort"].T], axis=1)
        rates = {k: CubicSpline(t, arrays[k])(even) if k in arrays else None for k in ("qd", "qdd")}
        nearest = np.clip(np.searchsorted(t, even), 0, len(t) - 1)
        good = good[nearest]
    return LogPiece(even, q, rates["qd"], rates["qdd"], tau, good)


def _spikes(x: Array) -> Mask:
    """Samples far from the median of their neighbours (m, n), beyond what the signal does elsewhere."""
    from scipy.ndimage import median_filter

    found = np.zeros(x.shape, dtype=bool)
    for k in range(x.shape[1]):
        column = np.where(np.isfinite(x[:, k]), x[:, k], 0.0)
        away = np.abs(column - median_filter(column, 7, mode="nearest"))
        usual = float(np.quantile(away, 0.99))
        spread = 1.4826 * float(np.median(away))
        if usual > 0:
            found[:, k] = away > max(SPIKE * spread, 6 * usual)
    # One sample in a hundred at most: what happens more often is the signal.
    return found & (found.mean(axis=0) < 0.01)


def flat_tops(effort: Array) -> Mask:
    """(m, n) where an effort stands at its largest or smallest value for several samples: its drive gives no more."""
    flat = np.zeros(effort.shape, dtype=bool)
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


def _runs(mask: Mask) -> list[tuple[int, int]]:
    """[first, last) of every stretch in which a mask holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.view(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist()))


def _rates(piece: LogPiece, smooth: SmoothingFilter, still: tuple[bool, ...]) -> tuple[Array, Array, Array, Array]:
    """(t, q, qd, qdd) smoothed at every sample that has its neighbours; a joint at rest stands where it stood."""
    m = smooth.reach
    if len(piece.t) <= 2 * m:
        empty = np.empty((0, piece.q.shape[1]))
        return piece.t[:0], empty, empty, empty
    q = smooth.at(piece.q)
    qd = smooth.at(piece.q, 1) if piece.qd is None else smooth.at(piece.qd)
    if piece.qdd is not None:
        qdd = smooth.at(piece.qdd)
    else:
        qdd = smooth.at(piece.q, 2) if piece.qd is None else smooth.at(piece.qd, 1)
    for k, rests in enumerate(still):
        if rests:
            q[:, k], qd[:, k], qdd[:, k] = np.mean(q[:, k]), 0.0, 0.0
    return piece.t[m : len(piece.t) - m], q, qd, qdd


@dataclass(frozen=True)
class _Rows:
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    friction: Array
    used: Mask


def _thinned(
    piece: LogPiece,
    t: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    smooth: SmoothingFilter,
    thin: SmoothingFilter | None,
    every: int,
    terms: tuple[tuple[FrictionTerm, ...], ...],
    speed_noise: Array,
) -> _Rows:
    m = smooth.reach
    inner = slice(m, len(piece.t) - m) if len(t) else slice(0, 0)
    tau, good = piece.tau[inner], piece.good[inner]
    reach = 0 if thin is None else thin.reach
    if len(t) <= 2 * reach:
        t = t[:0]
    count = -(-(len(t) - 2 * reach) // every) if len(t) else 0
    n, width = tau.shape[1], len(terms[0])
    friction = np.empty((count, n, width))
    if not count:
        none = np.empty((0, n))
        return _Rows(t[:0], none, none, none, none, friction, np.empty((0, n), dtype=bool))

    def thinned(x: Array) -> Array:
        return x if thin is None else thin.at(x, every=every)

    for k in range(n):
        sign = expected_sign(qd[:, k], float(speed_noise[k]))
        for j, term in enumerate(terms[k]):
            friction[:, k, j] = thinned(term.effort(qd[:, k], sign))
    kept = slice(reach, len(t) - reach, every)
    used = np.ones((count, n), dtype=bool)
    if not good.all():  # a wrong effort reaches as far as its filter
        from scipy.ndimage import minimum_filter1d

        used = minimum_filter1d(good.view(np.int8), 2 * reach + 1, axis=0)[kept].astype(bool)
    return _Rows(t[kept], q[kept], qd[kept], qdd[kept], thinned(tau), friction, used)
