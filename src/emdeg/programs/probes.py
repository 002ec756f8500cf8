"""What a proof looks at of gradients and Hessians: one number along a direction that the program does not know.

A gradient g is right if g . p is, for every p; a symmetric H if p . H p is. Both are derivatives of the function along
a line, which dual numbers of an independent formulation have at little cost (`emdeg.mechanics.functions.derived`);
p is one more input of what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from emdeg.errors import Refuted
from emdeg.mechanics.functions import CATALOGUE, PROBE, Derivation, input_sizes, probe_name
from emdeg.programs.ir import NOTHING, Dependence, InputGroup, Kind, Op, OutputGroup, Program, Ref, Slot
from emdeg.programs.values import evaluate
from emdeg.robot import Robot


def _looked_at(names: Sequence[str]) -> list[Derivation]:
    """The derivatives among functions that are not compared entry by entry."""
    found = [CATALOGUE[name].derivation for name in names]
    return [one for one in found if one is not None and one.kind != "jvp"]


def probe_sizes(names: Sequence[str], robot: Robot) -> dict[str, int]:
    """The probes that a proof of these functions has, by name, with their sizes."""
    return {
        array + PROBE: size for how in _looked_at(names) for array, size in input_sizes([how.of.name], robot).items()
    }


def probed(program: Program, names: Sequence[str]) -> Program:
    """The program with its gradients and Hessians along probes in their place; its own operations stay first."""
    if not _looked_at(names):
        return program
    ops, inputs = list(program.ops), {group.name: group for group in program.inputs}
    given = {group.name: group for group in program.outputs}
    outputs: list[OutputGroup] = []

    def put(kind: Kind, *args: int, payload: Slot | None = None) -> int:
        ops.append(Op(kind, args, payload))
        return len(ops) - 1

    for name in names:
        how, own = CATALOGUE[name].derivation, [one.name for one in CATALOGUE[name].outputs]
        if how is None or how.kind == "jvp":
            outputs += [given[one] for one in own if one in given]
            continue
        for array in how.of.inputs:
            size = inputs[array].size if array in inputs else 0
            inputs.setdefault(array + PROBE, InputGroup(array + PROBE, size, Dependence.RATES))
        p = [
            put(Kind.INPUT, payload=(array + PROBE, k))
            for array in how.of.inputs
            for k in range(inputs[array + PROBE].size)
        ]
        entries = [ref for one in own if one in given for ref in given[one].entries]
        if how.kind == "hessian":
            products = [(i, j, put(Kind.MUL, p[i], p[j])) for i in range(len(p)) for j in range(i + 1)]
            p = [at if i == j else put(Kind.ADD, at, at) for i, j, at in products]
        if len(p) != len(entries):
            raise Refuted(f"{program.name}: the outputs of {name} have {len(entries)} entries, not {len(p)}")
        total: Ref = NOTHING
        for factor, ref in zip(p, entries):
            if ref.sign:
                term = put(Kind.MUL, factor, ref.value)
                if not total.sign:
                    total = Ref(term, ref.sign)
                else:  # total.sign (total +- term)
                    kind = Kind.ADD if ref.sign == total.sign else Kind.SUB
                    total = Ref(put(kind, total.value, term), total.sign)
        outputs.append(OutputGroup(probe_name(how), (), (total,)))
    return replace(program, inputs=tuple(inputs.values()), ops=tuple(ops), outputs=tuple(outputs))


Run = Callable[[Mapping[str, NDArray]], dict[str, NDArray]]


def probing(run: Run, program: Program, names: Sequence[str]) -> Run:
    """What computes the outputs of `program`, made to compute those of `probed(program, names)`."""
    if not _looked_at(names):
        return run
    # A program that hands on what was computed, looked at as any other is.
    groups = [InputGroup(f"computed_{one.name}", len(one.entries), Dependence.RATES) for one in program.outputs]
    slots = [(group.name, k) for group in groups for k in range(group.size)]
    places = {slot: k for k, slot in enumerate(slots)}
    handed = tuple(
        replace(one, entries=tuple(Ref(places[group.name, k]) for k in range(group.size)))
        for one, group in zip(program.outputs, groups)
    )
    ops = tuple(Op(Kind.INPUT, payload=slot) for slot in slots)
    looking = probed(Program(program.name, (*program.inputs, *groups), ops, handed), names)

    def looked(states: Mapping[str, NDArray]) -> dict[str, NDArray]:
        own = {group.name: states[group.name] for group in program.inputs}
        found = run(own)
        rows = len(next(iter(states.values())))
        computed = {group.name: np.reshape(found[one.name], (rows, -1)) for one, group in zip(program.outputs, groups)}
        return evaluate(looking, {**states, **computed}, next(iter(computed.values())).dtype.type)

    return looked
