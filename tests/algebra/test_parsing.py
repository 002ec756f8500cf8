"""Text becomes exact values and back."""

from fractions import Fraction

import pytest

from emdeg.algebra import Angle, Exact


@pytest.mark.parametrize("text", ["0", "2159/5000", "m2", "-m2", "1/2 - 3/4*a + 2*l^2*m", "-1/100000 - m"])
def test_an_exact_value_reads_what_it_prints(text):
    assert str(Exact.parse(text)) == text


@pytest.mark.parametrize("text", ["", "nan", "inf", "1/0", "0,5", "a b", "2*", "(a)", "a^0", "--a", "1e999999999"])
def test_what_is_no_value_is_refused(text):
    with pytest.raises(ValueError):
        Exact.parse(text)


def test_an_angle_may_be_a_sum():
    assert Angle.parse("pi/2 + 0.25 + phi") == Angle(Fraction(1, 2), Fraction(1, 4), "phi")
    assert Angle.parse("-90 deg + -0.25") == Angle(Fraction(-1, 2), Fraction(-1, 4))


@pytest.mark.parametrize("text", ["pi/0", "a + b", "1e999999999 deg", "pi + ", "+", ""])
def test_what_is_no_angle_is_refused(text):
    with pytest.raises(ValueError, match="is not an angle"):
        Angle.parse(text)
