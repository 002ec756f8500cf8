"""A log made ready for least squares: even steps, spikes out, smoothed, differentiated, thinned out.

Positions are smoothed just enough to keep all of their signal. Efforts pass a filter of their own before they are
thinned out, and the columns of friction pass the very same filter: dry friction jumps, and a jump that is smoothed on
one side only would falsify what is identified. Nothing is shifted in time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from emdeg.algebra import Array
from emdeg.documents import Shown
from emdeg.errors import RobotError
from emdeg.identification.evening import LogPiece, Mask, even_pieces
from emdeg.identification.friction_terms import FrictionTerm, candidates, expected_sign
from emdeg.identification.recording import Log
from emdeg.identification.smoothing import WIDEST, SmoothingFilter, signal_band, smoothing_filter
from emdeg.robot import Robot
from emdeg.runtime import in_blocks

STILL = {"revolute": 5e-3, "prismatic": 5e-4}
"""A joint that stays within this [rad, m] did not move."""
ALIASED = 60.0
"""[dB] by which noise is damped that thinning out would fold back."""
LEAST_SLOPE = 4.0
"""[Hz] from the pass to the stop band at least: a steeper filter costs more of a log's ends than noise is worth."""
RATE = 12.0
"""Rows a second that are kept, over the frequency at which the motion ends."""
WIDER = 1.2
"""Of the motion's band, that efforts keep at least however much they are thinned out."""
MOST_ROWS = 200_000
"""Rows of all logs together that are kept at most."""
BLOCK = 2**16
"""Samples that are smoothed at once."""
FEWEST_ROWS = 20
"""A piece of a log with fewer is left out."""


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
    loaded: bool = False
    """Whether the robot carried a load that its file does not have."""

    def __len__(self) -> int:
        return len(self.t)

    def in_efforts(self, constants: Array) -> LogSamples:
        """The samples with efforts for currents, by constants (n) [N m/A, N/A]."""
        return replace(self, tau=self.tau * constants, in_amperes=False) if self.in_amperes else self

    def moving(self, qd: Array, qdd: Array) -> LogSamples:
        """The samples at the same places with other rates."""
        return replace(self, qd=qd, qdd=qdd)


def fastest_speeds(log: Log) -> Array:
    """(n) about the greatest speed of each coordinate [rad/s, m/s]."""
    apart = min(len(log.t) - 1, max(1, round(0.02 / log.step)))
    found = []
    for column in log.q.T:
        speeds = np.abs(column[apart:] - column[:-apart])
        some = speeds[np.isfinite(speeds)]
        found.append(float(np.quantile(some, 0.999)) / (apart * log.step) if len(some) else 0.0)
    return np.array(found)


def prepare(log: Log, robot: Robot, fastest: Array, *, thinned: bool = True, most: int = MOST_ROWS) -> LogSamples:
    """The log's samples with rates; `fastest` (n) [rad/s, m/s] sets the Stribeck velocities that can be told.

    Not `thinned`, every sample stays with its effort as it was measured. Of a log with more than `most` rows all
    the same, stretches from all over it are kept.
    """
    assert log.effort is not None
    notes: list[str] = []
    pieces = even_pieces(log, notes)
    step = log.step
    longest = max(pieces, key=len)
    still = tuple(_still(longest.q[:, k], joint.kind) for k, joint in enumerate(robot.coordinates))
    looks = [signal_band(longest.q[:, k], step) for k in range(robot.freedoms)]
    band = max([look[0] for look, rests in zip(looks, still) if not rests], default=1 / (10 * step))
    noise = np.array([look[1] for look in looks])
    smooth = _smoothing(step, band)
    every = _every(len(log.t), step, band, most) if thinned else 1
    half = 0.5 / (every * step)
    thin = smoothing_filter(step, WIDEST * half, (2 - WIDEST) * half, ALIASED) if every > 1 else None
    fastest = np.maximum(fastest, 1e-9)
    terms = tuple(candidates(float(v)) for v in fastest)
    speed_noise = noise * float(np.linalg.norm(smooth.taps[1])) if smooth.reach and log.qd is None else 0 * noise
    plan = _Smoothed(smooth, thin, every, still, terms, speed_noise)
    blocks, lost = _spread_blocks([plan.blocks(piece) for piece in pieces], most)
    if not blocks:
        need = 2 * plan.reach * step
        rule = f"no stretch without a gap is long enough: smoothing alone needs {need:.3g} s"
        raise RobotError(rule, file=log.file)
    if lost:
        notes.append(f"it is longer than is taken at once: {lost:.0%} of it, spread over all of it, are left out")
    ends = len(log.t) - sum(block.count for of_piece in map(plan.blocks, pieces) for block in of_piece) * every
    if ends > 0.2 * len(log.t):
        notes.append(f"{ends} of {len(log.t)} samples fall to the filter's ends")
    starts, at = [], 0
    for before, block in zip([None, *blocks], blocks):
        if before is None or before.piece is not block.piece or before.first + before.count * every != block.first:
            starts.append(at)
        at += block.count
    kept = list(in_blocks(plan.rows, blocks))
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
        tuple(starts),
        terms,
        fastest,
        still,
        every * step,
        band,
        noise,
        log.in_amperes,
        tuple(notes),
    )


