"""Programs that were found before: taken from the package or a user's folder, and proved before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from secrets import randbits

from emdeg.errors import OffTheVariety, Refuted
from emdeg.programs.build import plain_programs
from emdeg.programs.ir import Program
from emdeg.programs.proof import PLAIN, verify
from emdeg.programs.rounding import WORK, check_rounding, states_of
from emdeg.programs.store import filed, set_aside, shipped
from emdeg.programs.verification import probed, reference_program
from emdeg.programs.weights import OPERATIONS, Weights, cost, label
from emdeg.robot import Robot


def on_file(
    robot: Robot,
    plain: Program,
    names: Sequence[str],
    weights: Weights = OPERATIONS,
    folder: Path | None = None,
) -> Program | None:
    """The cheapest program on file (or in `folder`) that computes what `plain` does; None if there is none.

    What lies in a folder that can be written is proved before it is used, and set aside where the proof fails. What
    comes with the package is believed, and is taken where a user's program is no cheaper.
    """
    labels = dict.fromkeys([label(weights), label(OPERATIONS)])
    found: list[tuple[float, Program, Path | None]] = []
    if folder is None:
        ours = (shipped(robot, names, each) for each in labels)
        found += [(cost(one, weights), one, None) for one in ours if one is not None]
    theirs = (filed(robot, names, each, folder) for each in labels)
    found += [(cost(one.program, weights), one.program, one.path) for one in theirs if one is not None]
    for _, one, path in sorted(found, key=lambda item: item[0]):  # of equal ones the package's
        if path is not None and (fault := _fault(one, plain, robot, tuple(names))) is not None:
            set_aside(path, fault)
        elif _same_interface(one, plain):
            return with_face(one, plain)
    return None


def with_face(found: Program, plain: Program) -> Program:
    """The program under the plain one's name, with its inputs and their labels."""
    return Program(plain.name, plain.inputs, found.ops, found.outputs)


LONGER = 4
"""A stored program has no more than so many times the plain one's operations, constants included."""


@lru_cache(maxsize=64)
def _fault(one: Program, plain: Program, robot: Robot, names: tuple[str, ...]) -> str | None:
    """What is wrong with a program that a stranger may have written; None where it is proved.

    It must equal the plain program, which would be used without it and is shorter than the independent formulation. The
    points are fresh, so that no program can be made to fit them, and so are the states; these are few, so that a
    command does not take longer for having found a program on file.
    """
    if not _same_interface(one, plain):
        return "its inputs or outputs are not the function's"
    if one.size > LONGER * plain.size + 1000:
        return f"it has {one.size} operations, where the plain program has {plain.size}"
    try:
        _prove(with_face(one, plain), plain, robot, names)
    except (Refuted, OffTheVariety, ValueError, ArithmeticError) as problem:
        return f"it is wrong: {problem}"
    return None


def _prove(one: Program, plain: Program, robot: Robot, names: tuple[str, ...]) -> None:
    """Nothing; Refuted or the like where a program is not the plain one, or rounds as it may not."""

    def grounds() -> list[Program]:
        further = [plain_programs(robot, names, factored=factored) for factored in (True, False)]
        return [*further[0], *further[1], reference_program(robot, names)]

    proof = verify(one, plain, seed=randbits(60), grounds=grounds)
    named = [index for index, whose in proof.divides_by if whose == PLAIN]
    states = states_of(one, robot, randbits(60), length=WORK)
    try:
        check_rounding(one, plain, states, named=named)
    except Refuted:  # a formulation of more steps may round more
        looked = probed(one, names)
        states = states_of(looked, robot, randbits(60), length=WORK)
        check_rounding(looked, reference_program(robot, names), states, named=named)


def _same_interface(one: Program, other: Program) -> bool:
    def face(p: Program) -> tuple[object, object]:
        return [(g.name, g.size) for g in p.inputs], [(g.name, g.shape) for g in p.outputs]

    return face(one) == face(other)
