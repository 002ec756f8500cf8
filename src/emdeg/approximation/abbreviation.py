"""Approximate models by the significance rule or an average error, approximate programs within given errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from emdeg.approximation.approximation import OF_TORQUES, Approximation
from emdeg.approximation.average import diagonal, entry_errors, within_average
from emdeg.approximation.limits import friction_limits, rule_limits, tolerance_limits
from emdeg.approximation.row_error import certified_errors, largest_torques
from emdeg.approximation.shortest_program import shortest
from emdeg.approximation.significance import JOINT_SIGNIFICANCE, SIGNIFICANCE, significant
from emdeg.documents import Shown
from emdeg.equations import Model, lumped_model
from emdeg.programs import OPERATIONS, Effort, Progress, Weights, count, plain_program
from emdeg.robot import Robot, RobotLike, Workspace, as_robot, workspace

LONG = 400
"""Operations of the unoptimized inverse dynamics above which no approximate program comes from the explicit form."""
EFFORT = 3.0
"""Nominal seconds of a search for a program."""
SECONDS = 60.0
"""What an approximation may take of the processor."""
OF_TERMS = 0.35
"""The part of the time for terms and their certified errors; the rest is for programs."""


@dataclass(frozen=True, repr=False)
class AbbreviationOptions(Shown):
    """What is approximated, within what, and over which box of states.

    A target gives a program: `worst_error`, one number or one a joint, parts of each joint's largest torque over the
    box, or `absolute` [N m, N]; `of_friction` and `of_tolerance`, parts of what friction and the file's tolerances make
    of each joint's torque (`limits`); `at_most` so many operations. So does the significance rule for a robot whose
    explicit form is longer than its recursion. Else the rule leaves out terms of the model. `average_error`: a
    fraction; every entry of M and g by itself, its average relative error below that (with `worst_error`, one number,
    its worst too). A mechanism with closed loops has approximate inverse dynamics, with fewer inertial parameters, over
    a box in which its loops close.
    """

    function: str = "inverse_dynamics"
    only: str | None = None
    """Of M, b, c, g, say "M,g": the parts whose terms are looked at."""
    significance: float = SIGNIFICANCE
    joint_significance: float = JOINT_SIGNIFICANCE
    neglect: Sequence[str] = ()
    """Constants that the rule drops everywhere."""
    keep_uncertain: bool = False
    """Keep constants that their tolerances do not tell from zero, which the rule drops otherwise."""
    worst_error: Sequence[float] | float | None = None
    absolute: bool = False
    at_most: int | None = None
    of_friction: float | None = None
    of_tolerance: float | None = None
    average_error: float | None = None
    where: Workspace | None = None
    searching: float = EFFORT
    """Nominal seconds of a search for a program."""
    seed: int = 0
    weights: Weights = OPERATIONS

    @property
    def targets(self) -> list[str]:
        """The names of the targets that are given, but for an average error."""
        names = ("worst_error", "at_most", "of_friction", "of_tolerance")
        return [name for name in names if getattr(self, name) is not None]

    @property
    def about_terms(self) -> bool:
        """Whether something is asked for that terms alone have."""
        return self.only is not None or bool(self.neglect) or self.keep_uncertain


def abbreviate(
    of: RobotLike | Model,
    options: AbbreviationOptions | None = None,
    *,
    seconds: float = SECONDS,
    effort: Effort | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] = lambda text: None,
    **changes: Any,
) -> Approximation:
    """An approximation of a robot, which is derived for that, or of a model, which is not derived again.

    `changes` are fields of `AbbreviationOptions`, which says what can be asked for: function, only, significance,
    joint_significance, neglect, keep_uncertain, worst_error, absolute, at_most, of_friction, of_tolerance,
    average_error, where, searching, seed, weights. `seconds`: for derivation, search and certification together,
    counted by the processor; `effort`: the same as a budget that others share. `tell` is called with what is done.

    >>> import emdeg
    >>> short = emdeg.abbreviate("planar2r", significance=0.05, seconds=2)
    >>> all(e.value <= e.bound for e in short.errors)
    True
    """
    asked = replace(options or AbbreviationOptions(), **changes)
    time = effort or Effort(seconds)
    if asked.average_error is None:
        robot = as_robot(of.robot if isinstance(of, Model) else of)
        if _by_program(robot, asked, isinstance(of, Model)):
            return _program(robot, asked, progress, time)
    return _terms(of, asked, time.part(OF_TERMS), tell)


def as_near(short: Approximation, **search: Any) -> Approximation:
    """The shortest program found that is certified to be as near as an approximate model is.

    The rule says what may be left out, and so how wrong a program may be; which operations go is searched for.
    `search`: fields of `SearchOptions`.
    """
    bounds = [e.bound for e in short.errors]
    least = max(1e-6 * max(bounds), 1e-9 * max(short.largest), 1e-12)
    limits = [max(bound, least) for bound in bounds]
    return shortest(short.robot, worst_error=limits, absolute=True, where=short.where, **{"effort": EFFORT, **search})


def is_long(robot: Robot) -> bool:
    """Whether the robot's explicit form is longer than its recursion could ever be."""
    return count(plain_program(robot, "inverse_dynamics")).total > LONG


