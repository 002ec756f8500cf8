"""A function's program with friction in it: the smallest one without, and the law added to its efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.mechanics.functions import WITH_FRICTION, known_functions
from emdeg.programs.build import plain_program
from emdeg.programs.ir import Kind, OutputGroup, Program
from emdeg.programs.simplification import fold_signs, prune, schedule
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot import Robot


def with_friction(robot: Robot, names: Sequence[str], smallest: Callable[[Sequence[str]], Program]) -> Program:
    """The program of functions with friction in them; `smallest` finds that of the functions without."""
    known_functions(names, robot)
    bare = smallest([name.removesuffix(WITH_FRICTION) for name in names])
    law = plain_program(robot, "friction")
    tracer = Tracer.like(bare)
    lost = _replayed(law, tracer)[law.outputs[0].name]
    acts = any(group.name == "tau" for group in bare.inputs)  # efforts go in: what is lost of them does not act
    outputs = _replayed(bare, tracer, lost if acts else None)
    if not acts:
        rubbed = {"inverse_dynamics": "tau", "bias": "h"}
        for name in names:
            output = rubbed.get(name.removesuffix(WITH_FRICTION)) if name.endswith(WITH_FRICTION) else None
            if output is not None:
                outputs[output] = [x + f for x, f in zip(outputs[output], lost)]
    shaped = {group.name: _shaped(group, outputs[group.name]) for group in bare.outputs}
    return schedule(fold_signs(prune(tracer.program("_".join(names), shaped))))


def _replayed(program: Program, tracer: Tracer, lost: Sequence[Traced] | None = None) -> dict[str, list[Traced]]:
    """The outputs of a program written anew, flat; `lost` is taken from the efforts that go in."""
    values: list[Traced] = []
    for op in program.ops:
        value = tracer.apply(op, [values[arg] for arg in op.args])
        if lost is not None and op.kind is Kind.INPUT and op.slot[0] == "tau":
            value = value - lost[op.slot[1]]
        values.append(value)
    zero = tracer.number(0)
    return {
        group.name: [values[ref.value] * ref.sign if ref.sign else zero for ref in group.entries]
        for group in program.outputs
    }


def _shaped(group: OutputGroup, entries: Sequence[Traced]) -> list:
    """Flat entries in the rows of their output."""
    rows = list(entries)
    for size in reversed(group.shape[1:]):
        rows = [rows[i : i + size] for i in range(0, len(rows), size)]
    return rows
