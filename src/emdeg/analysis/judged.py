"""A printed model against the exact one: the error of every entry, certified over the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from emdeg.algebra import Array, TrigPoly
from emdeg.analysis.judged_file import Meaning, PrintedModel
from emdeg.bounds import Bounded, SearchLimits, largest_magnitude, largest_ratio
from emdeg.equations import Model, derive, indices
from emdeg.errors import OverBudget, RobotError, UnreadableEntry
from emdeg.robot import Robot, Workspace, need_numbers
from emdeg.writing import Shown

SAMPLES = 4096
NOTHING = Bounded(0.0, 0.0, {})


@dataclass(frozen=True)
class Judgement(Shown):
    """One entry judged; SI units. `error` is |printed - exact|, `size` |exact|, each at its largest over the workspace.

    `relative` is the largest |printed - exact| / exact where the exact entry is positive everywhere (a diagonal of M),
    else error over size, both certified bounds; `average` the same on average over random configurations.
    """

    name: str
    text: str
    exact: bool
    error: Bounded
    size: Bounded
    relative: Bounded
    pointwise: bool
    average: float
    problem: str = ""
    """Why it could not be judged: it cannot be read, or it is no entry of this robot."""


@dataclass(frozen=True)
class Verdict(Shown):
    """Every entry of a printed model judged; which of the author's claims fail."""

    printed: PrintedModel
    robot: str
    entries: tuple[Judgement, ...]
    efforts: tuple[float, ...]
    """Per joint, a bound on the effort's error [N m, N] over the workspace, entries that are not printed left out."""
    failed: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.failed


def judge(
    printed: PrintedModel, robot: Robot, where: Workspace, *, gap: float = 1e-2, seconds: float = 2.0, seed: int = 0
) -> Verdict:
    """The printed entries against the exact ones of `robot` over `where`.

    Bounds hold whatever the time; `seconds` an entry say how near to the true extremes they come at best (`gap`).
    """
    need_numbers(robot)
    model = derive(robot, rational_angles=True)
    exact, theirs = model.entries(), printed.over(model.algebra, robot)
    q = where.sample(SAMPLES, seed)
    limits = SearchLimits(seconds=seconds)
    found = []
    for name, entry in printed.entries.items():
        if name not in exact:
            found.append(_unjudged(name, entry.text, f"{robot.name} has no entry {name}"))
            continue
        try:
            formula = _theirs(theirs, name)
        except UnreadableEntry as problem:
            found.append(_unjudged(name, entry.text, str(problem)))
            continue
        found.append(_judged(name, entry.text, formula, exact[name], model, where, q, gap, limits))
    return Verdict(printed, robot.name, tuple(found), _efforts(found, where), _failed(printed, found))


def _theirs(theirs: Meaning, name: str) -> TrigPoly:
    try:
        return theirs.entry(name)
    except OverBudget as problem:
        raise RobotError(f"its expression grows too long: {problem}", file=theirs.printed.file, body=name) from None


def _judged(
    name: str,
    text: str,
    theirs: TrigPoly,
    exact: TrigPoly,
    model: Model,
    where: Workspace,
    q: Array,
    gap: float,
    limits: SearchLimits,
) -> Judgement:
    wrong = theirs - exact
    size = largest_magnitude(exact, where.box, gap=gap, effort=limits) if exact else NOTHING
    if not wrong:
        return Judgement(name, text, True, NOTHING, size, NOTHING, False, 0.0)
    error = largest_magnitude(wrong, where.box, gap=gap, effort=limits)
    off = np.abs(wrong.evaluate(q, parameters=model.numbers))
    letter, of = indices(name)
    if letter == "M" and of[0] == of[1]:
        try:
            relative = largest_ratio(wrong, exact, where.box, gap=gap, effort=limits)
            average = float(np.mean(off / exact.evaluate(q, parameters=model.numbers)))
            return Judgement(name, text, False, error, size, relative, True, average)
        except ValueError:
            pass  # not shown to be positive: as the others
    # |e| <= its bound and the largest |f| is at least the value attained: certified.
    scale = size.value
    share = (
        Bounded(error.value / size.bound, error.bound / scale, error.at) if scale > 0 else Bounded(1.0, 1.0, error.at)
    )
    return Judgement(name, text, False, error, size, share, False, float(off.mean() / scale) if scale > 0 else 1.0)


def _unjudged(name: str, text: str, problem: str) -> Judgement:
    return Judgement(name, text, False, NOTHING, NOTHING, NOTHING, False, 0.0, problem)


def _efforts(found: Sequence[Judgement], where: Workspace) -> tuple[float, ...]:
    """Every entry's largest error times the largest rates that multiply it, summed."""
    v, a = where.speed, where.acceleration
    total = [0.0] * len(v)
    for one in found:
        if one.problem:
            continue
        letter, of = indices(one.name)
        i, *rest = (k - 1 for k in of)
        if letter == "M":
            total[i] += one.error.bound * a[rest[0]]
            if rest[0] != i:
                total[rest[0]] += one.error.bound * a[i]
        elif letter == "b":
            total[i] += one.error.bound * v[rest[0]] * v[rest[1]]
        elif letter == "c":
            total[i] += one.error.bound * v[rest[0]] ** 2
        else:
            total[i] += one.error.bound
    return tuple(total)


def _failed(printed: PrintedModel, found: Sequence[Judgement]) -> tuple[str, ...]:
    """What of the author's claims does not hold: proven to fail, or not shown to hold."""
    failed = []
    for one in found:
        if one.problem:
            failed.append(f"{one.name}: {one.problem}")
            continue
        if printed.claim is not None and one.relative.bound > printed.claim:
            how = "is" if one.relative.value > printed.claim else "may be"
            share = one.relative.value if how == "is" else one.relative.bound
            failed.append(f"{one.name}: its error {how} {share:.3%}, more than {printed.claim:g}")
        if printed.average_claim is not None and one.average > printed.average_claim:
            failed.append(f"{one.name}: its error is {one.average:.3%} on average, more than {printed.average_claim:g}")
    return tuple(failed)
