"""Derivatives of what a tracer has recorded, recorded by the same tracer: tangents forwards, cotangents backwards.

A sweep reads every operation once. So a gradient costs a few times the function, however many inputs there are, and
shares with it whatever it can; a Hessian is the tangents, in every direction, of the operations of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from emdeg.algebra.linear import invert_symmetric, product, solve_symmetric, transposed
from emdeg.dynamics import Balance, Outputs, total
from emdeg.dynamics.functions import COTANGENT, TANGENT, Derivation, flat
from emdeg.programs.ir import Kind, OutputGroup, Program
from emdeg.programs.simplification import included
from emdeg.programs.trace import Traced, Tracer

Values = Sequence[Traced]
Arrays = Mapping[str, Values]
Gradient = Callable[[Values, Values], Sequence[Any]]
"""Outputs and their weights -> the gradient of the weighted sum in all inputs."""


def derived(
    how: Derivation,
    outputs: Outputs,
    arrays: Arrays,
    tracer: Tracer,
    balance: Balance | None = None,
    gradient: Gradient | None = None,
) -> Outputs:
    """The outputs of a function's derivative, from those of the function; `arrays` are the inputs of both.

    Where the outputs keep a `balance`, that is differentiated in their place; where their `gradient` is known, that.
    """
    x = [x for name in how.of.inputs for x in arrays[name]]
    y = [lifted(tracer, v) for one in how.of.outputs for v in flat(outputs[one.name])]
    t = [t for name in how.of.inputs for t in arrays.get(name + TANGENT, ())]
    c = [c for one in how.of.outputs for c in arrays.get(one.name + COTANGENT, ())]
    if balance is not None:
        sweeps: Sweeps = BalancedSweeps(tracer, x, y, balance)
    elif gradient is not None:
        sweeps = GradientSweeps(tracer, x, y, gradient)
    else:
        sweeps = Sweeps(tracer, x, y)
    if how.kind == "jvp":
        slopes = iter(sweeps.jvp(t))
        return {one.name + TANGENT: _refilled(outputs[one.name], slopes) for one in how.of.outputs}
    if how.kind == "hessian":
        return {"H": sweeps.hessian(c)}
    found, ending = (sweeps.vjp(c), COTANGENT) if how.kind == "vjp" else (sweeps.hvp(c, t), COTANGENT + TANGENT)
    left = iter(found)
    return {name + ending: [next(left) for _ in arrays[name]] for name in how.of.inputs}


def derivative_of_solution(how: Derivation, like: Program, efforts: Program, mass: Program) -> Program:
    """A derivative of forward dynamics from programs of inverse dynamics and of the mass matrix.

    The accelerations are solved for, and the efforts at them differentiated; `like` has its name and inputs.
    """
    tracer = Tracer.like(like)
    arrays = {group.name: [tracer.entry(group.name, k) for k in range(group.size)] for group in like.inputs}
    tau, zero, one = arrays["tau"], tracer.number(0), tracer.number(1)
    n = len(tau)

    def free(qdd: Values) -> list[Traced]:
        """What is left of the drives' efforts at these accelerations."""
        (needed,) = included(tracer, efforts, {**arrays, "qdd": qdd})
        return [t - e for t, e in zip(tau, needed, strict=True)]

    (entries,) = included(tracer, mass, arrays)
    M = [entries[i * n : (i + 1) * n] for i in range(n)]
    qdd = [lifted(tracer, x) for x in solve_symmetric(M, free([zero] * n), one)]
    balance = Balance(free(qdd), lambda b: solve_symmetric(M, b, one), lambda: invert_symmetric(M, one))
    return closed(tracer, derived(how, {"qdd": qdd}, arrays, tracer, balance), like)


def closed(tracer: Tracer, found: Outputs, like: Program) -> Program:
    """What a tracer has recorded, with outputs shaped like a program's."""
    entries = {name: tuple(lifted(tracer, value).ref for value in flat(own)) for name, own in found.items()}
    shaped = tuple(OutputGroup(group.name, group.shape, entries[group.name]) for group in like.outputs)
    return Program(like.name, like.inputs, tuple(tracer.ops), shaped)


@dataclass(frozen=True)
class Sweeps:
    """The derivatives of y by x, both of a tracer."""

    tracer: Tracer
    x: Values
    y: Values

    def jvp(self, t: Values) -> list[Traced]:
        return tangents(self.tracer, zip(self.x, t), self.y)

    def vjp(self, c: Values) -> list[Traced]:
        return cotangents(self.tracer, zip(self.y, c), self.x)

    def hvp(self, c: Values, t: Values) -> list[Traced]:
        return tangents(self.tracer, zip(self.x, t), self.vjp(c))

    def hessian(self, c: Values) -> list[Traced]:
        """The lower triangle row by row."""
        return _triangle(self._columns(self.vjp(c)))

    def _columns(self, gradient: Values, held: Values = ()) -> list[list[Traced]]:
        """Of every column of the gradient's derivatives what stands on the diagonal and below."""
        one = self.tracer.number(1)
        return [tangents(self.tracer, [(x, one)], gradient[j:], held) for j, x in enumerate(self.x)]


