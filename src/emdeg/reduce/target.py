"""The smallest model whose error stays below a target: pieces are dropped, the least significant first.

The search steers by errors at sampled configurations, worst corners of speed and acceleration included; the worst
configuration of each joint that a multistart maximisation then finds joins the samples and the search repeats, until
nothing exceeds the limits. What it ends with is certified: where the certified bound is above a limit, that joint's
limit is lowered by the ratio and the search runs again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.equations.bounds import Array, Range
from emdeg.equations.lumped import indices
from emdeg.reduce.box import Box
from emdeg.reduce.pieces import Piece, mean, pieces
from emdeg.reduce.row_error import RowObjective, largest_error, row, search
from emdeg.reduce.sampled import SampledError
from emdeg.reduce.short_model import Expansion, FullModel, ShortModel

SAMPLES = 1200
ROUNDS = 6


@dataclass(frozen=True)
class Found:
    """A short model with its certified error by joint, and the limits it was to keep [N m or N]."""

    short: ShortModel
    errors: tuple[Range, ...]
    limits: tuple[float, ...]
    largest: tuple[float, ...]
    """The full model's largest effort found over the box, by joint: what fractions refer to."""

    @property
    def certified(self) -> bool:
        return all(e.bound <= limit for e, limit in zip(self.errors, self.limits))


def largest_efforts(full: FullModel, box: Box, starts: int = 12) -> tuple[float, ...]:
    """The largest effort found at each joint over the box, by multistart maximisation."""
    return tuple(_worst(full.entries, j, box, starts)[0] for j in range(1, full.robot.n + 1))


def within(
    full: FullModel, box: Box, limits: Sequence[float], *, seconds: float = 60.0, largest: Sequence[float] = ()
) -> Found:
    """The smallest model found whose certified error at each joint is at most its limit."""
    end = time.monotonic() + seconds
    n = full.robot.n
    cut = pieces(full)
    random = np.random.default_rng(0)
    q = random.uniform(box.lower, box.upper, (SAMPLES, n))
    goal = np.array(limits, dtype=float)
    while True:
        for _ in range(ROUNDS):
            short = _dropped(full, cut, box, q, goal)
            worst = [_worst(short.difference, j, box, 8) for j in range(1, n + 1)]
            beyond = [at for (value, at), limit in zip(worst, goal) if value > limit and at is not None]
            if not beyond:
                break
            q = np.concatenate([q, *(_around(at, box, random) for at in beyond)])
        errors = certified(short, box, seconds=max(2.0, (end - time.monotonic()) / (2 * n)))
        above = [e.bound > limit for e, limit in zip(errors, limits)]
        if not any(above) or time.monotonic() > end:
            return Found(short, errors, tuple(map(float, limits)), tuple(largest))
        shrink = [limit / e.bound if a else 1.0 for e, limit, a in zip(errors, limits, above)]
        goal = goal * np.minimum(shrink, 0.98 if any(above) else 1.0) ** np.array(above)


def certified(short: ShortModel, box: Box, *, seconds: float = 8.0) -> tuple[Range, ...]:
    """The certified largest error at each joint, beside the largest found."""
    found = []
    for joint in range(1, short.full.robot.n + 1):
        part = row(joint, short.difference, box)
        found.append(Range(0.0, 0.0, (), 0) if part is None else largest_error(part, box, seconds=seconds))
    return tuple(found)


def _worst(entries, joint: int, box: Box, starts: int) -> tuple[float, Array | None]:
    part = row(joint, entries, box)
    if part is None:
        return 0.0, None
    of = [j - 1 for j in part.waves.joints]
    lower, upper = np.array(box.lower)[of], np.array(box.upper)[of]
    value, at = search(RowObjective(part), lower, upper, starts)
    q = np.zeros(len(box.lower))
    q[of] = at
    return value, q


def _around(q: Array, box: Box, random: np.random.Generator) -> Array:
    """A configuration and a few near it."""
    near = q + 0.05 * random.normal(size=(5, len(q)))
    return np.clip(np.concatenate([q[None, :], near]), box.lower, box.upper)


def _dropped(full: FullModel, cut: Sequence[Piece], box: Box, q: Array, goal: Array) -> ShortModel:
    """Pieces dropped one after the other while every joint stays below its goal at the samples."""
    n = full.robot.n
    state = SampledError(n, box, q)
    values = [piece.formula.evaluate(q) for piece in cut]
    averages = [mean(piece.function) * piece.value for piece in cut]
    still = {piece.entry for piece in cut if piece.function.is_number}
    kept = [True] * len(cut)
    means: dict[str, Fraction] = {}

    def share(index: int) -> float:
        piece = cut[index]
        spread = values[index] - (float(averages[index]) if piece.entry in still else 0.0)
        size = float(np.abs(spread).max())
        return max(size * _weight(piece.entry, j, box) / goal[j - 1] for j in piece.rows)

    order = sorted((index for index, piece in enumerate(cut) if not _is_diagonal(piece)), key=share)
    for _ in range(2):
        for index in order:
            piece = cut[index]
            if not kept[index]:
                continue
            left = averages[index] if piece.entry in still else Fraction(0)
            change = values[index] - float(left)
            state.add(piece.entry, change)
            if all(state.row(j - 1).max() <= goal[j - 1] for j in piece.rows):
                kept[index] = False
                if left:
                    means[piece.entry] = means.get(piece.entry, Fraction(0)) + left
            else:
                state.add(piece.entry, -change)
    expansions: dict[str, Expansion] = dict.fromkeys(full.lumped.expansions, ())
    for piece, keep in zip(cut, kept):
        if keep:
            expansions[piece.entry] = _joined(expansions[piece.entry], piece)
    return ShortModel(full, expansions, full.values, {e: m for e, m in means.items() if m})


def _joined(terms: Expansion, piece: Piece) -> Expansion:
    if terms and terms[-1][0] == piece.constant:
        return (*terms[:-1], (piece.constant, terms[-1][1] + piece.function))
    return (*terms, (piece.constant, piece.function))


def _is_diagonal(piece: Piece) -> bool:
    letter, of = indices(piece.entry)
    return letter == "M" and of[0] == of[1] and piece.function.is_number


def _weight(entry: str, joint: int, box: Box) -> float:
    letter, of = indices(entry)
    if letter == "M":
        return box.acceleration[(of[1] if of[0] == joint else of[0]) - 1]
    if letter == "b":
        return box.speed[of[1] - 1] * box.speed[of[2] - 1]
    return box.speed[of[1] - 1] ** 2 if letter == "c" else 1.0
