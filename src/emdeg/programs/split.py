"""A program in two: what can be computed less often, and what remains. Each part is a program.

Constants of symbolic parameters are computed once for a robot; values of the configuration alone may be
updated at a lower rate than torques.
"""

from __future__ import annotations

from emdeg.programs.ir import Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref, dependences, live, moved
from emdeg.programs.values import constants


def split_constants(program: Program) -> tuple[Program | None, Program]:
    """(parameters -> constants, the rest with `constants` as an input in their place).

    Without symbolic parameters there is no first part and the second is the program itself.
    """
    if not any(group.depends is Dependence.CONSTANTS for group in program.inputs):
        return None, program
    return split(program, Dependence.CONSTANTS, "constants")


def split_rates(program: Program) -> tuple[Program, Program]:
    """(configuration -> x, the rest with `x` as a further input)."""
    return split(program, Dependence.CONFIGURATION, "x")


def split(program: Program, level: Dependence, name: str) -> tuple[Program, Program]:
    """The part that depends on `level` at most, and the rest, which reads it from the input `name`.

    Numbers are not passed: they are literals in both. Inputs of the configuration are read where they are
    needed; parameters are passed on, so that the second part need not know them.
    """
    crossing = _crossing(program, level)
    passed = OutputGroup(name, (len(crossing),), tuple(Ref(value) for value in crossing))
    leaves = {value: Op(Kind.INPUT, payload=(name, place)) for place, value in enumerate(crossing)}
    handed = InputGroup(name, len(crossing), level)
    first = tuple(group for group in program.inputs if group.depends <= level)
    second = tuple(group for group in program.inputs if level is not Dependence.CONSTANTS or group.depends > level)
    suffix = "" if level is Dependence.CONSTANTS else "_rates"
    return (
        Program(f"{program.name}_{_SUFFIX[level]}", first, *_copied(program, {}, (passed,))),
        Program(program.name + suffix, (*second, handed), *_copied(program, leaves, program.outputs)),
    )


_SUFFIX = {Dependence.CONSTANTS: "constants", Dependence.CONFIGURATION: "configuration"}


def _crossing(program: Program, level: Dependence) -> list[int]:
    """The values of the first part that the second reads, in order."""
    needed, classes, numbers = live(program), dependences(program), constants(program)
    read = set(program.roots())
    for index, op in enumerate(program.ops):
        if needed[index] and classes[index] > level:
            read.update(op.args)
    return [
        index
        for index in sorted(read)
        if classes[index] <= level
        and index not in numbers
        and program.ops[index].kind is not Kind.ANGLE
        and not (program.ops[index].kind is Kind.INPUT and classes[index] is not Dependence.CONSTANTS)
        and (level is Dependence.CONSTANTS or classes[index] is not Dependence.CONSTANTS)
    ]


def _copied(
    program: Program, leaves: dict[int, Op], outputs: tuple[OutputGroup, ...]
) -> tuple[tuple[Op, ...], tuple[OutputGroup, ...]]:
    """What some outputs need, with the given values replaced by leaves."""
    wanted = {ref.value for group in outputs for ref in group.entries if ref.sign}
    for index in range(program.size - 1, -1, -1):
        if index in wanted and index not in leaves:
            wanted.update(program.ops[index].args)
    place: dict[int, int] = {}
    ops: list[Op] = []
    for index, op in enumerate(program.ops):
        if index in wanted:
            place[index] = len(ops)
            ops.append(leaves.get(index) or Op(op.kind, tuple(place[arg] for arg in op.args), op.payload))
    return tuple(ops), moved(outputs, place)
