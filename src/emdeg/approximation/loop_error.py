"""How far changed inertial parameters take a mechanism's torques: certified box by box.

Torques are linear in the base parameters, so what a change of these does is itself a program, that of a mechanism whose
parameters are the change: there is no difference of two large numbers in it. It divides and takes roots, so no grid of
a known degree tells it: its coefficients of the rates (`unit_rates`) are enclosed over boxes of coordinates
(`bounds.Enclosure`), which are cut in two until the bounds are near enough. The loops must close everywhere in the
workspace and stay `MARGIN` away from dead points (the function `closure`): that is shown of the same boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emdeg.algebra import Array, Exact
from emdeg.approximation.program_error import CLOSE, FAR, POLYNOMIAL, SMALL, ProgramError
from emdeg.approximation.row_error import CornerReach, TorqueRow, torque_row
from emdeg.approximation.shortening.rates import States, of_rates, unit_rates
from emdeg.bounds import Boxes, BoxValues, CertifiedExtremum, Enclosure, FormulaVector, SearchLimits, largest_values
from emdeg.dynamics.parameters import BaseParameters, base_parameters, base_values, with_base_values
from emdeg.errors import OverBudget, Refuted, RobotError
from emdeg.programs import (
    ARITHMETIC,
    Dependence,
    Kind,
    Program,
    Tracer,
    constants,
    every_value,
    included,
    plain_program,
    prune,
    verify,
)
from emdeg.robot import Robot, Workspace, by_kind
from emdeg.runtime import compile

MARGIN = 0.02
"""What the function `closure` is at least: the sine squared of the angle at which links meet."""
BOXES = 400_000
"""Looked at until the bounds are taken as they are."""
RISE = 1.05
"""Times a value reached: a bound that needs no betterment, where that value is above what a search had found."""
NEXT_TO_NOTHING = 1e-6
_KINDS = "Mbcg"
"""The order of a row's coefficients."""
_ENCLOSED: Mapping[Kind, Callable[..., Any]] = {
    **ARITHMETIC,
    Kind.SIN: Enclosure.sine,
    Kind.COS: Enclosure.cosine,
    Kind.SQRT: Enclosure.sqrt,
}


def enclosed(program: Program, boxes: Boxes) -> dict[str, list[Enclosure]]:
    """The outputs of a program of coordinates, enclosed over boxes of them."""
    fixed = constants(program)

    def leaf(index: int) -> Enclosure | None:
        op = program.ops[index]
        if index in fixed:
            return boxes.number(fixed[index])
        if op.kind is Kind.ANGLE:
            return boxes.near(float(op.angle))
        return boxes.variable(op.slot[1]) if op.kind is Kind.INPUT else None

    known = every_value(program, leaf, _ENCLOSED)

    def signed(sign: int, value: int) -> Enclosure:
        if not sign:
            return boxes.number(Fraction(0))
        return known[value] if sign > 0 else -known[value]

    return {group.name: [signed(ref.sign, ref.value) for ref in group.entries] for group in program.outputs}


def change_of_efforts(robot: Robot, base: BaseParameters, change: Sequence[Fraction]) -> Program:
    """q, qd, qdd -> what a change of the base parameters adds to the torques: those of a mechanism that has these."""
    made = with_base_values(robot, base, [Exact.of(x) for x in change], "a change of parameters", "it is a change")
    return plain_program(made, "inverse_dynamics")


def need_sum(whole: Program, exact: Program, change: Program) -> None:
    """Refuted, or another of `verify`'s errors, unless a program is exact plus change."""
    tracer = Tracer()
    inputs = {group.name: tracer.inputs(group.name, group.size, group.depends) for group in exact.inputs}
    both = zip(*(included(tracer, one, inputs)[0] for one in (exact, change)))
    verify(whole, tracer.program("sum", {"tau": [a + b for a, b in both]}))


