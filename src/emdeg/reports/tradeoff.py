"""What hiding small terms costs and saves: a handful of thresholds, each a short model with its error.

The rule and the box are those of `emdeg abbreviate` (Armstrong, Khatib and Burdick, section 3; the joint's threshold
is a tenth of the equation's). The search for the certified bound is limited by points, not by time, so that a page
is the same wherever it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array, Generator, TrigPoly
from emdeg.approximation import (
    LARGE,
    OF_LINKS,
    FullModel,
    RowObjective,
    SharedEfforts,
    ShortModel,
    Term,
    largest_efforts,
    printed_program,
    program,
    row,
    search,
    significant,
    sizes,
)
from emdeg.bounds import supremum
from emdeg.equations import indices
from emdeg.programs import Count, count, simplify
from emdeg.reports.subject import Subject
from emdeg.robot import Workspace

THRESHOLDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
POINTS = 100_000
"""Table points that the search for one joint's certified bound may examine."""
QUOTED, QUOTED_POINTS = 0.01, 400_000
"""The threshold of the short model that is quoted elsewhere: its bound is looked for longer."""
STARTS = 6
"""Configurations from which the largest error is climbed to."""
TOLERANCE = 0.05
"""A bound within this of the error found needs no betterment."""
MOST_TERMS = 20_000
"""Terms of a model whose short models are worked out, which takes minutes; beyond, terms are only shaded."""
MANY_TERMS, MANY_POINTS = 700, 3_000_000
"""Points of a model of more terms than that: more joints matter in every row, and grids have a dimension for each."""
LARGEST_TABLE = 20_000_000
"""Numbers in the table of a row's formulas; beyond, a bound is the sum of what each term can be."""
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
    """Short models of a robot; beyond so many terms, the terms' sizes on random configurations alone."""
    if len(full.functions) > MOST_TERMS:
        return Tradeoff((), {}, sampled_sizes(subject, full), ())
    subject.progress("sizes of terms")
    size = sizes(full, subject.where)
    largest = _largest(subject, full)
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


def _largest(subject: Subject, full: FullModel) -> tuple[float, ...]:
    joints = range(1, subject.robot.n + 1)
    if all(_table(joint, full.entries) <= LARGEST_TABLE for joint in joints):
        return largest_efforts(full, subject.where)
    return tuple(_rough(joint, full.entries, subject.where)[1] for joint in joints)


def _level(subject: Subject, short: ShortModel, threshold: float, largest: Sequence[float]) -> Level:
    operations = _operations(short, threshold)
    points = QUOTED_POINTS if threshold == QUOTED else POINTS
    if _is_long(short):
        points = MANY_POINTS
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


def _is_long(short: ShortModel) -> bool:
    return len(short.full.functions) > MANY_TERMS


def _operations(short: ShortModel, threshold: float) -> Count:
    """Of the inverse dynamics: the best of several ways where few terms are left, else of one good way."""
    if _is_long(short):
        return count(printed_program(short))
    if threshold < QUOTED:
        shared = SharedEfforts(short, OF_LINKS)
        if shared.longest <= LARGE:
            return count(simplify(shared.quick_program()))
    return count(program(short))


def _error(subject: Subject, short: ShortModel, joint: int, points: int) -> tuple[float, float]:
    """(certified, found): the largest error of one joint's effort over the box."""
    difference = short.row_difference(joint)
    if _table(joint, difference) > LARGEST_TABLE:
        return _rough(joint, difference, subject.where)
    part = row(joint, difference, subject.where)
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
    return max(min(bounded.bound, objective.at_once), found, 0.0), max(found, 0.0)


def _table(joint: int, entries: Mapping[str, TrigPoly]) -> int:
    """How many numbers the table of a joint's row would have: five for each angle that occurs, three for a length."""
    mine = [formula for name, formula in entries.items() if formula and joint in _rows(name)]
    letters = {(g.of, g.kind == "displacement") for formula in mine for g in formula.generators}
    return len(mine) * math.prod(3 if slides else 5 for _, slides in letters)


def _rough(joint: int, entries: Mapping[str, TrigPoly], where: Workspace) -> tuple[float, float]:
    """(certified, found) without a table: every term at its largest, and some random configurations."""
    q = where.sample(SAMPLES, seed=3)
    bound, still, moving = 0.0, np.zeros(SAMPLES), np.zeros(SAMPLES)
    for name, formula in entries.items():
        if not formula or joint not in _rows(name):
            continue
        letter, of = indices(name)
        v = where.speed
        match letter:
            case "M":
                weight = where.acceleration[(of[1] if of[0] == joint else of[0]) - 1]
            case "b":
                weight = v[of[1] - 1] * v[of[2] - 1]
            case "c":
                weight = v[of[1] - 1] ** 2
            case _:
                weight = 1.0
        bound += weight * _amplitude(formula, where)
        values = weight * formula.evaluate(q)
        still, moving = (still + np.abs(values), moving) if letter == "M" else (still, moving + values)
    return bound * (1 + 1e-9), float((still + np.abs(moving)).max() * (1 - 1e-9))


def _rows(entry: str) -> tuple[int, ...]:
    """The joints in whose row an entry stands: both of M's."""
    letter, of = indices(entry)
    return of if letter == "M" else of[:1]


def _amplitude(formula: TrigPoly, where: Workspace) -> float:
    """At least the largest magnitude over the box: the sum of what its terms can be."""
    reach: dict[object, float] = {k: max(map(abs, ends)) for k, ends in where.box.items()}

    def size(letters: Mapping[Generator, int]) -> float:
        return math.prod(reach[g.of] ** e for g, e in letters.items() if g.kind == "displacement")

    return sum(abs(float(c)) * size(letters) for c, letters in formula.terms())


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