@dataclass(frozen=True)
class GradientSweeps(Sweeps):
    """The same for y whose weighted sum has a gradient that is known: only that is swept over."""

    gradient: Gradient

    def vjp(self, c: Values) -> list[Traced]:
        return [lifted(self.tracer, v) for v in self.gradient(self.y, c)]

    def hessian(self, c: Values) -> list[Traced]:
        """From the sweep: what differs from it is longer in every direction than it saves once."""
        return Sweeps(self.tracer, self.x, self.y).hessian(c)


@dataclass(frozen=True)
class BalancedSweeps(Sweeps):
    """The same for y that keep r(x, y) = 0, A = -dr/dy.

    With m = A^-1 c and G = m . r: the gradient is dG/dx; along a change t of x, y changes by A^-1 (dr/dx) t, m by
    A^-1 (d2G/dy dx) t; and with Y = A^-1 dr/dx the Hessian is d2G/dx2 + (d2G/dx dy) Y + its transpose.
    """

    balance: Balance

    def jvp(self, t: Values) -> list[Traced]:
        return self._solved(tangents(self.tracer, zip(self.x, t), self._residual, self.y))

    def vjp(self, c: Values) -> list[Traced]:
        return self._gradients(self._solved(c))[0]

    def hvp(self, c: Values, t: Values) -> list[Traced]:
        m, along = self._solved(c), [*zip(self.x, t)]
        by_x, by_y = self._gradients(m)
        along += zip(self.y, self.jvp(t))
        m_t = self._solved(tangents(self.tracer, along, by_y, m))
        return tangents(self.tracer, [*along, *zip(m, m_t)], by_x)

    def hessian(self, c: Values) -> list[Traced]:
        tracer, m, zero, one = self.tracer, self._solved(c), self.tracer.number(0), self.tracer.number(1)
        by_x, _ = self._gradients(m)
        columns = self._columns(by_x, [*self.y, *m])
        mixed = transposed([tangents(tracer, [(y, one)], by_x, [*self.x, *self.y, *m]) for y in self.y])
        if self.balance.slopes is None:
            slopes = transposed([tangents(tracer, [(x, one)], self._residual, self.y) for x in self.x])
        else:
            slopes = self.balance.slopes()
        P = product(mixed, product(self.balance.inverse(), slopes, zero), zero)
        return _triangle([[v + P[i + j][j] + P[j][i + j] for i, v in enumerate(own)] for j, own in enumerate(columns)])

    @property
    def _residual(self) -> list[Traced]:
        return [lifted(self.tracer, r) for r in self.balance.residual]

    def _solved(self, b: Values) -> list[Traced]:
        return [lifted(self.tracer, v) for v in self.balance.solve(b)]

    def _gradients(self, m: Values) -> tuple[list[Traced], list[Traced]]:
        """(dG/dx, dG/dy), x and y taken apart."""
        found = cotangents(self.tracer, zip(self._residual, m), [*self.x, *self.y])
        return found[: len(self.x)], found[len(self.x) :]


def _triangle(columns: Sequence[Sequence[Traced]]) -> list[Traced]:
    return [columns[j][i - j] for i in range(len(columns)) for j in range(i + 1)]


def lifted(tracer: Tracer, value: Any) -> Traced:
    """A formulation's scalar as one of the tracer's."""
    found = tracer.lift(value)
    assert found is not None
    return found


def tangents(
    tracer: Tracer, seeds: Iterable[tuple[Traced, Traced]], of: Sequence[Traced], held: Sequence[Traced] = ()
) -> list[Traced]:
    """How these values change where others change as the seeds, (value, rate), say, and those that are held do not."""
    seeds = list(seeds)
    rates = {x.index: rate * x.sign for x, rate in seeds if not rate.is_zero and not x.is_zero}
    ends = {x.index for x, _ in seeds if not x.is_zero} | {x.index for x in held if not x.is_zero}
    for index in _needed(tracer, of, ends):
        if index not in ends:
            parts = [slope * rates[arg] for arg, slope in _slopes(tracer, index, rates)]
            if parts:
                rates[index] = total(parts)
    zero = tracer.number(0)
    return [rates.get(y.index, zero) * y.sign for y in of]


def cotangents(tracer: Tracer, weighted: Iterable[tuple[Traced, Traced]], by: Sequence[Traced]) -> list[Traced]:
    """The derivatives of the sum of value times weight, over (value, weight), by other values taken as independent."""
    zero, weighted = tracer.number(0), list(weighted)
    ends = {x.index for x in by if not x.is_zero}
    varying = set(ends)
    for index in _needed(tracer, [y for y, _ in weighted], ends):
        if any(arg in varying for arg in tracer.ops[index].args):
            varying.add(index)
    weights: dict[int, Traced] = {}

    def give(index: int, weight: Traced) -> None:
        if index in varying:
            weights[index] = weights.get(index, zero) + weight

    for y, weight in weighted:
        give(y.index, weight * y.sign)
    for index in sorted(varying - ends, reverse=True):
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


def _needed(tracer: Tracer, of: Iterable[Traced], ends: Container[int]) -> list[int]:
    """What these values are made of, themselves included, in order; what the ends are made of is not looked at."""
    found = {y.index for y in of if not y.is_zero}
    stack = list(found)
    while stack:
        index = stack.pop()
        for arg in () if index in ends else tracer.ops[index].args:
            if arg not in found:
                found.add(arg)
                stack.append(arg)
    return sorted(found)


def _refilled(like: Any, values: Iterator[Traced]) -> Any:
    return [_refilled(row, values) for row in like] if isinstance(like, list | tuple) else next(values)
