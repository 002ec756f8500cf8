"""Abbreviated models: by a significance rule, or the smallest one found within given errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.bounds import Bounded
from emdeg.equations import Model
from emdeg.programs import OPERATIONS, Effort, Program, Weights
from emdeg.reduce.average import EntryDeviation, diagonal, entry_errors, within_average
from emdeg.reduce.programs import program as short_program
from emdeg.reduce.short_model import FullModel, ShortModel, full_model
from emdeg.reduce.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, Dropped, significant
from emdeg.reduce.target import certified, largest_efforts, within
from emdeg.robot import RobotLike, Workspace, as_robot, workspace
from emdeg.writing import Brief, table

EntryLimits = tuple[float, float | None]
"""The average and the worst relative error that entries were to stay below."""


@dataclass(frozen=True, repr=False)
class Abbreviated(Brief):
    """A short model and how wrong it can be over its box."""

    short: ShortModel
    where: Workspace
    errors: tuple[Bounded, ...] = ()
    """By joint: the certified largest |effort of the full model - effort of the short one|, and the largest found."""
    largest: tuple[float, ...] = ()
    """By joint: the full model's largest effort found over the box."""
    limits: tuple[float, ...] = ()
    """By joint: what the error was to stay below, where a target was given."""
    dropped: tuple[Dropped, ...] = ()
    entries: tuple[EntryDeviation, ...] = ()
    entry_limits: EntryLimits | None = None
    """What each entry's relative errors were to stay below, where a target was given."""

    def _repr_html_(self) -> str:
        head = ("joint", "error, certified", "error, found", "largest effort")
        rows = [(e["joint"], e["certified"], e["found"], e["largest_effort"]) for e in self.error_data()]
        return table(f"{self.short.full.robot.name}, abbreviated", rows, head)

    @property
    def model(self):
        """The short model as a `Model`: equations to print, to differentiate, to evaluate."""
        return self.short.model

    def program(
        self,
        function: str = "inverse_dynamics",
        *,
        seconds: float = 0.0,
        seed: int = 0,
        weights: Weights = OPERATIONS,
        effort: Effort | None = None,
    ) -> Program:
        """A program of the short model; `seconds` in which one that costs less is looked for, 0: not at all.

        `effort`: the same as a budget that others share; one that is spent leaves one way of writing it.
        """
        effort = effort or (Effort(seconds) if seconds else None)
        return short_program(self.short, function, effort=effort, seed=seed, weights=weights)

    @property
    def within_limits(self) -> bool:
        return not self.missed

    @property
    def missed(self) -> tuple[str, ...]:
        """Every target that was given and is not kept, in words, with what was reached."""
        found = []
        for joint, e, peak, limit in zip(self.short.full.robot.joints, self.errors, self.largest, self.limits):
            if e.bound > limit:
                found.append(
                    f"{joint.name}: the certified error is {e.bound / peak:.4g} of its largest effort, asked for was "
                    f"{limit / peak:.4g}"
                )
        for e in self.entries:
            for name, reached, limit in zip(("average", "worst"), (e.average, e.worst), self.entry_limits or ()):
                if limit is not None and reached > limit:
                    found.append(f"{e.entry}: the {name} relative error is {reached:.4g}, asked for was {limit:.4g}")
        return tuple(found)

    def error_data(self) -> list[dict[str, Any]]:
        """By joint: bound, found, their ratio, and both against the joint's own range and its torque limit."""
        found = []
        for index, e in enumerate(self.errors):
            joint = self.short.full.robot.joints[index]
            limit = joint.drive.max_torque
            if limit is None and joint.limits.effort is not None:
                limit = joint.limits.effort
            data: dict[str, Any] = {"joint": joint.name, "certified": e.bound, "found": e.value, "ratio": e.ratio}
            data["largest_effort"] = self.largest[index]
            data["certified_over_largest"] = e.bound / self.largest[index] if self.largest[index] else None
            data["certified_over_limit"] = e.bound / float(limit) if limit else None
            if self.limits:
                data["target"] = self.limits[index]
            found.append(data)
        return found


def abbreviate(
    of: RobotLike | Model,
    *,
    only: str | None = None,
    significance: float = SIGNIFICANCE,
    joint_significance: float = JOINT_SIGNIFICANCE,
    neglect: Sequence[str] = (),
    keep_uncertain: bool = False,
    worst_error: Sequence[float] | None = None,
    average_error: float | None = None,
    where: Workspace | None = None,
    seconds: float = 60.0,
    effort: Effort | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Abbreviated:
    """A short model of a robot, which is derived for that, or of a model, which is not derived again.

    Without error targets the significance rule decides. `worst_error`: fractions of each joint's largest effort over
    the box; the smallest model found whose certified error stays below them. `average_error`: a fraction; every entry
    of M and g by itself, its average relative error below that (with `worst_error`, one number, its worst too).
    `neglect`: constants that the rule is to drop everywhere; `keep_uncertain`: not those that their tolerances do not
    tell from zero, which it drops otherwise. `seconds`: for derivation, search and certification together, counted by
    the processor; `effort`: the same as a budget that others share. `tell` is told what is being done.

    >>> import emdeg
    >>> short = emdeg.abbreviate("planar2r", significance=0.05, seconds=2)
    >>> all(e.value <= e.bound for e in short.errors)
    True
    """
    effort = effort or Effort(seconds)
    tell("deriving its equations")
    full = full_model(of if isinstance(of, Model) else as_robot(of), only)
    robot = full.robot
    where = where or workspace(robot)
    if average_error is not None:
        return _by_average(full, where, average_error, worst_error, effort)
    if not {"M", "b", "c", "g"} <= full.model.parts:
        raise ValueError("efforts need M, b, c and g; for M and g alone give an average error")
    tell("its largest efforts")
    largest = largest_efforts(full, where, until=effort.until(0.5))
    if worst_error is not None:
        fractions = list(worst_error) * (robot.n if len(worst_error) == 1 else 1)
        if len(fractions) != robot.n or any(not f > 0 for f in fractions):
            raise ValueError(f"the worst error needs one fraction, or {robot.n}, each above 0")
        limits = [f * peak for f, peak in zip(fractions, largest)]
        found = within(full, where, limits, effort=effort, largest=largest, tell=tell)
        return Abbreviated(found.short, where, found.errors, largest, found.limits)
    short, dropped = significant(
        full,
        where,
        significance=significance,
        joint_significance=joint_significance,
        neglect=neglect,
        keep_uncertain=keep_uncertain,
    )
    tell("certifying its errors")
    errors = certified(short, where, seconds=effort.left() / robot.n, clock=effort.clock)
    return Abbreviated(short, where, errors, largest, (), dropped)


def _by_average(
    full: FullModel, where: Workspace, average: float, worst: Sequence[float] | None, effort: Effort
) -> Abbreviated:
    names = diagonal(full)
    limits = average, worst[0] if worst else None
    short = within_average(full, where, limits[0], worst=limits[1], entries=names)
    errors = entry_errors(short, where, names, seconds=effort.left() / max(1, len(names)))
    return Abbreviated(short, where, entries=tuple(errors), entry_limits=limits)
