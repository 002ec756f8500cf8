"""A program's values as balls of many digits, each certain to hold the exact value: arithmetic that cannot err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq

from emdeg.algebra import Angle
from emdeg.programs.ir import Kind, Program, Slot
from emdeg.programs.values import ARITHMETIC, values

BITS = 256
"""The working precision."""


def ball_values(program: Program, inputs: Mapping[Slot, Fraction | float], bits: int = BITS) -> list[arb]:
    """Every value at exact inputs; not finite where an operation fails, or may fail for all that `bits` tell.

    What depends on an input that is not given is not finite either.
    """

    def leaf(index: int) -> arb | None:
        op = program.ops[index]
        match op.kind:
            case Kind.NUMBER:
                return _exact(op.number)
            case Kind.INPUT:
                given = inputs.get(op.slot)
                return arb.nan() if given is None else _exact(Fraction(given))
            case Kind.ANGLE:
                return _angle(op.angle)
            case _:
                return None

    with ctx.workprec(bits):
        return values(program, leaf, _BALLS)


_BALLS = {
    **ARITHMETIC,
    Kind.SIN: arb.sin,
    Kind.COS: arb.cos,
    Kind.SQRT: arb.sqrt,
    Kind.SIGN: arb.sgn,
    Kind.EXP: arb.exp,
    Kind.TANH: arb.tanh,
}


def numbers_not_zero(program: Program, wanted: Sequence[int]) -> set[int]:
    """Which of these values, whatever the inputs, are numbers that are certainly not zero."""
    if not wanted:
        return set()
    known = ball_values(program, {})
    return {index for index in wanted if known[index].is_finite() and not known[index].contains(0)}


def _exact(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _angle(angle: Angle) -> arb:
    if angle.symbol is not None:
        return arb.nan()
    return arb.pi() * _exact(angle.pi_times) + _exact(angle.radians)
