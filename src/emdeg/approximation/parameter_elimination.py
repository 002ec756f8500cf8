"""A robot with fewer inertial parameters whose torques stay within given errors.

The torques are linear in the base parameters, so what leaving some out does is linear too, and the others move to where
they take up most of it. Parameters go one after the other, the one that costs least first. What remains need be no
body's. Geometry, drives and limits stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from emdeg.algebra import Array, Exact
from emdeg.approximation.loop_error import torque_error
from emdeg.approximation.shortening import work
from emdeg.approximation.shortening.adversary import MOTION, Climbs, joined, random_states, worst_states
from emdeg.approximation.shortening.rates import States
from emdeg.bounds import CertifiedExtremum
from emdeg.documents import Shown
from emdeg.dynamics.parameters import Column, base_parameters, base_values, with_base_values
from emdeg.errors import OverBudget, RobotError
from emdeg.programs import Program, count, plain_program, program
from emdeg.robot import Robot, Workspace, to_toml
from emdeg.runtime import compile, one_thread

STATES, ROUNDS, ATTEMPTS = 500, 6, 3
AIM = 0.8
"""The part of a limit that errors at states may use."""
FITS = 4
"""Fits of what remains, each weighted to the errors that the one before left."""
HELD = 1e-3
"""What holds a parameter where it is: one that moves by all of itself counts as that part of a limit."""
DIGITS = 8
NOTHING_LEFT_OUT = "no parameter of it can be left out within these errors"


@dataclass(frozen=True)
class ChangedRobot(Shown):
    """A robot as an approximate model of another, what was changed, and how far its torques can be from that one's."""

    robot: Robot
    source: Robot
    where: Workspace
    columns: tuple[Column, ...]
    before: tuple[Fraction, ...]
    """The base parameters of the source [SI]."""
    after: tuple[Fraction, ...]
    errors: tuple[CertifiedExtremum, ...]
    """By joint: the certified largest difference of torques over the box, and the largest found [N m, N]."""
    largest: tuple[float, ...]
    program: Program
    """Its inverse dynamics."""
    exact_operations: int

    @property
    def operations(self) -> int:
        """Of its inverse dynamics."""
        return count(self.program).total

    @property
    def gone(self) -> tuple[str, ...]:
        """The parameters that were left out."""
        changes = zip(self.columns, self.before, self.after)
        return tuple(str(column) for column, old, new in changes if old and not new)

    def toml(self) -> str:
        """The robot's file: above it what was changed, why and at what cost."""
        lines = [f"Short model of {self.source.name}: base parameters left out or moved, geometry as it was."]
        lines += [f"Inverse dynamics {self.operations} operations, {self.exact_operations} before. Over the box"]
        rates = zip(self.where.joints, self.where.ranges, self.where.speed, self.where.acceleration)
        for joint, (low, high), speed, acceleration in rates:
            lines.append(f"  {joint}: {low:g} to {high:g}, speed {speed:g}, acceleration {acceleration:g}")
        lines.append("efforts are certified within")
        for joint, e, peak in zip(self.robot.driven, self.errors, self.largest):
            share = f" ({100 * e.bound / peak:.3g} % of the largest)" if peak else ""
            lines.append(f"  {joint.name}: {e.bound:.4g}{share}")
        lines.append("Parameters, before -> after:")
        for column, old, new in zip(self.columns, self.before, self.after):
            if old != new:
                lines.append(f"  {column}: {float(old):.6g} -> {f'{float(new):.6g}' if new else 'left out'}")
        comment = "".join(f"# {''.join(c if c.isprintable() else '?' for c in line)}\n" for line in lines)
        return comment + to_toml(self.robot)


@one_thread()
def fewer_parameters(
    robot: Robot,
    limits: Sequence[float],
    where: Workspace,
    *,
    exact: Program,
    effort: float = 3.0,
    seed: int = 0,
    until: Callable[[], bool] = lambda: False,
) -> ChangedRobot:
    """The robot with the fewest base parameters found whose torques are certified within the limits [N m, N].

    `exact`: its inverse dynamics, to which errors refer. RobotError where nothing can be left out, OverBudget where
    `until` says stop before that is certified.
    """
    search = ParameterElimination(robot, limits, where, seed)
    aim = np.full(len(limits), AIM)
    for _ in range(ATTEMPTS):
        new = search.run(aim)
        made = search.changed(new)
        if made is None:
            break
        error = torque_error(robot, exact, plain_program(made, "inverse_dynamics"), where, new)
        found, _ = worst_states(error.errors, where, MOTION, search.random, Climbs(points=100_000, starts=40))
        try:
            bounds = error.bounds(found.tolist(), enough=list(limits), until=until)
        except OverBudget:
            if until():
                raise
            break
        over = np.array([e.bound / limit for e, limit in zip(bounds, limits)])
        if (over <= 1).all():
            short = program(made, "inverse_dynamics", otherwise=effort, seed=seed)
            values = search.base.kept, search.known, tuple(new)
            largest = tuple(map(float, search.largest))
            return ChangedRobot(made, robot, where, *values, bounds, largest, short, count(exact).total)
        aim = aim * np.where(over > 1, 0.95 / over, 1.0)
    raise RobotError(NOTHING_LEFT_OUT, body=robot.name)


