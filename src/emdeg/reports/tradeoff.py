"""What hiding small terms costs and saves: some thresholds, each an approximate model with its error.

The rule and the box are those of `emdeg abbreviate` (Armstrong, Khatib and Burdick, section 3; the joint's threshold
is a tenth of the equation's). The search for the certified bound is limited by points, not by time, so that a page
is the same wherever it is made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Generator, TrigPoly
from emdeg.approximation import (
    TradeoffPoint,
    differences,
    largest_error,
    largest_torques,
    row,
    significant,
    sizes,
    tradeoff_point,
)
from emdeg.bounds import CertifiedExtremum
from emdeg.equations import LumpedModel, Term, indices
from emdeg.programs import LARGE, LINK_RATES, Count, SharedSums, count, explicit_program, printed_program, simplify
from emdeg.reports.subject import Subject
from emdeg.robot import Workspace

QUOTED = 0.01
"""The threshold of the approximate model that is quoted elsewhere: its bound is searched for longer."""
TOLERANCE = 0.05
"""A bound within this of the error found needs no betterment."""
MOST_TERMS = 20_000
"""Terms of a model whose approximations are worked out, which takes minutes; beyond, terms are only shaded."""
SAMPLES = 512


@dataclass(frozen=True)
class SliderTuning:
    """Which approximate models are worked out, and how much is looked at for their errors."""

    thresholds: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
    points: int = 100_000
    """Table points that the search for one joint's certified bound may examine."""
    quoted_points: int = 400_000
    starts: int = 6
    """Configurations from which the largest error is climbed to."""
    many_terms: int = 700
    many_points: int = 3_000_000
    """Points of a model of more terms: more joints matter in every row, and grids have a dimension for each."""
    largest_table: int = 20_000_000
    """Numbers in the table of a row's formulas; beyond, a bound is the sum of what each term can be."""


TUNING = SliderTuning()


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """Levels by rising threshold, the first without any; where each term goes; how large terms are."""

    levels: tuple[TradeoffPoint, ...]
    goes: dict[Term, int]
    """Term -> the first level without it."""
    sizes: dict[Term, float]
    """Term -> its largest value over the workspace."""
    largest: tuple[float, ...]
    """By joint: the largest effort found over the box."""


def threshold_levels(subject: Subject, full: LumpedModel, tuning: SliderTuning = TUNING) -> Tradeoff:
    """Approximate models of a robot; beyond so many terms, the terms' sizes on random configurations alone."""
    if len(full.functions) > MOST_TERMS:
        return Tradeoff((), {}, sampled_sizes(subject, full), ())
    subject.progress("sizes of terms")
    levels = _Levels(subject, full, tuning)
    found = [levels.level(full, 0.0)]
    goes: dict[Term, int] = {}
    for threshold in tuning.thresholds:
        subject.progress(f"terms below {threshold:g}")
        short, dropped = significant(full, subject.where, significance=threshold, joint_significance=threshold / 10)
        for one in dropped:
            goes.setdefault((one.entry, one.constant), len(found))
        found.append(levels.level(short, threshold))
    return Tradeoff(tuple(found), goes, sizes(full, subject.where), levels.largest)


class _Levels:
    """Approximate models of one robot, each with its operations and errors."""

    def __init__(self, subject: Subject, full: LumpedModel, tuning: SliderTuning) -> None:
        self.full, self.where, self.tuning = full, subject.where, tuning
        self.joints = range(1, subject.robot.n + 1)
        self.many = len(full.functions) > tuning.many_terms
        if all(_table(joint, full.entries) <= tuning.largest_table for joint in self.joints):
            self.largest = largest_torques(full, self.where)
        else:
            self.largest = tuple(_rough(joint, full.entries, self.where).value for joint in self.joints)

    def level(self, short: LumpedModel, threshold: float) -> TradeoffPoint:
        """The model's operations, and its errors where anything is left out."""
        operations = self._operations(short, threshold)
        points = self.tuning.quoted_points if threshold == QUOTED else self.tuning.points
        if self.many:
            points = self.tuning.many_points
        difference = differences(self.full, short.entries)
        errors = [self._error(difference, joint, points) for joint in self.joints] if threshold else []
        terms = sum(len(mine) for mine in short.lumped.expansions.values())
        return tradeoff_point(threshold, operations, errors, self.largest, terms)

    def _operations(self, short: LumpedModel, threshold: float) -> Count:
        """Of the inverse dynamics: the best of several forms where few terms are left, else of one good form."""
        if self.many:
            return count(printed_program(short))
        if threshold < QUOTED:
            shared = SharedSums(short, LINK_RATES)
            if shared.longest <= LARGE:
                return count(simplify(shared.program(shared.extraction(noise=0.0))))
        return count(explicit_program(short))

    def _error(self, difference: Mapping[str, TrigPoly], joint: int, points: int) -> CertifiedExtremum:
        """The largest error of one joint's torque over the box."""
        if _table(joint, difference) > self.tuning.largest_table:
            return _rough(joint, difference, self.where)
        part = row(joint, difference, self.where)
        if part is None:
            return CertifiedExtremum(0.0, 0.0, {})
        return largest_error(part, tolerance=TOLERANCE, starts=self.tuning.starts, points=points)


def _table(joint: int, entries: Mapping[str, TrigPoly]) -> int:
    """How many numbers the table of a joint's row would have: five for each angle that occurs, three for a length."""
    mine = [formula for name, formula in entries.items() if formula and joint in _rows(name)]
    letters = {(g.of, g.kind == "displacement") for formula in mine for g in formula.generators}
    return len(mine) * math.prod(3 if slides else 5 for _, slides in letters)


def _rough(joint: int, entries: Mapping[str, TrigPoly], where: Workspace) -> CertifiedExtremum:
    """The largest without a table: every term at its largest, and some random configurations."""
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
    return CertifiedExtremum(float((still + np.abs(moving)).max() * (1 - 1e-9)), bound * (1 + 1e-9), {})


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


def sampled_sizes(subject: Subject, full: LumpedModel) -> dict[Term, float]:
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
