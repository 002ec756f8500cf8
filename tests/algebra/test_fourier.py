"""Multiple-angle form: exact both ways, and what it says about products of cosines."""

from fractions import Fraction

import pytest
from hypothesis import given

from emdeg.algebra import TrigAlgebra
from tests.algebra.formulas import ALGEBRA, formulas


@given(formulas)
def test_the_fourier_form_is_the_formula(x):
    series = x.to_fourier()
    assert ALGEBRA.from_fourier(series) == x
    for index, pair in series.items():
        assert len(index) == 3
        assert next((m for m in index if m), 1) > 0
        assert not any(g.is_joint_angle for part in pair for g in part.generators)
        assert any(pair)


def test_products_of_sines_and_cosines_become_sums_of_angles():
    algebra = TrigAlgebra(revolute=[1, 2], parameters=["m"])
    (s1, c1), (s2, c2) = algebra.joint_sincos(1), algebra.joint_sincos(2)
    m, half = algebra.symbol("m"), Fraction(1, 2)
    assert (m * c1 * c2).to_fourier() == {(1, -1): (m / 2, algebra.zero), (1, 1): (m / 2, algebra.zero)}
    assert (s1 * c2).to_fourier() == {(1, -1): (algebra.zero, half), (1, 1): (algebra.zero, half)}
    assert (c1**2).to_fourier() == {(0, 0): (half, algebra.zero), (2, 0): (half, algebra.zero)}
    assert (c1 * c2 - s1 * s2).to_fourier() == {(1, 1): (algebra.one, algebra.zero)}
    assert algebra.zero.to_fourier() == {}


def test_a_series_with_the_wrong_number_of_joints_is_refused():
    with pytest.raises(ValueError, match=r"the multi-index \(1, 2\) needs one entry for each revolute joint of"):
        ALGEBRA.from_fourier({(1, 2): (ALGEBRA.one, ALGEBRA.zero)})
