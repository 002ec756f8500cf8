"""A long program in stages: some operations after the others, what later ones need kept in an array between them.

A compiler that gives a value of a long function a register for as long as it lives, or none at all, gives most of them
none. In a stage few values live, and those that wait for a later stage are not among them.
"""

from __future__ import annotations

from dataclasses import dataclass

from emdeg.programs.ir import Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref, Slot, live, uses
from emdeg.programs.simplification import angles_first, copied
from emdeg.programs.values import ARITHMETIC, constants

HELD = "held"
"""The array of what stages hand on."""
RESULTS = "results"
"""The output of a stage."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Operations that follow each other, as a program that reads the inputs and `HELD`.

    Entry k of its only output belongs in `places[k]`: `HELD` or an output of the whole program, and where in it. An
    output may lie where an input does: no stage that reads inputs, nor one before it, stores in outputs.
    """

    program: Program
    places: tuple[Slot, ...]


def in_stages(program: Program, length: int) -> list[Stage]:
    """The program as stages of about `length` operations.

    No stages where sines and cosines cannot come first: a pair of them must not be computed in two.
    """
    program = angles_first(program)
    ops, stage = program.ops, _stage_of(program, length)
    if any(own and ops[index].kind in (Kind.SIN, Kind.COS) for index, own in stage.items()):
        return []
    last: dict[int, int] = {}
    """The last stage that reads a value."""
    for index, own in stage.items():
        last |= {arg: max(own, last.get(arg, 0)) for arg in ops[index].args}
    storing = 1 + max((own for value, own in last.items() if ops[value].kind is Kind.INPUT), default=-1)
    results: list[list[tuple[Slot, Ref]]] = [[] for _ in range(1 + max([storing, *stage.values()]))]
    for group in program.outputs:
        for place, ref in enumerate(group.entries):
            when = max(storing, stage.get(ref.value, 0) if ref.sign else 0)
            results[when].append(((group.name, place), ref))
            last[ref.value] = max(when, last.get(ref.value, 0))
    # Inputs are read where they lie; one that is an output as well is taken along before that is stored.
    roots, given = set(program.roots()), {v for v in stage if ops[v].kind is Kind.INPUT}
    handed = [v for v, own in stage.items() if own < last[v] and (v not in given or v in roots)]
    slots = {value: (HELD, place) for place, value in enumerate(handed)}
    inputs = (*program.inputs, InputGroup(HELD, len(slots), Dependence.RATES))
    found = []
    for own, stored in enumerate(results):
        here = [v for v in handed if stage[v] < own and (v not in given or own >= storing)]
        leaves = {value: Op(Kind.INPUT, payload=slots[value]) for value in here}
        entries = [(slot, Ref(value)) for value, slot in slots.items() if stage[value] == own] + stored
        output = OutputGroup(RESULTS, (len(entries),), tuple(ref for _, ref in entries))
        made = Program(program.name, inputs, *copied(program, leaves, (output,)))
        found.append(Stage(made, tuple(slot for slot, _ in entries)))
    return found


def _stage_of(program: Program, length: int) -> dict[int, int]:
    """The stage of every value that is needed and no literal; inputs are there from the first on."""
    needed, numbers, kinds = live(program), constants(program), [op.kind for op in program.ops]
    kept = [i for i, kind in enumerate(kinds) if needed[i] and i not in numbers and kind is not Kind.ANGLE]
    computed = [index for index in kept if kinds[index] is not Kind.INPUT]
    stage = dict.fromkeys(kept, 0) | {index: place // length for place, index in enumerate(computed)}
    times, roots = uses(program), set(program.roots())
    reader = {arg: index for index in computed for arg in program.ops[index].args}
    for index in reversed(computed):
        if times[index] == 1 and index not in roots and kinds[index] in ARITHMETIC:
            stage[index] = stage[reader[index]]  # it stands inside the expression that reads it
    return stage
