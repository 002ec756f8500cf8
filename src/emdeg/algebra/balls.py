"""Real numbers as balls that are certain to hold them: to as many digits as are asked for, never fewer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, ctx, fmpq


def ball(value: Fraction) -> arb:
    """A rational number to the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def angle_ball(pi_times: Fraction, radians: Fraction) -> arb:
    """`pi_times` * pi + `radians` to the working precision."""
    return arb.pi() * ball(pi_times) + ball(radians)


def angle_double(pi_times: Fraction, radians: Fraction) -> float:
    """The double nearest to `pi_times` * pi + `radians`."""
    with ctx.workprec(240):
        return float(angle_ball(pi_times, radians).mid())


def to_digits(value: Callable[[], arb], digits: int) -> Fraction:
    """The nearest number of so many decimals; `value` is asked with more and more bits until its ball is that small."""
    bits, enough = 4 * digits + 60, Fraction(1, 10 ** (digits + 3))
    while True:
        with ctx.workprec(bits):
            found = value()
            if found.is_finite() and found.rad() < ball(enough):
                middle = found.mid().fmpq()
                return Fraction(round(Fraction(int(middle.p), int(middle.q)) * 10**digits), 10**digits)
        bits *= 2
