"""A function's program with friction in it: the smallest one without, and the law added to its efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.mechanics import kind_of
from emdeg.mechanics.functions import CATALOGUE, WITH_FRICTION, known_functions, law_name
from emdeg.programs.build import plain_program
from emdeg.programs.ir import OutputGroup, Program, Slot
from emdeg.programs.simplification import fold_signs, prune, schedule
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot import Robot


def with_friction(robot: Robot, names: Sequence[str], smallest: Callable[[Sequence[str]], Program]) -> Program:
    """The program of functions with friction in them; `smallest` finds that of the functions without."""
    known_functions(names, robot)
    bare = smallest([name.removesuffix(WITH_FRICTION) for name in names])
    tracer = Tracer.like(bare)

    def lost(law: str) -> list[Traced]:
        traced = plain_program(robot, law)
        (efforts,) = tracer.outputs_of(traced, tracer.replay(traced)).values()
        return list(efforts)

    friction = lost("friction")

    def acting(slot: Slot) -> Traced | None:
        """Where efforts go in, what is lost of them does not act."""
        return tracer.entry(*slot) - friction[slot[1]] if slot[0] == "tau" else None

    outputs = dict(tracer.outputs_of(bare, tracer.replay(bare)))
    rubbed = tracer.outputs_of(bare, tracer.replay(bare, acting))
    for name in names:
        if not name.endswith(WITH_FRICTION):
            continue
        (output,) = (one.name for one in CATALOGUE[name].outputs)
        if "tau" in CATALOGUE[name].inputs:
            outputs[output] = rubbed[output]
        else:
            along = law_name(name, kind_of(robot).name)
            added = friction if along == "friction" else lost(along)
            outputs[output] = [x + f for x, f in zip(outputs[output], added)]
    shaped = {group.name: _shaped(group, outputs[group.name]) for group in bare.outputs}
    return schedule(fold_signs(prune(tracer.program("_".join(names), shaped))))


def _shaped(group: OutputGroup, entries: Sequence[Traced]) -> list:
    """Flat entries in the rows of their output."""
    rows = list(entries)
    for size in reversed(group.shape[1:]):
        rows = [rows[i : i + size] for i in range(0, len(rows), size)]
    return rows
