"""Factors of trigonometric polynomials: complete, and equal to what was factored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.algebra import HALF_RIGHT, Angle, TrigAlgebra, in_half_angles, lowest_terms

ALGEBRA = TrigAlgebra(
    revolute=[1, 2],
    prismatic=[3],
    parameters=["a", "b"],
    constant_angles=[Angle(Fraction(1, 5)), Angle(Fraction(1, 4))],
)
LETTERS = [ALGEBRA.generator(g) for g in ALGEBRA.generators]
(S1, C1), (S2, C2) = ALGEBRA.joint_sincos(1), ALGEBRA.joint_sincos(2)
A, B = ALGEBRA.symbol("a"), ALGEBRA.symbol("b")

numbers = st.integers(-3, 3)


@st.composite
def formulas(draw, letters=LETTERS):
    total = ALGEBRA.number(draw(numbers))
    for letter in letters:
        total = total + letter * draw(numbers)
    return total * draw(st.sampled_from([ALGEBRA.one, S1, C2, 1 - C1, A]))


@settings(deadline=None, max_examples=15)
@given(st.lists(formulas(), min_size=1, max_size=3))
def test_the_product_of_the_factors_is_the_formula(parts):
    whole = ALGEBRA.one
    for part in parts:
        whole = whole * part
    if not whole:
        return
    found = in_half_angles(ALGEBRA).factored(whole)
    assert found.product(ALGEBRA.one) == whole
    if HALF_RIGHT not in {g.of for g in whole.generators}:  # over the root of 2 it may factor further
        assert sum(power for _, power in found.factors) >= sum(not part.is_number for part in parts)


@settings(deadline=None, max_examples=15)
@given(formulas(LETTERS[:4] + LETTERS[-2:]), formulas(LETTERS[:4] + LETTERS[-2:]), formulas(LETTERS[:4]))
def test_lowest_terms_lose_every_common_factor_and_no_value(above, below, common):
    if not above or not below or not common:
        return
    found = lowest_terms(above * common, below * common)
    assert found.numerator * below == found.denominator * above
    assert len(found) <= max(len(lowest_terms(above, below)), 2)


@pytest.mark.parametrize(
    ("formula", "factors"),
    [
        (2 * S1 * C1, [S1, C1]),
        (1 - C1 * C1, [S1, S1]),
        (S1 * S1 * A, [A, S1, S1]),
        (A * A * S2 * S2 - A * A * B * B, [A, A, S2 + B, S2 - B]),
        (S1 * C2 + C1 * S2, [S1 * C2 + C1 * S2]),
        ((A * S1 + B * C1) * (A * C1 - B * S1 + 2), [A * S1 + B * C1, A * C1 - B * S1 + 2]),
    ],
)
def test_factors_by_hand(formula, factors):
    found = in_half_angles(ALGEBRA).factored(formula)
    left = [factor for factor, power in found.factors for _ in range(power)]
    for factor in factors:
        left.remove(factor if factor in left else -factor)
    assert not left


def test_a_quotient_that_is_regular_has_its_value_where_its_first_form_has_none():
    found = lowest_terms(S1 * S1 * (A + C2), (1 - C1) * (A + C2) * B)
    assert str(found.numerator) == "c1 + 1"
    assert float(found.evaluate(np.array([0.0, 0.3, 0.0]), {"a": 1.0, "b": 2.0})) == 1.0
