"""Programs that are wrong, each in a way that some check would let pass: what a forger files or certifies."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from emdeg.algebra import P
from emdeg.programs.ir import NOTHING, Kind, Op, OutputGroup, Program, Ref

Forgery = Callable[[Program], Program]


def with_last_output(program: Program, ops: list[Op], at: int) -> Program:
    """The program with more operations at its end, the value `at` in the place of its last output that is not zero."""
    group, place = [(g, k) for g in program.outputs for k, ref in enumerate(g.entries) if ref.sign][-1]
    entries = list(group.entries)
    entries[place] = Ref(at, entries[place].sign)
    outputs = tuple(OutputGroup(g.name, g.shape, tuple(entries)) if g is group else g for g in program.outputs)
    return replace(program, ops=(*program.ops, *ops), outputs=outputs)


def last_output(program: Program) -> int:
    return list(program.roots())[-1]


def number(value: Fraction | int) -> Op:
    return Op(Kind.NUMBER, payload=Fraction(value))


def a_sine(program: Program) -> int:
    return next(index for index, op in enumerate(program.ops) if op.kind is Kind.SIN)


def vanishing_divisor(program: Program) -> Program:
    """x s / s: nothing where a sine vanishes, as it does at home."""
    x, s, n = last_output(program), a_sine(program), program.size
    return with_last_output(program, [Op(Kind.MUL, (x, s)), Op(Kind.DIV, (n, s))], n + 1)


def cancellation(program: Program) -> Program:
    """x + 1e25 - 1e25: exact in a field, nothing left of x in doubles."""
    x, n = last_output(program), program.size
    ops = [number(10**25), Op(Kind.ADD, (x, n)), Op(Kind.SUB, (n + 1, n))]
    return with_last_output(program, ops, n + 2)


def congruent_constant(program: Program) -> Program:
    """A constant replaced by one that is the same modulo 2^61 - 1."""
    place = next(index for index, op in enumerate(program.ops) if op.kind is Kind.NUMBER)
    ops = list(program.ops)
    ops[place] = number(ops[place].number + P)
    return replace(program, ops=tuple(ops))


def multiple_of_the_prime(program: Program) -> Program:
    """x + (2^61 - 1) y."""
    x, n = last_output(program), program.size
    ops = [number(P), Op(Kind.MUL, (n, x)), Op(Kind.ADD, (x, n + 1))]
    return with_last_output(program, ops, n + 2)


def wrong_root(program: Program) -> Program:
    """The root of x squared, which is x where x is positive."""
    x, n = last_output(program), program.size
    return with_last_output(program, [Op(Kind.MUL, (x, x)), Op(Kind.SQRT, (n,))], n + 1)


def zeros(program: Program) -> Program:
    """Nothing at all, very cheaply."""
    outputs = tuple(replace(group, entries=(NOTHING,) * len(group.entries)) for group in program.outputs)
    return replace(program, ops=program.ops[:1], outputs=outputs)


def swapped_outputs(program: Program) -> Program:
    """The first output's entries backwards."""
    first, *rest = program.outputs
    return replace(program, outputs=(replace(first, entries=first.entries[::-1]), *rest))


FORGERIES: Mapping[str, Forgery] = {
    one.__name__: one
    for one in (
        vanishing_divisor,
        cancellation,
        congruent_constant,
        multiple_of_the_prime,
        wrong_root,
        zeros,
        swapped_outputs,
    )
}

_SWAPS = {Kind.ADD: Kind.SUB, Kind.SUB: Kind.ADD, Kind.MUL: Kind.ADD, Kind.SIN: Kind.COS, Kind.COS: Kind.SIN}


def mutated(program: Program, rng: random.Random) -> Program:
    """The program with one operation changed: another kind, other arguments, another number, another sign."""
    ops, outputs = list(program.ops), list(program.outputs)
    place = rng.randrange(len(ops))
    op = ops[place]
    if op.kind is Kind.NUMBER:
        ops[place] = number(op.number * rng.choice([-1, 2, Fraction(1, 3)]) + rng.choice([0, P, Fraction(1, 10**9)]))
    elif op.kind in _SWAPS and rng.random() < 0.5:
        ops[place] = Op(_SWAPS[op.kind], op.args)
    elif len(op.args) == 2 and place > 1:
        ops[place] = Op(op.kind, (op.args[0], rng.randrange(place)))
    else:
        which = rng.randrange(len(outputs))
        group = outputs[which]
        k = rng.randrange(len(group.entries))
        entries = list(group.entries)
        entries[k] = Ref(entries[k].value, -entries[k].sign or 1)
        outputs[which] = replace(group, entries=tuple(entries))
    return replace(program, ops=tuple(ops), outputs=tuple(outputs))
