"""Abbreviated models: terms left out by the significance rule or an average error; programs within given errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from emdeg.approximation.average import EntryDeviation, diagonal, entry_errors, within_average
from emdeg.approximation.limits import friction_limits, rule_limits, tolerance_limits
from emdeg.approximation.model_error import certified, largest_efforts
from emdeg.approximation.programs import program as short_program
from emdeg.approximation.short_mechanism import shortest_of_loops
from emdeg.approximation.short_model import FullModel, ShortModel, full_model
from emdeg.approximation.short_program import OF_EFFORTS, ShortProgram
from emdeg.approximation.shortest_program import shortest
from emdeg.approximation.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, Dropped, significant
from emdeg.bounds import Bounded
from emdeg.documents import Brief, table
from emdeg.equations import Model
from emdeg.programs import OPERATIONS, Effort, Program, Progress, Weights, count, plain_program
from emdeg.robot import Robot, RobotLike, Workspace, as_robot, workspace

EntryLimits = tuple[float, float | None]
"""The average and the worst relative error that entries were to stay below."""
LONG = 400
"""Operations of the plain inverse dynamics above which the explicit form, term by term, is no way to a short model."""
EFFORT = 3.0
"""Nominal seconds of a search for a program."""
SECONDS = 60.0
"""What a short model may take of the processor."""
OF_TERMS = 0.35
"""The part of the time for terms and their certified errors; the rest is for programs."""


@dataclass(frozen=True, repr=False)
class Abbreviated(Brief):
    """A short model and how wrong it can be over its box."""

    short: ShortModel
    where: Workspace
    errors: tuple[Bounded, ...] = ()
    """By joint: the certified largest |effort of the full model - effort of the short one|, and the largest found."""
    largest: tuple[float, ...] = ()
    """By joint: the full model's largest effort found over the box."""
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

    def left_out(self) -> dict[str, dict[str, Any]]:
        """{entry: what was dropped from it, as a formula, and its terms by falling size} of entries that lost some."""
        gone = self.short.full.keeping({(d.entry, d.constant) for d in self.dropped})
        found: dict[str, dict[str, Any]] = {}
        for d in sorted(self.dropped, key=lambda d: (-d.size, d.constant)):
            one = found.setdefault(d.entry, {"text": gone.written_out(d.entry), "terms": []})
            one["terms"].append({"constant": d.constant, "size": d.size, "why": d.rule})
        return found

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

    def as_near(
        self,
        *,
        effort: float = EFFORT,
        seed: int = 0,
        weights: Weights = OPERATIONS,
        progress: Progress | None = None,
        time: Effort | None = None,
    ) -> ShortProgram:
        """The shortest program found that is certified to be as near as this model is.

        The rule says what may be left out, and so how wrong a program may be; which operations go is searched for.
        """
        bounds = [e.bound for e in self.errors]
        least = max(1e-6 * max(bounds), 1e-9 * max(self.largest), 1e-12)
        return shortest(
            self.short.full.robot,
            worst_error=[max(bound, least) for bound in bounds],
            absolute=True,
            where=self.where,
            effort=effort,
            seed=seed,
            weights=weights,
            progress=progress,
            time=time,
        )

    @property
    def missed(self) -> tuple[str, ...]:
        """Every target that was given and is not kept, in words, with what was reached."""
        found = []
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
            found.append(data)
        return found


