"""Derivatives of what a tracer has recorded, recorded by the same tracer: tangents forwards, cotangents backwards.

A sweep reads every operation once. So a gradient costs a few times the function, however many inputs there are, and
shares with it whatever it can; a Hessian is the tangents, in every direction, of the operations of the gradient.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from emdeg.mechanics import Outputs, total
from emdeg.mechanics.functions import COTANGENT, TANGENT, Derivation, flat
from emdeg.programs.ir import Kind
from emdeg.programs.trace import Traced, Tracer

Arrays = Mapping[str, Sequence[Traced]]


def derived(how: Derivation, outputs: Outputs, arrays: Arrays, tracer: Tracer) -> Outputs:
    """The outputs of a function's derivative, from those of the function; `arrays` are the inputs of both."""
    inputs = how.of.inputs
    if how.kind == "jvp":
        seeds = [(x, t) for name in inputs for x, t in zip(arrays[name], arrays[name + TANGENT])]
        values = {one.name: outputs[one.name] for one in how.of.outputs}
        slopes = iter(tangents(tracer, seeds, flat(list(values.values()))))
        return {name + TANGENT: _refilled(value, slopes) for name, value in values.items()}
    weighted = [
        (y, c)
        for one in how.of.outputs
        for y, c in zip(flat(outputs[one.name]), arrays[one.name + COTANGENT], strict=True)
    ]
    x = [x for name in inputs for x in arrays[name]]
    gradient = cotangents(tracer, weighted, x)
    if how.kind == "hessian":
        columns = [tangents(tracer, [(x[j], tracer.number(1))], gradient[j:]) for j in range(len(x))]
        return {"H": [columns[j][i - j] for i in range(len(x)) for j in range(i + 1)]}
    ending = COTANGENT
    if how.kind == "hvp":
        along = [t for name in inputs for t in arrays[name + TANGENT]]
        gradient, ending = tangents(tracer, list(zip(x, along)), gradient), COTANGENT + TANGENT
    left = iter(gradient)
    return {name + ending: [next(left) for _ in arrays[name]] for name in inputs}


def tangents(tracer: Tracer, seeds: Iterable[tuple[Traced, Traced]], of: Sequence[Traced]) -> list[Traced]:
    """How these values change where inputs change as the seeds, (input, rate), say."""
    rates = {x.index: rate * x.sign for x, rate in seeds if not rate.is_zero}
    for index in _needed(tracer, of):
        if index not in rates:
            parts = [slope * rates[arg] for arg, slope in _slopes(tracer, index, rates)]
            if parts:
                rates[index] = total(parts)
    zero = tracer.number(0)
    return [rates.get(y.index, zero) * y.sign for y in of]


def cotangents(tracer: Tracer, weighted: Iterable[tuple[Traced, Traced]], by: Sequence[Traced]) -> list[Traced]:
    """The derivatives of the sum of value times weight, over (value, weight), by inputs."""
    zero, weighted = tracer.number(0), list(weighted)
    varying = _varying(tracer, [y for y, _ in weighted], by)
    weights: dict[int, Traced] = {}

    def give(index: int, weight: Traced) -> None:
        if index in varying:
            weights[index] = weights.get(index, zero) + weight

    for y, weight in weighted:
        give(y.index, weight * y.sign)
    for index in sorted(varying, reverse=True):
        weight = weights.get(index, zero)
        if weight.is_zero:
            continue
        op = tracer.ops[index]
        if op.kind is Kind.DIV:  # the quotient's weight over the divisor serves both
            above, below = op.args
            share = weight * _per(tracer, below)
            give(above, share)
            give(below, -(share * Traced(tracer, index, 1)) if below in varying else zero)
        else:
            for arg, slope in _slopes(tracer, index, varying):
                give(arg, slope * weight)
    return [weights.get(x.index, zero) * x.sign for x in by]


def _slopes(tracer: Tracer, index: int, by: Container[int]) -> Iterator[tuple[int, Traced]]:
    """(argument, derivative by it) of one operation, for arguments that count; one that stands twice comes twice."""
    op = tracer.ops[index]
    value, one = Traced(tracer, index, 1), tracer.number(1)
    args = [Traced(tracer, arg, 1) for arg in op.args]
    if not any(arg in by for arg in op.args):
        return
    match op.kind:
        case Kind.ADD:
            slopes = [one, one]
        case Kind.SUB:
            slopes = [one, -one]
        case Kind.NEG:
            slopes = [-one]
        case Kind.MUL:
            slopes = [args[1], args[0]]
        case Kind.DIV:
            per = _per(tracer, op.args[1])
            slopes = [per, -(value * per) if op.args[1] in by else one]
        case Kind.SQRT:
            slopes = [tracer.number(Fraction(1, 2)) / value]
        case Kind.SIN:
            slopes = [tracer.cosine(args[0])]
        case Kind.COS:
            slopes = [-tracer.sine(args[0])]
        case Kind.EXP:
            slopes = [value]
        case Kind.TANH:
            slopes = [one - value * value]
        case _:  # a sign does not change but where it jumps
            return
    yield from ((arg, slope) for arg, slope in zip(op.args, slopes) if arg in by)


def _per(tracer: Tracer, index: int) -> Traced:
    return tracer.number(1) / Traced(tracer, index, 1)


def _needed(tracer: Tracer, of: Iterable[Traced]) -> list[int]:
    """What these values are made of, themselves included, in order."""
    found = {y.index for y in of if not y.is_zero}
    stack = list(found)
    while stack:
        for arg in tracer.ops[stack.pop()].args:
            if arg not in found:
                found.add(arg)
                stack.append(arg)
    return sorted(found)


def _varying(tracer: Tracer, of: Iterable[Traced], by: Iterable[Traced]) -> set[int]:
    """What of these values' making changes with inputs."""
    varying = {x.index for x in by}
    varying.update(i for i in _needed(tracer, of) if any(arg in varying for arg in tracer.ops[i].args))
    return varying


def _refilled(like: Any, values: Iterator[Traced]) -> Any:
    return [_refilled(row, values) for row in like] if isinstance(like, list | tuple) else next(values)
