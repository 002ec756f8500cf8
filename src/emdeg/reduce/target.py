"""The smallest model whose error stays below a target: pieces are dropped, the least significant first.

The search steers by errors at sampled configurations, worst corners of speed and acceleration included; the worst
configuration of each joint that a multistart maximisation then finds joins the samples and the search repeats, until
nothing exceeds the limits. What it ends with is certified: where the certified bound is above a limit, that joint's
limit is lowered by the ratio and the search runs again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from emdeg.algebra import Array
from emdeg.bounds import Bounded
from emdeg.equations import indices
from emdeg.programs import Effort
from emdeg.reduce.pieces import Piece, mean, model_of, pieces
from emdeg.reduce.programs import quick_count
from emdeg.reduce.row_error import RowObjective, largest_error, row, search
from emdeg.reduce.sampled import SampledDeviation
from emdeg.reduce.short_model import FullModel, ShortModel
from emdeg.robot import Workspace

SAMPLES = 600
ROUNDS = 9
EARLY = 3
TRIES = 400
AIM = 0.95
"""The part of a limit that the search may use: what is left is for the certified bound to be above the error found."""


@dataclass(frozen=True)
class WithinTarget:
    """A short model with its certified error by joint, and the limits it was to keep [N m or N]."""

    short: ShortModel
    errors: tuple[Bounded, ...]
    limits: tuple[float, ...]
    largest: tuple[float, ...]
    """The full model's largest effort found over the workspace, by joint: what fractions refer to."""

    @property
    def certified(self) -> bool:
        return all(e.bound <= limit for e, limit in zip(self.errors, self.limits))


def largest_efforts(
    full: FullModel, where: Workspace, starts: int = 12, until: Callable[[], bool] = lambda: False
) -> tuple[float, ...]:
    """The largest effort found at each joint over the workspace, by multistart maximisation."""
    return tuple(_worst(full.entries, j, where, starts, until)[0] for j in range(1, full.robot.n + 1))


