"""Common factors of two formulas."""

from __future__ import annotations

from emdeg.algebra.trig_poly import TrigPoly


def cancel(numerator: TrigPoly, denominator: TrigPoly) -> tuple[TrigPoly, TrigPoly]:
    """The two formulas without their greatest common polynomial factor, whose first coefficient is 1.

    Factors that show only after sines and cosines are traded for each other (s^2 = 1 - c^2) are not looked for.
    """
    if not denominator:
        raise ZeroDivisionError("a formula was divided by zero")
    algebra = numerator.algebra
    if not numerator:
        return algebra.zero, algebra.one
    factor = numerator._poly.gcd(denominator._poly)
    top, bottom = (algebra._canonical(divmod(f._poly, factor)[0]) for f in (numerator, denominator))
    if bottom.is_number:
        return top / bottom.number, algebra.one
    return top, bottom
