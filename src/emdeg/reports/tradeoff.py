"""What hiding small terms costs and saves: a handful of thresholds, each a short model with its error.

The rule and the box are those of `emdeg abbreviate` (Armstrong, Khatib and Burdick, section 3; the joint's threshold
is a tenth of the equation's). The search for the certified bound is limited by points, not by time, so that a page
is the same wherever it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array
from emdeg.bounds import supremum
from emdeg.programs import Count, count, simplify
from emdeg.reduce import (
    LARGE,
    OF_LINKS,
    FullModel,
    RowObjective,
    SharedEfforts,
    ShortModel,
    Term,
    largest_efforts,
    program,
    row,
    search,
    significant,
    sizes,
)
from emdeg.reports.subject import Subject

THRESHOLDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
POINTS = 100_000
"""Table points that the search for one joint's certified bound may examine."""
QUOTED, QUOTED_POINTS = 0.01, 400_000
"""The threshold of the short model that is quoted elsewhere: its bound is looked for longer."""
STARTS = 6
"""Configurations from which the largest error is climbed to."""
TOLERANCE = 0.05
"""A bound within this of the error found needs no betterment."""
MOST_TERMS = 700
"""Terms of a model whose short models are worked out; beyond, terms are only shaded."""
SAMPLES = 512


@dataclass(frozen=True, slots=True)
class Level:
    """A short model. Errors by joint, as shares of the joint's largest effort over the box."""

    threshold: float
    terms: int
    mul: int
    add: int
    certified: tuple[float, ...]
    found: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Levels by rising threshold, the first without any; where each term goes; how large terms are."""

    levels: tuple[Level, ...]
    goes: dict[Term, int]
    """Term -> the first level without it."""
    sizes: dict[Term, float]
    """Term -> its largest value over the workspace."""
    largest: tuple[float, ...]
    """By joint: the largest effort found over the box."""


def tradeoff(subject: Subject, full: FullModel) -> Tradeoff:
    """Short models of a robot of moderate size; of a large one the terms' sizes on random configurations alone."""
    if len(full.functions) > MOST_TERMS:
        return Tradeoff((), {}, sampled_sizes(subject, full), ())
    subject.progress("sizes of terms")
    size = sizes(full, subject.where)
    largest = largest_efforts(full, subject.where)
    everything = ShortModel(full, full.lumped.expansions, full.values)
    levels = [_level(subject, everything, 0.0, largest)]
    goes: dict[Term, int] = {}
    for threshold in THRESHOLDS:
        subject.progress(f"terms below {threshold:g}")
        short, dropped = significant(full, subject.where, significance=threshold, joint_significance=threshold / 10)
        for one in dropped:
            goes.setdefault((one.entry, one.constant), len(levels))
        levels.append(_level(subject, short, threshold, largest))
    return Tradeoff(tuple(levels), goes, size, largest)


def _level(subject: Subject, short: ShortModel, threshold: float, largest: Sequence[float]) -> Level:
    operations = _operations(short, threshold)
    points = QUOTED_POINTS if threshold == QUOTED else POINTS
    errors = [_error(subject, short, joint, points) for joint in range(1, subject.robot.n + 1)] if threshold else []
    shares = [
        (bound / peak if peak else 0.0, found / peak if peak else 0.0) for (bound, found), peak in zip(errors, largest)
    ]
    return Level(
        threshold,
        sum(len(terms) for terms in short.expansions.values()),
        operations.mul,
        operations.add,
        tuple(bound for bound, _ in shares),
        tuple(found for _, found in shares),
    )


def _operations(short: ShortModel, threshold: float) -> Count:
    """Of the inverse dynamics: the best of several ways where few terms are left, else of one good way."""
    if threshold < QUOTED:
        shared = SharedEfforts(short, OF_LINKS)
        if shared.longest <= LARGE:
            return count(simplify(shared.quick_program()))
    return count(program(short))


def _error(subject: Subject, short: ShortModel, joint: int, points: int) -> tuple[float, float]:
    """(certified, found): the largest error of one joint's effort over the box."""
    part = row(joint, short.row_difference(joint), subject.where)
    if part is None:
        return 0.0, 0.0
    objective = RowObjective(part)
    found, _ = search(objective, count=STARTS)
    spent = 0

    def above(values: Array, floor: float) -> Array:
        nonlocal spent
        spent += len(values)
        return objective.above(values, floor)

    goal = (1 + TOLERANCE) * found
    # The clock counts points of the grids instead of seconds.
    bounded = supremum(
        part.formulas, above, seconds=float(points), enough=lambda bound: bound <= goal, clock=lambda: float(spent)
    )
    found = max(found, search(objective, bounded.starts[:STARTS], count=STARTS)[0])
    return max(bounded.bound, found, 0.0), max(found, 0.0)


def sampled_sizes(subject: Subject, full: FullModel) -> dict[Term, float]:
    """Every term's largest value on random configurations."""
    q = subject.where.sample(SAMPLES, seed=3)
    known: dict[object, float] = {}
    found: dict[Term, float] = {}
    for term, function in full.functions.items():
        lead = function.leading_coefficient
        direction = function / lead
        if direction not in known:
            known[direction] = float(np.abs(direction.evaluate(q)).max())
        found[term] = known[direction] * abs(float(lead * full.values[term[1]]))
    return found
