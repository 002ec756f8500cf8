"""A short model as plain data: what it computes, over which box, how wrong it can be; and how each is shown again.

The entries are stated as formulas with exact numbers, so the data can be judged without knowing how the model was
found: a program of it must equal these entries (modulo primes), and the certified error is that between these entries
and the robot's own, derived anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra import Generator
from emdeg.approximation.abbreviation import Abbreviated
from emdeg.approximation.loop_error import LoopError, error_of_parameters
from emdeg.approximation.model_error import largest_efforts
from emdeg.approximation.program_error import EFFORTS, ProgramError, written_rates
from emdeg.approximation.row_error import RowObjective, row
from emdeg.approximation.short_model import FullModel, ShortModel, full_model
from emdeg.approximation.short_program import ShortProgram
from emdeg.bounds import clock, supremum
from emdeg.documents import terms_data
from emdeg.equations import entry_name, formula
from emdeg.errors import BadData, NotCertified, OverBudget, Refuted, RobotError
from emdeg.programs import Dependence, Program, Traced, Tracer, plain_program, verify_program
from emdeg.robot import Robot, Workspace, workspace
from emdeg.runtime import one_thread

DIGITS = 6
"""Of a stated bound, rounded upwards: another processor's last digit is not to matter."""
SECONDS = 60.0
"""For each joint's bound to be reached again; a search that reached it once needs no longer than it did then."""


@dataclass(frozen=True)
class StatedModel:
    """A short model's entries, its box, its certified errors and the largest efforts [N m, N], by joint."""

    short: ShortModel
    where: Workspace
    errors: tuple[float, ...]
    largest: tuple[float, ...]

    def data(self) -> dict[str, Any]:
        entries = {name: terms_data(value) for name, value in self.short.entries.items() if value}
        return {
            "box": self.where.data(),
            "entries": entries,
            "one_sided": sorted(self.short.one_sided),
            "certified_error": list(self.errors),
            "largest_effort": list(self.largest),
        }


def stated(found: Abbreviated) -> StatedModel:
    """What an abbreviated model states, the bounds rounded upwards and the efforts downwards."""
    errors = tuple(_rounded(error.bound, math.ceil) for error in found.errors)
    return StatedModel(found.short, found.where, errors, tuple(_rounded(peak, math.floor) for peak in found.largest))


def _rounded(value: float, to: Any) -> float:
    if not value:
        return 0.0
    shift = 10.0 ** (DIGITS - 1 - math.floor(math.log10(value)))
    return to(value * shift) / shift


def read_stated(robot: Robot, data: Any) -> StatedModel:
    """What `Stated.data` wrote about a robot's short model; BadData where it is something else."""
    try:
        numbers = [[float(x) for x in data[key]] for key in ("certified_error", "largest_effort")]
        where = _box(robot, data)
        if any(len(values) != robot.n for values in numbers):
            raise BadData(f"a short model of {robot.n} joints needs so many numbers of each kind")
        full = full_model(robot)
        return StatedModel(
            _model(full, data["entries"], data["one_sided"]), where, tuple(numbers[0]), tuple(numbers[1])
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise BadData(f"it is no short model: {type(problem).__name__} {problem}") from None


def _model(full: FullModel, entries: Mapping[str, Any], one_sided: Sequence[str]) -> ShortModel:
    """The short model of these entries: each a formula times the number 1."""
    algebra = full.lumped.algebra
    letters: dict[str, Generator] = {algebra.letter(generator): generator for generator in algebra.generators}
    names = full.lumped.expansions
    if odd := sorted({*entries, *one_sided} - set(names)):
        raise BadData(f"{odd[0][:40]!r} is no entry of this robot's equations")
    kept = {
        name: (("one", formula(algebra, letters, entries[name], name)),) if name in entries else () for name in names
    }
    return ShortModel(full, kept, {"one": Fraction(1)}, {}, frozenset(one_sided))


def inverse_dynamics_of(short: ShortModel) -> Program:
    """q, qd, qdd -> tau from the entries as they stand: what a program of a short model is proved equal to."""
    tracer, n = Tracer(), short.full.robot.n
    labels = tuple(joint.name for joint in short.full.robot.joints)
    q = tracer.inputs("q", n, Dependence.CONFIGURATION, labels)
    qd, qdd = (tracer.inputs(name, n, Dependence.RATES) for name in ("qd", "qdd"))

    def letter(generator: Generator) -> Traced:
        if not isinstance(generator.of, int):
            raise BadData(f"{generator} is no function of the joints")
        at = q[generator.of - 1]
        if generator.kind == "displacement":
            return at
        return tracer.sincos_of(at)[generator.kind == "cosine"]

    def value(entry: str, *of: int) -> Traced:
        found = short.entries.get(entry_name(entry, *of))
        return tracer.number(0) if found is None else found.map(letter, tracer.number)

    joints = range(1, n + 1)
    tau = []
    for i in joints:
        total = value("g", i)
        for j in joints:
            pair = entry_name("M", min(i, j), max(i, j))
            if i >= j or pair not in short.one_sided:
                total = total + value("M", min(i, j), max(i, j)) * qdd[j - 1]
            total = total + value("c", i, j) * qd[j - 1] * qd[j - 1]
            for k in range(j + 1, n + 1):
                total = total + value("b", i, j, k) * qd[j - 1] * qd[k - 1]
        tau.append(total)
    return tracer.program("inverse_dynamics", {"tau": tau})


def show_again(model: StatedModel, seconds: float = SECONDS) -> None:
    """NotCertified unless the stated errors hold over the box, and efforts as large as stated occur in it.

    `seconds`: for each joint; a bound that was reached once is reached again, and the search ends there.
    """
    for number, (joint, error) in enumerate(zip(model.where.joints, model.errors), 1):
        part = row(number, model.short.row_difference(number), model.where)
        if part is None:
            continue
        reach = RowObjective(part).above
        again = supremum(part.formulas, reach, seconds=seconds, enough=lambda x, e=error: x <= e, clock=clock)
        if not again.bound <= error:
            raise NotCertified(
                f"the stated error of {joint}, {error:g}, is not shown: the bound found is {again.bound:g}"
            )
    for joint, peak, again in zip(model.where.joints, model.largest, largest_efforts(model.short.full, model.where)):
        if not peak <= again * (1 + 1e-9):
            raise NotCertified(f"an effort of {peak:g} at {joint} is stated; the largest found is {again:g}")


def stated_program(found: ShortProgram) -> dict[str, Any]:
    """What a short program states: its function, its box, the certified and the found errors [SI units], by output."""
    exact = found.program == found.exact
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
    if not written_rates(program) <= EFFORTS:
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
    """What certifies the errors; of a mechanism with loops, after the program is proved to be of the parameters."""
    if robot.is_tree:
        return ProgramError(exact, program, where, tuple(joint.kind == "revolute" for joint in robot.coordinates))
    stated = [Fraction(str(x)) for x in given["base_parameters"]]
    if str(given["function"]) != "inverse_dynamics":
        raise NotCertified("short programs of a mechanism are of its inverse dynamics")
    try:
        return error_of_parameters(robot, exact, program, stated, where)
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
