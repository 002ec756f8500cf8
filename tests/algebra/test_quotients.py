"""Quotients of formulas: a field, in which what divides is divided; roots of squares are found and no others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings

from emdeg.algebra import Angle, PrimeField, Quotient, QuotientField, TrigAlgebra, quotient
from tests.algebra.formulas import ALGEBRA, formulas

SMALL = TrigAlgebra(revolute=[1], parameters=["a", "b"])
A, B = (SMALL.symbol(name) for name in "ab")
S, C = SMALL.joint_sincos(1)

WIDE = TrigAlgebra(revolute=[1, 2], prismatic=[3], parameters=["r", "d"], constant_angles=[Angle(Fraction(1, 7))])
FIELD = QuotientField(WIDE)
S1, C1 = FIELD.joint_sincos(1)
S2, C2 = FIELD.joint_sincos(2)
R, D, X = FIELD.symbol("r"), FIELD.symbol("d"), FIELD.displacement(3)
SEVENTH = FIELD.sincos(Angle(Fraction(1, 7)))[0]
WITH_ROOTS = [
    S1 * C2 - R * C1,
    3 * X * S1 * S1 + D,
    (C1 + 2) * SEVENTH,
    S1 * S2 * C1 * C2 * R - Fraction(2, 3),
    (R + S1) / (D * X - C2),
    S1 / (1 + C1),
]


@settings(deadline=None, max_examples=30, derandomize=True)
@given(formulas, formulas)
def test_a_product_divided_is_what_it_was(x, y):
    assume(len(x) * len(y) <= 24)  # what divides is cancelled by norms, which are long for long formulas
    if not y:
        with pytest.raises(ZeroDivisionError, match="a formula was divided by zero"):
            quotient(x, y)
        return
    assert quotient(x * y, y) == Quotient(x) == Quotient(x * y, ALGEBRA.one) / Quotient(y)


def test_quotients_add_and_multiply_as_their_residues_do():
    field = PrimeField(7)
    a, b, c = Quotient(A, B), Quotient(B + 1, A - B), Quotient(A * B, A + 2 * B)
    for found, expected in (
        (a + b * c, a.written(field) + b.written(field) * c.written(field)),
        (a - b / c, a.written(field) - b.written(field) / c.written(field)),
        (-a, -a.written(field)),
    ):
        assert found.written(field) == expected
    assert a - a == 0
    assert not a - a
    assert a / a == 1


def test_sines_are_traded_for_cosines_where_that_shortens():
    found = Quotient(1 - C * C, S)
    assert found.is_formula
    assert found.numerator == S
    assert str(Quotient(A, 2 * S)) == "(1/2*a) / (s1)"


def test_the_entries_of_an_inverse_keep_their_determinant_s_scale():
    assert str(quotient(A, 2 * A - 4 * B)) == "(a) / (2*a - 4*b)"
    assert quotient(2 * A * B, 4 * B).is_formula
    assert quotient(A, 2 * A - 4 * B) == Quotient(A, 2 * A - 4 * B)
    assert len(quotient(A, 2 * A - 4 * B)) == 3


def test_a_quotient_has_values_latex_and_a_sympy_form():
    one = quotient(S, A)
    assert np.allclose(one.evaluate([0.3], {"a": 2.0, "b": 1.0}), np.sin(0.3) / 2)
    assert one.latex == r"\frac{s_{1}}{a}"
    assert one._repr_latex_() == rf"${one.latex}$"
    assert str(one.to_sympy()) == "sin(q1)/a"
    assert repr(one) == "Quotient('(s1) / (a)')"


@pytest.mark.parametrize("value", WITH_ROOTS, ids=str)
def test_a_square_has_its_root_and_a_neighbour_of_it_none(value):
    root = (value * value).square_root()
    assert root is not None
    assert root == value or root == -value
    assert (value * value + 3 * X).square_root() is None
    assert (value * value / (C1 + 2)).square_root() is None


def test_half_an_angle_s_square_has_no_root():
    """(1 - cos q) / 2 is the square of sin(q / 2), which is not a function of the sine and cosine of q."""
    assert ((1 - C1) / 2).square_root() is None


def test_quotients_cancel_across_the_circle():
    """sin / (1 + cos) = (1 - cos) / sin."""
    assert S1 / (1 + C1) == (1 - C1) / S1
    found = 1 / (S1 / (1 + C1)) - C1 / S1
    q = np.array([0.7, 0.0, 0.0])
    assert float(found.evaluate(q, {"r": 1.0, "d": 1.0})) == pytest.approx(1 / np.sin(0.7))


def test_quotients_meet_formulas_and_numbers_on_either_side():
    formula = WIDE.symbol("r")
    assert formula * (1 / R) == 1
    assert formula - R == 0 == R - formula
    assert Fraction(1, 2) / (formula + D / 2) == FIELD.number(1) / (2 * R + D)


def test_nothing_is_divided_by_zero():
    with pytest.raises(ZeroDivisionError):
        R / (S1 * S1 + C1 * C1 - 1)
