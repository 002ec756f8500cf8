"""Multiple-angle form: equal to the formula, and what it says about products of cosines."""

from fractions import Fraction

from hypothesis import given

from emdeg.algebra import TrigAlgebra
from tests.algebra.formulas import ALGEBRA, formulas


@given(formulas)
def test_the_fourier_form_is_the_formula(x):
    series = x.to_fourier()
    total = ALGEBRA.zero
    for index, pair in series.items():
        s, c = ALGEBRA.sum_sincos(dict(zip(ALGEBRA.revolute, index)))
        total = total + pair[0] * c + pair[1] * s
        assert len(index) == 3
        assert next((m for m in index if m), 1) > 0
        assert not any(g.is_joint_angle for part in pair for g in part.generators)
        assert any(pair)
    assert total == x


def test_products_of_sines_and_cosines_become_sums_of_angles():
    algebra = TrigAlgebra(revolute=[1, 2], parameters=["m"])
    (s1, c1), (s2, c2) = algebra.joint_sincos(1), algebra.joint_sincos(2)
    m, half = algebra.symbol("m"), Fraction(1, 2)
    assert (m * c1 * c2).to_fourier() == {(1, -1): (m / 2, algebra.zero), (1, 1): (m / 2, algebra.zero)}
    assert (s1 * c2).to_fourier() == {(1, -1): (algebra.zero, half), (1, 1): (algebra.zero, half)}
    assert (c1**2).to_fourier() == {(0, 0): (half, algebra.zero), (2, 0): (half, algebra.zero)}
    assert (c1 * c2 - s1 * s2).to_fourier() == {(1, 1): (algebra.one, algebra.zero)}
    assert algebra.zero.to_fourier() == {}
