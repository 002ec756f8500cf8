"""The scalars together: each is a ring (a field where it divides), and an algorithm over one agrees with another."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.algebra import Dual, Exact, PrimeField, TrigAlgebra, derivative
from emdeg.algebra.quotients import Quotient
from emdeg.errors import OverBudget
from tests.algebra.formulas import ALGEBRA, formulas

numbers = st.fractions(-99, 99, max_denominator=20)
FIELD = PrimeField(seed=1)
SCALARS = {
    "exact": numbers.map(Exact.of),
    "formula": formulas,
    "residue": numbers.map(FIELD.number),
    "dual": st.builds(lambda a, b: Dual(a, {0: b}), numbers, numbers),
    "quotient": st.builds(lambda a, b: Quotient(ALGEBRA.number(a), ALGEBRA.number(b + 200)), numbers, numbers),
}


@pytest.mark.parametrize("kind", SCALARS)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_every_scalar_obeys_the_laws_of_a_ring(kind, data):
    a, b, c = (data.draw(SCALARS[kind]) for _ in range(3))
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert (a + b) * c == a * c + b * c
    assert a - b == a + (-b)


@settings(deadline=None, max_examples=25)
@given(numbers, numbers, numbers, numbers)
def test_dual_numbers_carry_the_rules_of_product_and_quotient(f, df, g, dg):
    u, v = Dual(f, {0: df}), Dual(g, {0: dg})
    assert derivative(u * v, 0, 0) == df * g + f * dg
    assert derivative(u * v, 1, Fraction(7)) == 7, "a direction in which nothing was asked"
    if g:
        assert (u / v).value == f / g
        assert derivative(u / v, 0, 0) == (df * g - f * dg) / g**2


@settings(deadline=None, max_examples=25)
@given(formulas, formulas)
def test_a_quotient_times_its_denominator_is_its_numerator(a, b):
    if b:
        ratio = Quotient(a, b)
        assert ratio.numerator * b == ratio.denominator * a
        assert (ratio * Quotient(b)).numerator == (ratio * Quotient(b)).denominator * a


def test_a_formula_over_budget_says_what_can_be_done():
    algebra = TrigAlgebra(parameters=["a", "b", "c"], max_terms=10)
    total = algebra.symbol("a") + algebra.symbol("b") + algebra.symbol("c")
    assert len(total * total) == 6
    with pytest.raises(OverBudget, match="the budget is 10: give numbers to some symbolic parameters"):
        (total * total) * (total * total)
