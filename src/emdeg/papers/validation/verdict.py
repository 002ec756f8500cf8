"""What is said of a printed model: every entry's judgement, and which claims fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emdeg.bounds import Bounded, SearchLimits
from emdeg.documents import Shown
from emdeg.errors import NotBounded, OverBudget, TooLarge, UnreadableEntry
from emdeg.papers.validation.entries import Asked, asked_of
from emdeg.papers.validation.file import PrintedModel
from emdeg.robot import Robot, Workspace

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
    """Why it could not be judged: it cannot be read, or it is no entry of this robot, or it has no bound."""
    wrong: tuple[str, ...] = ()
    """Of an effort: the coefficients that are off."""


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


@dataclass(frozen=True)
class JudgedOver:
    """Where errors are looked for and how long."""

    where: Workspace
    gap: float
    """How near bounds shall come, relatively."""
    seconds: float
    """For the bounds of each entry; they hold whatever the time."""
    margin: float
    """Where loops are closed: the least distance of each from a dead point, as the function `closure` has it."""
    seed: int = 0

    @property
    def limits(self) -> SearchLimits:
        return SearchLimits(seconds=self.seconds)


def judged_entry(
    printed: PrintedModel, name: str, robot: Robot, judged: Callable[[str, str, Asked], Judgement]
) -> Judgement:
    """One entry judged, or why it cannot be."""
    text = printed.entries[name].text
    asked = asked_of(name, robot)
    if asked is None:
        return unjudged(name, text, f"{robot.name} has no entry {name}")
    try:
        return judged(name, text, asked)
    except (UnreadableEntry, NotBounded) as problem:
        return unjudged(name, text, str(problem))
    except OverBudget as problem:
        raise TooLarge(f"its expression grows too long: {problem}", file=printed.file, body=name) from None


def unjudged(name: str, text: str, problem: str) -> Judgement:
    return Judgement(name, text, False, NOTHING, NOTHING, NOTHING, False, 0.0, problem)


def verdict_of(printed: PrintedModel, robot: Robot, found: Sequence[Judgement], where: Workspace) -> Verdict:
    return Verdict(printed, robot.name, tuple(found), _efforts(found, robot, where), _failed(printed, found))


def judged_by_size(
    name: str, text: str, error: Bounded, size: Bounded, mean: float, wrong: tuple[str, ...] = ()
) -> Judgement:
    """The error as a share of the entry's largest value."""
    # |e| <= its bound and the largest |f| is at least the value attained: certified.
    scale = size.value
    if scale <= 0:
        whole = Bounded(1.0, 1.0, error.at)
        return Judgement(name, text, False, error, size, whole, False, 1.0, wrong=wrong)
    share = Bounded(error.value / size.bound, error.bound / scale, error.at)
    return Judgement(name, text, False, error, size, share, False, mean / scale, wrong=wrong)


def _efforts(found: Sequence[Judgement], robot: Robot, where: Workspace) -> tuple[float, ...]:
    """Every entry's largest error times the largest rates that multiply it, summed."""
    v, a = where.speed, where.acceleration
    total = [0.0] * len(v)
    for one in found:
        asked = asked_of(one.name, robot)
        if one.problem or asked is None or (asked.letter == "tau" and robot.loops is not None):
            continue
        i, *rest = (k - 1 for k in asked.of)
        if asked.letter == "M":
            total[i] += one.error.bound * a[rest[0]]
            if rest[0] != i:
                total[rest[0]] += one.error.bound * a[i]
        elif asked.letter == "b":
            total[i] += one.error.bound * v[rest[0]] * v[rest[1]]
        elif asked.letter == "c":
            total[i] += one.error.bound * v[rest[0]] ** 2
        elif asked.letter == "C":
            total[i] += one.error.bound * v[rest[0]]
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
