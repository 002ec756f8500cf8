"""Quotients of formulas: a field, in which what divides is divided."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from emdeg.algebra import PrimeField, Quotient, TrigAlgebra, quotient
from tests.algebra.formulas import ALGEBRA, formulas

SMALL = TrigAlgebra(revolute=[1], parameters=["a", "b"])
A, B = (SMALL.symbol(name) for name in "ab")
S, C = SMALL.joint_sincos(1)


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