@dataclass(frozen=True)
class LoopError:
    """What a change of a mechanism's parameters does to its torques over a box, motor by motor; see `ProgramError`."""

    robot: Robot
    change: Program
    """q, qd, qdd -> what is added to the torques."""
    where: Workspace

    @cached_property
    def errors(self) -> Callable[[States], Array]:
        """States -> (states, motors)."""
        call = compile(self.change)
        return lambda states: call(**{group.name: states[group.name] for group in self.change.inputs})

    def bounds(
        self,
        found: Sequence[float],
        *,
        enough: Sequence[float],
        until: Callable[[], bool] = lambda: False,
        over: Callable[[], bool] | None = None,
    ) -> tuple[CertifiedExtremum, ...]:
        """Output by output: the certified largest error, beside what a search has found; `enough` as of `ProgramError`.

        RobotError where the loops do not close all over the box; OverBudget where `until` says stop.
        """
        # What is next to nothing beside the other motors' errors need not be known closely.
        goals = np.maximum([_goal(f, e) for f, e in zip(found, enough)], NEXT_TO_NOTHING * max(found))
        best = np.array(found, float)

        def look(boxes: Boxes) -> BoxValues:
            if until():
                raise OverBudget("the time is over before the error is certified")
            groups = enclosed(self._apart, boxes)
            closed = self._closed(groups.pop("closure"), boxes)
            looked = [self._looked(mine, boxes) for mine in groups.values()]
            reached = np.stack([one[1] for one in looked])
            best[:] = np.maximum(best, reached.max(axis=1))
            upper = np.where(closed[None, :], np.stack([one[0] for one in looked]), np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = np.stack([one[2] for one in looked]) / np.maximum(goals, 1e-300)[:, None, None]
            weight = np.where(np.isnan(share), np.inf, share).sum(axis=0).T
            return BoxValues(upper, np.maximum(goals[:, None], RISE * reached), np.ones(len(closed), bool), weight)

        limits = SearchLimits(boxes=BOXES, seconds=math.inf)
        bounded = largest_values(look, self.where.ranges, [0.0] * len(goals), limits)
        return tuple(
            CertifiedExtremum(float(value), max(one.bound, float(value)), {}, one.boxes)
            for one, value in zip(bounded, best)
        )

    def _closed(self, margins: Sequence[Enclosure], boxes: Boxes) -> NDArray[np.bool_]:
        """(boxes,): whether every loop is shown to close there; RobotError where one is shown not to."""
        count = len(boxes.empty)
        open_ = boxes.empty.copy()
        closed = ~boxes.empty
        for one in margins:
            open_ |= np.broadcast_to(one.ends[1] < MARGIN, count)
            closed &= np.broadcast_to(one.ends[0] >= MARGIN, count)
        if open_.any():
            at = boxes.centre[:, int(np.argmax(open_))]
            words = ", ".join(f"{name} = {x:.4g}" for name, x in zip(self.where.joints, at))
            raise RobotError(
                f"its loops do not close all over the box, or come to a dead point (at {words}): give a smaller one",
                body=self.robot.name,
            )
        return closed

    @cached_property
    def _apart(self) -> Program:
        """The coefficients of the rates, by motor, and how far the loops are from dead points."""
        tracer, n = Tracer(), len(self.where.ranges)
        q = tracer.inputs("q", n, Dependence.CONFIGURATION)
        values = []
        for qd, qdd in unit_rates(n):
            rates = {name: [tracer.number(Fraction(x)) for x in each] for name, each in (("qd", qd), ("qdd", qdd))}
            values.append(included(tracer, self.change, {"q": q, **rates})[0])
        each = [of_rates(mine, n) for mine in zip(*values)]
        groups = {
            f"motor{k}": [mine[key] for kind in _KINDS for key in mine if key[0] == kind] for k, mine in enumerate(each)
        }
        closure = included(tracer, plain_program(self.robot, "closure"), {"q": q})[0]
        return prune(tracer.program("apart", {**groups, "closure": closure}))

    @cached_property
    def _columns(self) -> tuple[TorqueRow, CornerReach]:
        """What the rates of the box make of an output's coefficients, in the order of `_KINDS`."""
        n = len(self.where.ranges)
        keys = sorted(of_rates([0] * len(list(unit_rates(n))), n), key=lambda key: _KINDS.index(key[0]))
        nothing = FormulaVector((), (), np.zeros(len(keys)), np.zeros(len(keys)))
        row = torque_row(keys, nothing, self.where)
        return row, CornerReach(row)

    def _looked(self, found: Sequence[Enclosure], boxes: Boxes) -> tuple[Array, Array, Array]:
        """(bounds, values reached at the centres, what each variable adds (variables, boxes)) of one output."""
        count, (row, reach) = len(boxes.empty), self._columns
        ends = np.stack([np.broadcast_to(one.ends, (2, count)) for one in found])
        middle = np.stack([np.broadcast_to(one.middle.mean(axis=0), count) for one in found])
        off = np.maximum(ends[:, 1] - middle, middle - ends[:, 0])
        values = middle.T @ reach.columns
        upper = reach.above(values, off.T @ np.abs(reach.columns)) * (1 + 1e-12)
        change = sum((one.change * most for one, most in zip(found, row.weights)), np.zeros_like(boxes.half))
        value = reach.reached(values) * (1 - 1e-12)
        return np.where(np.isnan(upper), np.inf, upper), np.where(np.isfinite(value), value, 0.0), change


def _goal(found: float, enough: float) -> float:
    """A bound that needs no betterment: within what is enough, and not far above what was found."""
    if found > enough or not math.isfinite(enough):
        return FAR * found
    return max(CLOSE * found, min(enough, max(FAR * found, SMALL * enough)))


@by_kind
def torque_error(
    robot: Robot, exact: Program, whole: Program, where: Workspace, values: Sequence[Fraction]
) -> ProgramError | LoopError:
    """What certifies how far a program of a robot's torques is from the exact one.

    `values` are the base parameters that the program has, where other parameters are what makes it approximate.
    """
    return _bounded_by_nodes(robot, exact, whole, where)


def mechanism_torque_error(
    robot: Robot, exact: Program, whole: Program, where: Workspace, values: Sequence[Fraction]
) -> ProgramError | LoopError:
    """The same of a closed-loop mechanism: the program is verified to be the one with the base parameters `values`.

    Where everything is a polynomial of sines and cosines, as parallelograms leave it, errors are bounded as those of
    trees.
    """
    base = base_parameters(robot)
    known = [value.number for value in base_values(robot, base)]
    if len(values) != len(known):
        raise Refuted(f"{len(values)} base parameters are stated of {len(known)}")
    change = change_of_efforts(robot, base, [new - old for new, old in zip(values, known, strict=True)])
    need_sum(whole, exact, change)
    closure = plain_program(robot, "closure")
    fixed = constants(closure)
    margins = [ref.sign * fixed[ref.value] for ref in closure.outputs[0].entries if ref.value in fixed]
    always = len(margins) == len(closure.outputs[0].entries) and all(margin >= MARGIN for margin in margins)
    if always and all(op.kind in POLYNOMIAL for one in (exact, whole) for op in one.ops):
        return _bounded_by_nodes(robot, exact, whole, where)
    return LoopError(robot, change, where)


def _bounded_by_nodes(robot: Robot, exact: Program, whole: Program, where: Workspace) -> ProgramError:
    return ProgramError(exact, whole, where, tuple(joint.kind == "revolute" for joint in robot.coordinates))
