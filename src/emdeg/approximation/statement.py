"""An approximate model as plain data: what it computes, its domain, its error; and how each is shown again.

The entries are stated as formulas with exact numbers, so the data can be judged without knowing how the model was
found: a program of it must equal these entries (modulo primes), and the certified error is that between these entries
and the robot's own, derived anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra import Generator, TrigPoly
from emdeg.approximation.approximation import Approximation
from emdeg.approximation.loop_error import LoopError, torque_error
from emdeg.approximation.program_error import TORQUE_DEGREES, ProgramError, written_rates
from emdeg.approximation.row_error import differences, largest_error, largest_torques, row
from emdeg.approximation.shortest_program import approximated
from emdeg.bounds import clock
from emdeg.documents import terms_data
from emdeg.equations import LumpedModel, formula, lumped_model
from emdeg.errors import BadData, NotCertified, OverBudget, Refuted, RobotError
from emdeg.programs import Program, plain_program, verify_program
from emdeg.robot import Robot, Workspace, workspace
from emdeg.runtime import one_thread

DIGITS = 6
"""Of a stated bound, rounded upwards: another processor's last digit is not to matter."""
SECONDS = 60.0
"""For each joint's bound to be reached again; a search that reached it once needs no longer than it did then."""


@dataclass(frozen=True)
class StatedModel:
    """An approximate model's entries, its box, its certified errors and the largest torques [N m, N], by joint."""

    full: LumpedModel
    entries: Mapping[str, TrigPoly]
    where: Workspace
    errors: tuple[float, ...]
    largest: tuple[float, ...]

    def data(self) -> dict[str, Any]:
        """What the verification record holds of it; `one_sided` is a key of older versions, always empty."""
        entries = {name: terms_data(value) for name, value in self.entries.items() if value}
        return {
            "box": self.where.data(),
            "entries": entries,
            "one_sided": [],
            "certified_error": list(self.errors),
            "largest_effort": list(self.largest),
        }


def stated_model(found: Approximation) -> StatedModel:
    """What an approximate model states, the bounds rounded upwards and the torques downwards."""
    assert found.full is not None
    assert found.terms is not None
    errors = tuple(_rounded(error.bound, math.ceil) for error in found.errors)
    largest = tuple(_rounded(peak, math.floor) for peak in found.largest)
    return StatedModel(found.full, found.terms.entries, found.where, errors, largest)


def _rounded(value: float, to: Any) -> float:
    if not value:
        return 0.0
    shift = 10.0 ** (DIGITS - 1 - math.floor(math.log10(value)))
    return to(value * shift) / shift


def read_stated(robot: Robot, data: Any) -> StatedModel:
    """What `StatedModel.data` wrote about a robot's approximate model; BadData where it is something else."""
    try:
        numbers = [[float(x) for x in data[key]] for key in ("certified_error", "largest_effort")]
        where = _box(robot, data)
        if any(len(values) != robot.n for values in numbers):
            raise BadData(f"a short model of {robot.n} joints needs so many numbers of each kind")
        if data["one_sided"]:
            raise BadData("entries that one row alone has are no longer supported: write the file again")
        full = lumped_model(robot)
        algebra, given = full.lumped.algebra, data["entries"]
        symbols: dict[str, Generator] = {algebra.letter(generator): generator for generator in algebra.generators}
        if odd := sorted({*given} - set(full.entries)):
            raise BadData(f"{odd[0][:40]!r} is no entry of this robot's equations")
        entries = {
            name: formula(algebra, symbols, given[name], name) if name in given else algebra.zero
            for name in full.entries
        }
        return StatedModel(full, entries, where, tuple(numbers[0]), tuple(numbers[1]))
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadData(f"it is no short model: {type(problem).__name__} {problem}") from None


