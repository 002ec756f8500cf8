"""Passes: each a pure function from a program to a program that computes the same with no more operations."""

from __future__ import annotations

from emdeg.programs.factor import factor
from emdeg.programs.ir import Kind, Op, OutputGroup, Program, Ref, count, live, moved
from emdeg.programs.network import signed
from emdeg.programs.schedule import schedule
from emdeg.programs.trace import Traced, Tracer


def simplify(program: Program) -> Program:
    """The program after all passes, ready to be emitted."""
    program = retrace(program)
    smaller = factor(program)
    if count(smaller).total < count(program).total:
        program = smaller
    return schedule(fold_signs(prune(program)))


def prune(program: Program) -> Program:
    """The program without what no output needs."""
    needed = live(program)
    place: dict[int, int] = {}
    ops: list[Op] = []
    for index, op in enumerate(program.ops):
        if needed[index]:
            place[index] = len(ops)
            ops.append(Op(op.kind, tuple(place[arg] for arg in op.args), op.payload))
    return Program(program.name, program.inputs, tuple(ops), moved(program.outputs, place))


def retrace(program: Program) -> Program:
    """The program with equal values merged, also up to sign, and numbers folded."""
    tracer = Tracer.like(program)
    values: list[Traced] = []
    for op in program.ops:
        values.append(tracer.apply(op, [values[arg] for arg in op.args]))
    outputs = tuple(
        OutputGroup(
            group.name,
            group.shape,
            tuple(signed(values[ref.value], ref.sign).ref if ref.sign else ref for ref in group.entries),
        )
        for group in program.outputs
    )
    return prune(Program(program.name, program.inputs, tuple(tracer.ops), outputs))


def fold_signs(program: Program) -> Program:
    """The program with each difference turned round that is only ever read negated, by outputs."""
    read = {arg for op in program.ops for arg in op.args}
    positive = {ref.value for group in program.outputs for ref in group.entries if ref.sign > 0}
    turned = {
        index
        for index, op in enumerate(program.ops)
        if op.kind is Kind.SUB and index not in read and index not in positive
    }
    ops = tuple(Op(Kind.SUB, op.args[::-1]) if index in turned else op for index, op in enumerate(program.ops))
    outputs = tuple(
        OutputGroup(
            group.name,
            group.shape,
            tuple(Ref(r.value, -r.sign) if r.sign and r.value in turned else r for r in group.entries),
        )
        for group in program.outputs
    )
    return Program(program.name, program.inputs, ops, outputs)