def _by_program(robot: Robot, asked: AbbreviationOptions, is_model: bool) -> bool:
    """Whether operations of a program are left out rather than terms; ValueError where options do not go together."""
    given = asked.targets
    if not robot.is_tree:
        one_of_both = bool(given) and set(given) <= {"worst_error", "at_most"}
        if not one_of_both or asked.about_terms or asked.function != "inverse_dynamics":
            raise ValueError("a mechanism with closed loops needs worst_error or at_most, of its inverse dynamics")
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are ways to ask for a short program; give one of them")
    if given and asked.about_terms:
        raise ValueError(f"only, neglect and keep_uncertain are about terms; they do not go with {given[0]}")
    if given or asked.function != "inverse_dynamics":
        return True
    return not asked.about_terms and not is_model and is_long(robot)


def _program(robot: Robot, asked: AbbreviationOptions, progress: Progress | None, time: Effort) -> Approximation:
    where = asked.where or workspace(robot)
    worst_error, absolute = asked.worst_error, asked.absolute
    if asked.at_most is None and worst_error is None:
        if asked.function not in OF_TORQUES or not (asked.targets or asked.function == "inverse_dynamics"):
            raise ValueError(f"a short {asked.function} needs a worst error or a number of operations")
        worst_error, absolute = _limits(robot, where, asked), True
    return shortest(
        robot,
        asked.function,
        worst_error=worst_error,
        absolute=absolute,
        at_most=asked.at_most,
        where=where,
        effort=asked.searching,
        seed=asked.seed,
        weights=asked.weights,
        progress=progress,
        time=time,
    )


def _limits(robot: Robot, where: Workspace, asked: AbbreviationOptions) -> tuple[float, ...]:
    """By joint: how wrong a program may be, by what is known of the robot or by the rule [N m, N]."""
    if asked.of_friction is not None:
        return friction_limits(robot, where, asked.of_friction)
    if asked.of_tolerance is not None:
        return tolerance_limits(robot, where, asked.of_tolerance, asked.seed)
    return rule_limits(robot, where, asked.significance, asked.joint_significance, asked.seed)


def _terms(
    of: RobotLike | Model, asked: AbbreviationOptions, time: Effort, tell: Callable[[str], None]
) -> Approximation:
    """The model with fewer terms, by the significance rule or an average error."""
    tell("deriving its equations")
    full = lumped_model(of if isinstance(of, Model) else as_robot(of), asked.only)
    robot = full.robot
    where = asked.where or workspace(robot)
    if asked.average_error is not None:
        worst = asked.worst_error if isinstance(asked.worst_error, int | float) else (asked.worst_error or (None,))[0]
        names = diagonal(full)
        terms = within_average(full, where, asked.average_error, worst=worst, entries=names)
        found = Approximation(robot, "mass_matrix", None, None, where, full=full, terms=terms)
        entries = entry_errors(full, terms, where, names, seconds=time.left() / max(1, len(names)))
        return replace(found, entries=tuple(entries), entry_limits=(asked.average_error, worst))
    if not {"M", "b", "c", "g"} <= full.source.parts:
        raise ValueError("efforts need M, b, c and g; for M and g alone give an average error")
    tell("its largest torques")
    largest = largest_torques(full, where, until=time.until(0.5))
    terms, dropped = significant(
        full,
        where,
        significance=asked.significance,
        joint_significance=asked.joint_significance,
        neglect=asked.neglect,
        keep_uncertain=asked.keep_uncertain,
    )
    tell("certifying its errors")
    errors = certified_errors(full, terms, where, seconds=time.left() / robot.n, clock=time.clock)
    found = Approximation(robot, "inverse_dynamics", None, None, where, errors, largest, full=full, terms=terms)
    return replace(found, dropped=dropped)