def show_again(model: StatedModel, seconds: float = SECONDS) -> None:
    """NotCertified unless the stated errors hold over the box, and torques as large as stated occur in it.

    `seconds`: for each joint; a bound that was reached once is reached again, and the search ends there.
    """
    difference = differences(model.full, model.entries)
    for number, (joint, error) in enumerate(zip(model.where.joints, model.errors), 1):
        part = row(number, difference, model.where)
        if part is None:
            continue
        again = largest_error(part, seconds=seconds, enough=error, clock=clock)
        if not again.bound <= error:
            raise NotCertified(
                f"the stated error of {joint}, {error:g}, is not shown: the bound found is {again.bound:g}"
            )
    for joint, peak, again in zip(model.where.joints, model.largest, largest_torques(model.full, model.where)):
        if not peak <= again * (1 + 1e-9):
            raise NotCertified(f"an effort of {peak:g} at {joint} is stated; the largest found is {again:g}")


def stated_program(found: Approximation) -> dict[str, Any]:
    """What an approximate program states: its function, its box, its certified and its found errors [SI], by output."""
    exact = found.is_exact
    # What doubles round is not the same in the plain program, to which the error is shown again.
    bounds = [_rounded(e.bound + 1e-9 * peak, math.ceil) for e, peak in zip(found.errors, found.largest)]
    return {
        "function": found.function,
        "box": found.where.data(),
        "certified_error": [_rounded(e.bound, math.ceil) for e in found.errors] if exact else bounds,
        "found_error": [e.value for e in found.errors],
        **({"base_parameters": [str(x) for x in found.parameters]} if found.parameters and not exact else {}),
    }


@one_thread()
def show_program_again(robot: Robot, program: Program, given: Mapping[str, Any]) -> None:
    """NotCertified unless the stated errors bound the difference to the robot's plain program over the stated box."""
    where = _box(robot, given)
    errors, found = ([float(x) for x in given[key]] for key in ("certified_error", "found_error"))
    exact = plain_program(robot, str(given["function"]))
    faces = [([(g.name, g.size) for g in p.inputs], [(g.name, g.shape) for g in p.outputs]) for p in (exact, program)]
    entries = sum(len(group.entries) for group in exact.outputs)
    if faces[0] != faces[1] or not len(errors) == len(found) == entries:
        raise NotCertified("the stored program is no program of the stated function")
    if not written_rates(program) <= TORQUE_DEGREES:
        raise NotCertified("the stored program depends on the rates as no efforts do: its error is not bounded")
    if not any(errors):  # the exact function, by another way of writing it
        try:
            verify_program(program, robot, str(given["function"]))
        except Refuted as problem:
            raise NotCertified(f"the stored program is not exact, as it is said to be: {problem}") from None
        return
    try:
        bounds = _error(robot, exact, program, where, given).bounds(found, enough=errors, over=lambda: True)
    except (OverBudget, RobotError) as problem:
        raise NotCertified(str(problem)) from None
    for place, (bound, error) in enumerate(zip(bounds, errors)):
        if not bound.bound <= error:
            raise NotCertified(
                f"the stated error of output {place + 1}, {error:g}, is not shown: the bound found is {bound.bound:g}"
            )


def _error(
    robot: Robot, exact: Program, program: Program, where: Workspace, given: Mapping[str, Any]
) -> ProgramError | LoopError:
    """What certifies the errors, after the program is verified to be of the stated parameters if there are any."""
    stated = [Fraction(str(x)) for x in given.get("base_parameters", ())]
    if str(given["function"]) not in approximated(robot):
        raise NotCertified(f"approximate programs of this robot are of {', '.join(approximated(robot))}")
    try:
        return torque_error(robot, exact, program, where, stated)
    except Refuted as problem:
        raise NotCertified(f"the stored program is not that of the stated parameters: {problem}") from None


def _box(robot: Robot, data: Mapping[str, Any]) -> Workspace:
    """The box that the data state; BadData where the robot's limits do not allow for it."""
    box = {key: [float(x) for x in data["box"][key]] for key in ("lower", "upper", "speed", "acceleration")}
    if any(len(values) != robot.freedoms for values in box.values()):
        raise BadData(f"a short model of {robot.freedoms} joints needs so many numbers of each kind")
    ranges = {joint.name: (low, high) for joint, low, high in zip(robot.coordinates, box["lower"], box["upper"])}
    where = workspace(robot, ranges, speed=box["speed"], acceleration=box["acceleration"])
    if where.data() != box:
        raise BadData("the box is not one that the robot's limits allow for")
    return where