def within(
    full: FullModel,
    where: Workspace,
    limits: Sequence[float],
    *,
    effort: Effort,
    largest: Sequence[float] = (),
    tries: int = TRIES,
    seed: int = 0,
    tell: Callable[[str], None] = lambda text: None,
) -> WithinTarget:
    """The smallest model found whose certified error at each joint is at most its limit.

    What is being tried when the time ends is not finished: the whole model, which errs by nothing, stands unless a
    shorter one was certified. One whose bound is above a limit is never better than that.
    """
    n = full.robot.n
    over, searched = effort.until(1.0), effort.until(0.6)
    exact = full.keeping(full.functions)
    none = tuple(Bounded(0.0, 0.0, {}) for _ in range(n))
    best = WithinTarget(exact, none, tuple(map(float, limits)), tuple(largest))
    cut = pieces(full)
    random = np.random.default_rng(0)
    q = random.uniform(where.lower, where.upper, (SAMPLES, n))
    goal = np.array(limits, dtype=float) * AIM
    bias = dict.fromkeys(range(len(cut)), 0.0)
    while not over():
        short = exact
        for turn in range(ROUNDS):
            dropping = Dropping(full, cut, where, q, goal)
            if turn < EARLY and tries == TRIES:  # worst configurations first, then the long search over all of them
                short = dropping.search(3, bias, seed, until=effort.until(0.15))
            else:
                short = dropping.search(tries, bias, seed, until=searched)
                tries = max(4, tries // 8)
            tell(f"terms dropped, {quick_count(short)} operations left")
            if over():
                return best
            worst = [_worst(short.row_difference(j), j, where, 8, over) for j in range(1, n + 1)]
            beyond = [at for (value, at), limit in zip(worst, goal) if value > limit and at is not None]
            if searched() or (not beyond and tries < TRIES):
                break
            if not beyond:
                continue
            q = np.concatenate([q, *(_around(at, where, random) for at in beyond)])
        if over():
            return best
        tell("certifying its errors")
        seconds = min(max(0.05 * effort.seconds, 0.5 * effort.left() / n), effort.left() / n)
        errors = certified(short, where, seconds=seconds, enough=limits, clock=effort.clock)
        above = [e.bound > limit for e, limit in zip(errors, limits)]
        if not any(above):
            return replace(best, short=short, errors=errors)
        goal = np.where(above, 0.97 * goal, goal)
    return best


def certified(
    short: ShortModel,
    where: Workspace,
    *,
    seconds: float = 8.0,
    enough: Sequence[float] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> tuple[Bounded, ...]:
    """The certified largest error at each joint, beside the largest found; `enough`: bounds that need no betterment.

    `seconds` for each joint; what one leaves, others may use, those with the most variables last.
    """
    n = short.full.robot.n
    parts = {j: row(j, short.row_difference(j), where) for j in range(1, n + 1)}
    found = {j: Bounded(0.0, 0.0, {}) for j, part in parts.items() if part is None}
    todo = sorted((part.formulas.coefficients.size, j, part) for j, part in parts.items() if part is not None)
    end = clock() + seconds * len(todo)
    for place, (_, j, part) in enumerate(todo):
        share = (end - clock()) / (len(todo) - place)
        limit = -np.inf if enough is None else enough[j - 1]
        found[j] = largest_error(part, seconds=share, enough=limit, clock=clock)
    return tuple(found[j] for j in range(1, n + 1))


def _worst(entries, joint: int, where: Workspace, starts: int, until: Callable[[], bool]) -> tuple[float, Array | None]:
    part = row(joint, entries, where)
    if part is None:
        return 0.0, None
    value, at = search(RowObjective(part), count=starts, until=until)
    q = np.zeros(len(where.lower))
    for j, x in part.formulas.positions(at).items():
        q[j - 1] = x
    return value, q


def _around(q: Array, where: Workspace, random: np.random.Generator) -> Array:
    """A configuration and a few near it."""
    near = q + 0.05 * random.normal(size=(5, len(q)))
    return np.clip(np.concatenate([q[None, :], near]), where.lower, where.upper)


class Dropping:
    """Dropping pieces one after the other, in an order to be chosen, while every joint stays below its goal."""

    def __init__(self, full: FullModel, cut: Sequence[Piece], where: Workspace, q: Array, goal: Array) -> None:
        self.full, self.cut, self.where, self.q, self.goal = full, cut, where, q, goal
        averages = [mean(piece.function) * piece.value for piece in cut]
        still = {entry for piece in cut if piece.function.is_number for entry, _ in piece.entries}
        self.left = [a if {e for e, _ in p.entries} <= still else Fraction(0) for p, a in zip(cut, averages)]
        self.changes = [p.formula.evaluate(q) - float(a) for p, a in zip(cut, self.left)]
        self.droppable = [index for index, piece in enumerate(cut) if not piece.is_drive]
        self.shares = {index: self._share(index) for index in self.droppable}

    def _share(self, index: int) -> float:
        size = float(np.abs(self.changes[index]).max())
        piece = self.cut[index]
        return max(size * _weight(piece, j, self.where) / self.goal[j - 1] for j in piece.rows)

    def __call__(self, order: Sequence[int]) -> ShortModel:
        """What is left when pieces are dropped in this order, each if it can be."""
        state = SampledDeviation(self.full.robot.n, self.where, self.q)
        kept = set(range(len(self.cut)))
        for index in order:
            self._change(state, index, 1.0)
            if all(state.row(j - 1).max() <= self.goal[j - 1] for j in self.cut[index].rows):
                kept.discard(index)
            else:
                self._change(state, index, -1.0)
        means: dict[str, Fraction] = {}
        for index, piece in enumerate(self.cut):
            if index not in kept and self.left[index]:
                for entry, factor in piece.entries:
                    means[entry] = means.get(entry, Fraction(0)) + self.left[index] * factor
        return model_of(self.full, [self.cut[index] for index in sorted(kept)], means)

    def _change(self, state: SampledDeviation, index: int, sign: float) -> None:
        for entry, factor in self.cut[index].entries:
            state.add(entry, sign * float(factor) * self.changes[index])

    def one_sided(self, short: ShortModel) -> ShortModel:
        """Entries of M left out of the inner joint's row where that joint stays below its goal without them."""
        state = SampledDeviation(self.full.robot.n, self.where, self.q)
        for name, formula in short.difference.items():
            if formula:
                state.add(name, formula.evaluate(self.q))
        chosen: list[str] = []
        sizes = {}
        for name, formula in short.entries.items():
            letter, of = indices(name)
            if letter == "M" and of[0] != of[1] and formula:
                values = formula.evaluate(self.q)
                sizes[name] = (float(np.abs(values).max()) / self.goal[of[0] - 1], values)
        for name, (_, values) in sorted(sizes.items(), key=lambda item: item[1][0]):
            i, j = (k - 1 for k in indices(name)[1])
            state.M[i, j] += values
            if state.row(i).max() <= self.goal[i]:
                chosen.append(name)
            else:
                state.M[i, j] -= values
        return replace(short, one_sided=frozenset(chosen))

    def search(self, tries: int, bias: dict[int, float], seed: int, until: Callable[[], bool]) -> ShortModel:
        """The shortest model over random changes of the order; `bias`, log factors on the shares, is updated."""
        random = np.random.default_rng(seed)

        def order(of: dict[int, float]) -> list[int]:
            hopeful = [i for i in self.droppable if self.shares[i] <= 1]
            return sorted(hopeful, key=lambda i: self.shares[i] * np.exp(of[i]))

        best = self.one_sided(self(order(bias)))
        cost = quick_count(best)
        for _ in range(tries):
            if until():
                break
            tried = {i: b + (random.normal() * 0.8 if random.random() < 0.15 else 0.0) for i, b in bias.items()}
            short = self.one_sided(self(order(tried)))
            now = quick_count(short)
            if now <= cost:
                best, cost = short, now
                bias.update(tried)
        return best


def _weight(piece: Piece, joint: int, where: Workspace) -> float:
    """The largest that the rates which the piece multiplies become in a joint's row."""
    total = 0.0
    for entry, factor in piece.entries:
        letter, of = indices(entry)
        if letter == "M" and joint in of:
            total += float(factor) * where.acceleration[(of[1] if of[0] == joint else of[0]) - 1]
        elif letter == "b" and of[0] == joint:
            total += float(factor) * where.speed[of[1] - 1] * where.speed[of[2] - 1]
        elif letter == "c" and of[0] == joint:
            total += float(factor) * where.speed[of[1] - 1] ** 2
        elif letter == "g" and of[0] == joint:
            total += float(factor)
    return total