def _every(count: int, step: float, band: float, most: int) -> int:
    """One sample of how many is kept: fewer where there are too many, but the motion's band stays whole."""
    enough = int(1 / (RATE * band * step))
    widest = int(0.5 * WIDEST / (WIDER * band * step))
    return max(enough, min(-(-count // most), widest), 1)


def _smoothing(step: float, band: float) -> SmoothingFilter:
    """What keeps the band, and at most 0.8 of half the sampling rate."""
    half = 0.5 / step
    passed = min(1.2 * band, WIDEST * half)
    stopped = passed + max(passed, LEAST_SLOPE)
    return smoothing_filter(step, passed, min(stopped, half * (2 - WIDEST)))


def _still(q: Array, kind: str) -> bool:
    low, high = np.quantile(q, [0.002, 0.998])
    return bool(high - low < STILL["prismatic" if kind == "prismatic" else "revolute"])


@dataclass(frozen=True)
class _Block:
    """Rows of a piece: so many, the first at a sample."""

    piece: LogPiece
    first: int
    count: int


@dataclass(frozen=True)
class _Rows:
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    friction: Array
    used: Mask


def _spread_blocks(pieces: list[list[_Block]], most: int) -> tuple[list[_Block], float]:
    """(blocks of at most so many rows in all, from all over the log; the share that is left out)."""
    blocks = [block for of_piece in pieces for block in of_piece]
    whole = sum(block.count for block in blocks)
    if whole <= 1.5 * most:
        return blocks, 0.0
    count = max(1, round(len(blocks) * most / whole))
    kept = [blocks[k] for k in np.unique(np.linspace(0, len(blocks) - 1, count).astype(int))]
    return kept, 1 - sum(block.count for block in kept) / whole


@dataclass(frozen=True)
class _Smoothed:
    """How a log's pieces become rows, block by block: nothing as long as the log is held beside it."""

    smooth: SmoothingFilter
    thin: SmoothingFilter | None
    every: int
    still: tuple[bool, ...]
    terms: tuple[tuple[FrictionTerm, ...], ...]
    speed_noise: Array

    @property
    def reach(self) -> int:
        """Samples that a row needs on either side."""
        return self.smooth.reach + (0 if self.thin is None else self.thin.reach)

    def blocks(self, piece: LogPiece) -> list[_Block]:
        """The rows of a piece that have all their neighbours."""
        whole = -(-(len(piece) - 2 * self.reach) // self.every)
        if whole < FEWEST_ROWS:
            return []
        size = max(1, max(BLOCK, 4 * self.reach) // self.every)
        return [
            _Block(piece, self.reach + first * self.every, min(size, whole - first)) for first in range(0, whole, size)
        ]

    def rows(self, block: _Block) -> _Rows:
        """A block's rows, smoothed, differentiated and thinned out."""
        piece, every = block.piece, self.every
        last = block.first + (block.count - 1) * every
        near = slice(block.first - self.reach, last + self.reach + 1)
        q, qd, qdd = self._rates(piece, near)
        m = self.smooth.reach
        inner = slice(near.start + m, near.stop - m)
        good = piece.good[inner]
        friction = np.empty((block.count, len(self.terms), len(self.terms[0])))
        for k, terms in enumerate(self.terms):
            sign = expected_sign(qd[:, k], float(self.speed_noise[k]))
            efforts = np.stack([term.effort(qd[:, k], sign) for term in terms], axis=1)
            friction[:, k] = self._thinned(efforts)
        reach = self.reach - m
        kept = slice(reach, reach + (block.count - 1) * every + 1, every)
        used = np.ones((block.count, good.shape[1]), dtype=bool)
        if not good.all():  # a wrong effort reaches as far as its filter
            from scipy.ndimage import minimum_filter1d

            used = minimum_filter1d(good.view(np.int8), 2 * reach + 1, axis=0)[kept].astype(bool)
        tau = self._thinned(np.ascontiguousarray(piece.tau[inner]))
        return _Rows(piece.t[inner][kept], q[kept], qd[kept], qdd[kept], tau, friction, used)

    def _rates(self, piece: LogPiece, near: slice) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) smoothed at every sample that has its neighbours; a joint at rest stands where it stood."""
        smooth, here = self.smooth, np.ascontiguousarray(piece.q[near])
        recorded = None if piece.qd is None else np.ascontiguousarray(piece.qd[near])
        q = smooth.at(here)
        qd = smooth.at(here, 1) if recorded is None else smooth.at(recorded)
        if piece.qdd is not None:
            qdd = smooth.at(np.ascontiguousarray(piece.qdd[near]))
        else:
            qdd = smooth.at(here, 2) if recorded is None else smooth.at(recorded, 1)
        for k, rests in enumerate(self.still):
            if rests:
                q[:, k], qd[:, k], qdd[:, k] = np.mean(piece.q[:, k]), 0.0, 0.0
        return q, qd, qdd

    def _thinned(self, x: Array) -> Array:
        return x if self.thin is None else self.thin.thinned(x, self.every)
