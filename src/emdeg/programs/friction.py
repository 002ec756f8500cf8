"""A function's program with friction in it: the smallest one without, and the law added to its efforts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from emdeg.dynamics import total
from emdeg.dynamics.functions import CATALOGUE, WITH_FRICTION, known_functions, ways_of
from emdeg.errors import CannotJoin
from emdeg.programs.build import plain_program
from emdeg.programs.differentiation import Values, tangents
from emdeg.programs.ir import InputGroup, OutputGroup, Program, Slot
from emdeg.programs.simplification import fold_signs, prune, schedule
from emdeg.programs.trace import Traced, Tracer
from emdeg.robot import Robot


def with_friction(robot: Robot, names: Sequence[str], smallest: Callable[[Sequence[str]], Program]) -> Program:
    """The program of functions with friction in them; `smallest` finds that of the functions without."""
    known_functions(names, robot)
    without = [name.removesuffix(WITH_FRICTION) for name in names]
    if len(set(without)) < len(names) == len(set(names)):
        raise CannotJoin(f"{' and '.join(names)} cannot be one program: two have the same outputs")
    bare = smallest(without)
    tracer = Tracer.like(bare)

    def lost(law: str) -> list[Traced]:
        traced = plain_program(robot, law)
        (efforts,) = tracer.outputs_of(traced, tracer.replay(traced)).values()
        return list(efforts)

    friction = lost("friction")

    def acting(slot: Slot) -> Traced | None:
        """Where efforts go in, what is lost of them does not act."""
        return tracer.entry(*slot) - friction[slot[1]] if slot[0] == "tau" else None

    outputs: dict[str, Sequence[Traced]] = dict(tracer.outputs_of(bare, tracer.replay(bare)))
    rubbed = tracer.outputs_of(bare, tracer.replay(bare, acting))
    for name in names:
        if not name.endswith(WITH_FRICTION):
            continue
        acts, own = "tau" in CATALOGUE[name].inputs, [one.name for one in CATALOGUE[name].outputs]
        if acts:
            outputs |= {output: rubbed[output] for output in own}
        if name.removesuffix(WITH_FRICTION).endswith("_derivatives"):
            for group in bare.inputs:
                if group.name in ("q", "qd"):
                    _differentiate(tracer, friction, group, outputs, acts)
        elif not acts:
            along, (output,) = ways_of(name, robot).law, own
            added = friction if along == "friction" else lost(along)
            outputs[output] = [x + f for x, f in zip(outputs[output], added)]
    shaped = {group.name: _shaped(group, outputs[group.name]) for group in bare.outputs}
    return schedule(fold_signs(prune(tracer.program("_".join(names), shaped))))


def _differentiate(
    tracer: Tracer, lost: Values, by: InputGroup, outputs: dict[str, Sequence[Traced]], acts: bool
) -> None:
    """What friction changes of the derivatives by an array, of efforts or, where it `acts`, of accelerations."""
    n, many, one = by.size, len(lost), tracer.number(1)
    steep = [tangents(tracer, [(tracer.entry(by.name, k), one)], lost) for k in range(n)]
    if acts:  # dqdd/dx - (dqdd/dtau) (df/dx)
        name, M = f"dqdd_d{by.name}", outputs["dqdd_dtau"]
        more = [-total([M[i * many + m] * steep[k][m] for m in range(many)]) for i in range(n) for k in range(n)]
    else:
        name, more = f"dtau_d{by.name}", [steep[k][m] for m in range(many) for k in range(n)]
    outputs[name] = [x + f for x, f in zip(outputs[name], more, strict=True)]


def _shaped(group: OutputGroup, entries: Sequence[Traced]) -> list:
    """Flat entries in the rows of their output."""
    rows = list(entries)
    for size in reversed(group.shape[1:]):
        rows = [rows[i : i + size] for i in range(0, len(rows), size)]
    return rows
