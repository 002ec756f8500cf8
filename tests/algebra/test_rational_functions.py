"""Rational functions on circles: there and back is the same, roots of squares are found and no others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from emdeg.algebra import Angle, Quotient, RationalFunctions, TrigAlgebra

TRIG = TrigAlgebra(revolute=[1, 2], prismatic=[3], parameters=["r", "d"], constant_angles=[Angle(Fraction(1, 7))])
FIELD = RationalFunctions(TRIG)
S1, C1 = TRIG.joint_sincos(1)
S2, C2 = TRIG.joint_sincos(2)
R, D, X = TRIG.symbol("r"), TRIG.symbol("d"), TRIG.displacement(3)
SEVENTH = TRIG.sincos(Angle(Fraction(1, 7)))[0]
FORMULAS = [S1 * C2 - R * C1, 3 * X * S1 * S1 + D, (C1 + 2) * SEVENTH, S1 * S2 * C1 * C2 * R - Fraction(2, 3)]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_there_and_back_is_the_same_formula(formula):
    assert FIELD.back(FIELD.of(formula)) == Quotient(formula)


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_square_has_its_root_and_a_neighbour_of_it_none(formula):
    square = FIELD.of(formula) * FIELD.of(formula)
    root = square.root()
    assert root is not None
    assert root == FIELD.of(formula) or root == -FIELD.of(formula)
    assert (square + 1).root() is None
    assert (square / FIELD.of(C1 + 2)).root() is None


def test_quotients_cancel_across_the_circle():
    """sin / (1 + cos) = (1 - cos) / sin."""
    assert FIELD.of(S1) / FIELD.of(1 + C1) == FIELD.of(1 - C1) / FIELD.of(S1)
    found = FIELD.back(1 / (FIELD.of(S1) / FIELD.of(1 + C1)) - FIELD.of(C1) / FIELD.of(S1))
    q = np.array([0.7, 0.0, 0.0])
    assert float(found.evaluate(q, {"r": 1.0, "d": 1.0})) == pytest.approx(1 / np.sin(0.7))


def test_nothing_is_divided_by_zero():
    with pytest.raises(ZeroDivisionError):
        FIELD.of(R) / FIELD.of(S1 * S1 + C1 * C1 - 1)
