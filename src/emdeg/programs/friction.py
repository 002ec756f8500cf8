"""A function's program with friction in it: the smallest one without, and the law added to its efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.mechanics.functions import WITH_FRICTION, known_functions
from emdeg.programs.build import plain_program
from emdeg.programs.ir import OutputGroup, Program, Slot
from emdeg.programs.simplification import fold_signs, prune, schedule
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot import Robot


def with_friction(robot: Robot, names: Sequence[str], smallest: Callable[[Sequence[str]], Program]) -> Program:
    """The program of functions with friction in them; `smallest` finds that of the functions without."""
    known_functions(names, robot)
    bare = smallest([name.removesuffix(WITH_FRICTION) for name in names])
    law = plain_program(robot, "friction")
    tracer = Tracer.like(bare)
    (lost,) = tracer.outputs_of(law, tracer.replay(law)).values()
    acts = any(group.name == "tau" for group in bare.inputs)

    def acting(slot: Slot) -> Traced | None:
        """Where efforts go in, what is lost of them does not act."""
        return tracer.entry(*slot) - lost[slot[1]] if slot[0] == "tau" else None

    outputs = tracer.outputs_of(bare, tracer.replay(bare, acting))
    if not acts:
        rubbed = {"inverse_dynamics": "tau", "bias": "h"}
        for name in names:
            output = rubbed.get(name.removesuffix(WITH_FRICTION)) if name.endswith(WITH_FRICTION) else None
            if output is not None:
                outputs[output] = [x + f for x, f in zip(outputs[output], lost)]
    shaped = {group.name: _shaped(group, outputs[group.name]) for group in bare.outputs}
    return schedule(fold_signs(prune(tracer.program("_".join(names), shaped))))


def _shaped(group: OutputGroup, entries: Sequence[Traced]) -> list:
    """Flat entries in the rows of their output."""
    rows = list(entries)
    for size in reversed(group.shape[1:]):
        rows = [rows[i : i + size] for i in range(0, len(rows), size)]
    return rows