def abbreviate(
    of: RobotLike | Model,
    *,
    function: str = "inverse_dynamics",
    only: str | None = None,
    significance: float = SIGNIFICANCE,
    joint_significance: float = JOINT_SIGNIFICANCE,
    neglect: Sequence[str] = (),
    keep_uncertain: bool = False,
    worst_error: Sequence[float] | float | None = None,
    absolute: bool = False,
    at_most: int | None = None,
    of_friction: float | None = None,
    of_tolerance: float | None = None,
    average_error: float | None = None,
    where: Workspace | None = None,
    seconds: float = SECONDS,
    effort: Effort | None = None,
    searching: float = EFFORT,
    seed: int = 0,
    weights: Weights = OPERATIONS,
    progress: Progress | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Abbreviated | ShortProgram:
    """A short model of a robot, which is derived for that, or of a model, which is not derived again.

    A target gives a `ShortProgram` (see `shortest`): `worst_error`, one number or one a joint, parts of each joint's
    largest effort over the box, or `absolute` [N m, N]; `of_friction` and `of_tolerance`, parts of what friction and
    the file's tolerances make of each joint's effort (`limits`); `at_most` so many operations. So does the rule for a
    robot whose explicit form is longer than its recursion. Else it is an `Abbreviated`: without targets the rule
    decides, term by term. A mechanism with closed loops has short programs of its inverse dynamics, with fewer inertial
    parameters, over a box in which its loops close. `average_error`: a fraction; every entry of M and g by itself, its
    average relative error below that (with `worst_error`, one number, its worst too). `neglect`: constants that the
    rule drops everywhere; `keep_uncertain`: not those that their tolerances do not tell from zero, which it drops
    otherwise. `seconds`: for derivation, search and certification together, counted by the processor; `effort`: the
    same as a budget that others share; `searching`: nominal seconds of a search for a program. `tell` is told what is
    being done.

    >>> import emdeg
    >>> short = emdeg.abbreviate("planar2r", significance=0.05, seconds=2)
    >>> all(e.value <= e.bound for e in short.errors)
    True
    """
    effort = effort or Effort(seconds)
    if average_error is None:
        robot = as_robot(of.robot if isinstance(of, Model) else of)
        targets = {"worst_error": worst_error, "at_most": at_most}
        targets |= {"of_friction": of_friction, "of_tolerance": of_tolerance}
        given = [name for name, target in targets.items() if target is not None]
        terms = only is not None or bool(neglect) or keep_uncertain
        if not robot.is_tree:
            if not set(given) <= {"worst_error", "at_most"} or not given or terms or function != "inverse_dynamics":
                raise ValueError("a mechanism with closed loops needs worst_error or at_most, of its inverse dynamics")
            return shortest_of_loops(
                robot,
                worst_error=worst_error,
                absolute=absolute,
                at_most=at_most,
                where=where or workspace(robot),
                effort=searching,
                seed=seed,
                progress=progress,
                time=effort,
            )
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are ways to ask for a short program; give one of them")
        if given and terms:
            raise ValueError(f"only, neglect and keep_uncertain are about terms; they do not go with {given[0]}")
        if given or function != "inverse_dynamics" or (not terms and not isinstance(of, Model) and is_long(robot)):
            where = where or workspace(robot)
            if at_most is None and worst_error is None:
                if function not in OF_EFFORTS or not (given or function == "inverse_dynamics"):
                    raise ValueError(f"a short {function} needs a worst error or a number of operations")
                worst_error, absolute = (
                    _limits(robot, where, of_friction, of_tolerance, significance, joint_significance, seed),
                    True,
                )
            return shortest(
                robot,
                function,
                worst_error=worst_error,
                absolute=absolute,
                at_most=at_most,
                where=where,
                effort=searching,
                seed=seed,
                weights=weights,
                progress=progress,
                time=effort,
            )
    effort = effort.part(OF_TERMS)
    tell("deriving its equations")
    full = full_model(of if isinstance(of, Model) else as_robot(of), only)
    robot = full.robot
    where = where or workspace(robot)
    if average_error is not None:
        worst = [worst_error] if isinstance(worst_error, int | float) else worst_error
        return _by_average(full, where, average_error, worst, effort)
    if not {"M", "b", "c", "g"} <= full.model.parts:
        raise ValueError("efforts need M, b, c and g; for M and g alone give an average error")
    tell("its largest efforts")
    largest = largest_efforts(full, where, until=effort.until(0.5))
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
    return Abbreviated(short, where, errors, largest, dropped)


def is_long(robot: Robot) -> bool:
    """Whether the robot's explicit form is longer than its recursion could ever be."""
    return count(plain_program(robot, "inverse_dynamics")).total > LONG


def _limits(
    robot: Robot,
    where: Workspace,
    of_friction: float | None,
    of_tolerance: float | None,
    significance: float,
    joint_significance: float,
    seed: int,
) -> tuple[float, ...]:
    """By joint: how wrong a program may be, by what is known of the robot or by the rule [N m, N]."""
    if of_friction is not None:
        return friction_limits(robot, where, of_friction)
    if of_tolerance is not None:
        return tolerance_limits(robot, where, of_tolerance, seed)
    return rule_limits(robot, where, significance, joint_significance, seed)


def _by_average(
    full: FullModel, where: Workspace, average: float, worst: Sequence[float] | None, effort: Effort
) -> Abbreviated:
    names = diagonal(full)
    limits = average, worst[0] if worst else None
    short = within_average(full, where, limits[0], worst=limits[1], entries=names)
    errors = entry_errors(short, where, names, seconds=effort.left() / max(1, len(names)))
    return Abbreviated(short, where, entries=tuple(errors), entry_limits=limits)
