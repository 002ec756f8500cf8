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
from emdeg.reduce.pieces import Piece, mean, model_of, pieces
from emdeg.program import count
from emdeg.reduce.programs import program
from emdeg.reduce.row_error import RowObjective, largest_error, row, search
from emdeg.reduce.sampled import SampledError
from emdeg.reduce.short_model import FullModel, ShortModel

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
            short = _smallest(full, cut, box, q, goal)
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


def _smallest(full: FullModel, cut: Sequence[Piece], box: Box, q: Array, goal: Array) -> ShortModel:
    """The shorter of what dropping single pieces and dropping families leaves."""
    tried = [_dropped(full, cut, box, q, goal, families) for families in (False, True)]
    return min(tried, key=lambda short: count(program(short)).total)


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


def _dropped(full: FullModel, cut: Sequence[Piece], box: Box, q: Array, goal: Array, families: bool) -> ShortModel:
    """Pieces dropped one after the other, or family by family, while every joint stays below its goal at the samples."""
    n = full.robot.n
    state = SampledError(n, box, q)
    values = [piece.formula.evaluate(q) for piece in cut]
    averages = [mean(piece.function) * piece.value for piece in cut]
    still = {entry for piece in cut if piece.function.is_number for entry, _ in piece.entries}
    left = [average if {e for e, _ in p.entries} <= still else Fraction(0) for p, average in zip(cut, averages)]
    changes = [value - float(average) for value, average in zip(values, left)]
    sets: dict[tuple, list[int]] = {}
    for index, piece in enumerate(cut):
        if not piece.is_drive:
            sets.setdefault(piece.family if families else (index,), []).append(index)

    def share(members: list[int]) -> float:
        total = 0.0
        for j in {j for index in members for j in cut[index].rows}:
            size = sum(np.abs(changes[i]) * _weight(cut[i], j, box) for i in members)
            total = max(total, float(np.max(size)) / goal[j - 1])
        return total

    def change(members: list[int], sign: float) -> None:
        for index in members:
            for entry, factor in cut[index].entries:
                state.add(entry, sign * float(factor) * changes[index])

    kept = set(range(len(cut)))
    for members in sorted(sets.values(), key=share):
        change(members, 1.0)
        if all(state.row(j - 1).max() <= goal[j - 1] for j in {j for i in members for j in cut[i].rows}):
            kept.difference_update(members)
        else:
            change(members, -1.0)
    means: dict[str, Fraction] = {}
    for index, piece in enumerate(cut):
        if index not in kept and left[index]:
            for entry, factor in piece.entries:
                means[entry] = means.get(entry, Fraction(0)) + left[index] * factor
    return model_of(full, [cut[index] for index in sorted(kept)], means)


def _weight(piece: Piece, joint: int, box: Box) -> float:
    """The largest that the rates which the piece multiplies become in a joint's row."""
    total = 0.0
    for entry, factor in piece.entries:
        letter, of = indices(entry)
        if letter == "M" and joint in of:
            total += float(factor) * box.acceleration[(of[1] if of[0] == joint else of[0]) - 1]
        elif letter == "b" and of[0] == joint:
            total += float(factor) * box.speed[of[1] - 1] * box.speed[of[2] - 1]
        elif letter == "c" and of[0] == joint:
            total += float(factor) * box.speed[of[1] - 1] ** 2
        elif letter == "g" and of[0] == joint:
            total += float(factor)
    return total