class ParameterElimination:
    """Leaving base parameters out at states, the worst that are found joining them.

    `limits`: by joint [N m, N]; `rates`: those of the function's inputs that are not zero; `spend` is told the nominal
    seconds of what is done.
    """

    def __init__(
        self,
        robot: Robot,
        limits: Sequence[float],
        where: Workspace,
        seed: int,
        rates: Sequence[str] = MOTION,
        spend: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.robot, self.limits, self.where, self.rates = robot, np.array(limits, float), where, rates
        self.base = base_parameters(robot)
        self.known = tuple(value.number for value in base_values(robot, self.base))
        self.old = np.array([float(value) for value in self.known])
        self.random = np.random.default_rng(seed)
        self._regressor, self._spend = program(robot, "regressor", base=True), spend
        self._call = compile(self._regressor)
        spend(work.compiling(self._regressor))
        self.largest, peaks = worst_states(lambda states: self._columns(states) @ self.old, where, rates, self.random)
        self.states = joined(random_states(where, rates, STATES, self.random), peaks)

    def _columns(self, states: States) -> Array:
        """(states, joints, parameters): what each base parameter is multiplied by."""
        still = np.zeros_like(states["q"])
        self._spend(work.calls(self._regressor, len(still)))
        return self._call(**{name: states.get(name, still) for name in MOTION})

    def changed(self, new: Sequence[Fraction]) -> Robot | None:
        """The robot with these base parameters; None where it lacks none."""
        if all(value or not before for value, before in zip(new, self.old)):
            return None
        name = self.robot.name
        note = (
            f"it is a short model of {name}: some of its inertial parameters were left out, others moved, within "
            "errors that its file states; what is identified, measured or tolerated of it is not of that robot"
        )
        values = [Exact.of(value) for value in new]
        return with_base_values(self.robot, self.base, values, f"short model of {name}", note)

    def run(self, aim: Array) -> list[Fraction]:
        """The base parameters after as many were left out as errors within `aim` of the limits bear."""
        new = self.old
        for _ in range(ROUNDS):
            new = self._greedy(aim)
            worst, at = worst_states(
                lambda states, d=new - self.old: self._columns(states) @ d, self.where, self.rates, self.random
            )
            if (worst <= 1.05 * aim * self.limits).all():
                break
            self.states = joined(self.states, at)
        return _rounded(new)

    def _greedy(self, aim: Array) -> Array:
        """The base parameters after as many were left out as the states bear; of a mechanism, alike ones at once."""
        shares = self._columns(self.states) * self.old / (aim * self.limits)[:, None]
        shares = shares.reshape(-1, len(self.old))
        ways = [[[k] for k, value in enumerate(self.old) if value]]
        if not self.robot.is_tree:
            ways.append(self._alike())
        found = [self.old * (1 + self._left_out(shares, groups)) for groups in ways]
        return found[0] if len(found) == 1 else min(found, key=self._length)

    def _length(self, new: Array) -> int:
        """Operations of the plain program with these base parameters."""
        made = self.changed(_rounded(new))
        return count(plain_program(made or self.robot, "inverse_dynamics")).total

    def _alike(self) -> list[list[int]]:
        """Parameters in groups: those of one kind and value, which bodies of one shape have."""
        groups: dict[tuple[str, float], list[int]] = {}
        for k, (column, value) in enumerate(zip(self.base.kept, self.old)):
            if value:
                groups.setdefault((column.name, float(f"{value:.{DIGITS}g}")), []).append(k)
        return list(groups.values())

    def _left_out(self, shares: Array, groups: list[list[int]]) -> Array:
        """The relative change of every parameter: groups left out one by one, the one that costs least first."""
        best = np.zeros(len(self.old))
        while groups:
            sizes = [float(np.abs(shares[:, group]).max()) for group in groups]
            tried = np.argsort(sizes, kind="stable")[:CANDIDATES]
            rests = [[k for place, group in enumerate(groups) if place != one for k in group] for one in tried]
            changes = [self._fitted(shares, rest, 1) for rest in rests]
            errors = [float(np.abs(shares @ change).max()) for change in changes]
            first = int(np.argmin(errors))
            change = changes[first] if errors[first] <= 1 else self._fitted(shares, rests[first], FITS)
            if np.abs(shares @ change).max() > 1:
                break
            groups, best = [group for place, group in enumerate(groups) if place != tried[first]], change
        return best

    def _fitted(self, shares: Array, kept: Sequence[int], fits: int) -> Array:
        """The relative change of every parameter, -1 of those that are not kept, that leaves the smallest errors."""
        change = np.full(shares.shape[1], -1.0)
        change[list(kept)] = 0.0
        if not kept:
            return change
        columns, missing = shares[:, list(kept)], shares @ change
        self._spend(fits * work.fit(len(kept), len(missing)))
        weights, best, least = np.ones(len(missing)), change, math.inf
        for _ in range(fits):
            weighted = columns * weights[:, None]
            square = columns.T @ weighted
            square[np.diag_indices_from(square)] += HELD**2 * len(missing)
            tried = change.copy()
            tried[list(kept)] = -np.linalg.solve(square, weighted.T @ missing)
            error = np.abs(shares @ tried)
            if error.max() < least:
                best, least = tried, float(error.max())
            weights = weights * (error / max(float(error.max()), 1e-300) + 0.05)
            weights /= weights.mean()
        return best


def _rounded(values: Array) -> list[Fraction]:
    return [Fraction(f"{value:.{DIGITS}g}") for value in values]


CANDIDATES = 6
"""Parameters of the smallest shares of which one is chosen."""
