"""Numbers to so many digits, against another library's."""

from fractions import Fraction

import mpmath
import pytest

from emdeg.algebra import Angle, direction_angle, square_root

DIGITS = 60


def decimals(value):
    return Fraction(int(mpmath.nint(value * mpmath.mpf(10) ** DIGITS)), 10**DIGITS)


@pytest.mark.parametrize("radians", [Fraction(1, 3), Fraction(-22, 7), Fraction(10**40 + 1, 3), Fraction(1, 10**50)])
def test_sines_and_cosines_are_right_to_the_last_digit_however_large_the_angle(radians):
    with mpmath.workdps(200):
        x = mpmath.mpf(radians.numerator) / radians.denominator + mpmath.pi / 7
        assert Angle(Fraction(1, 7), radians).sincos() == (decimals(mpmath.sin(x)), decimals(mpmath.cos(x)))
        assert float(Angle(Fraction(1, 7), radians)) == float(x)


@pytest.mark.parametrize("value", [Fraction(2), Fraction(1, 3), Fraction(10**50, 7), Fraction(1, 10**41)])
def test_roots_are_right_to_the_last_digit(value):
    with mpmath.workdps(200):
        assert square_root(value) == decimals(mpmath.sqrt(mpmath.mpf(value.numerator) / value.denominator))


def test_a_tiny_multiple_of_pi_keeps_the_digits_of_a_double():
    assert float(Angle(Fraction(1, 10**70))) == pytest.approx(3.141592653589793e-70, rel=1e-15)


@pytest.mark.parametrize(("s", "c", "turn"), [(0, -1, 1), (1, 1, Fraction(1, 4)), (-1, 0, Fraction(-1, 2)), (0, 0, 0)])
def test_a_direction_on_an_axis_or_a_diagonal_is_an_exact_angle(s, c, turn):
    assert direction_angle(Fraction(s), Fraction(c)) == Angle(Fraction(turn))
