"""Exact angles: parsing, canonical pieces, values."""

import math
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emdeg.algebra import Angle, Floats, PrimeField, TrigAlgebra, direction_angle, square_root
from emdeg.errors import UnboundSymbol

turns = st.builds(Fraction, st.integers(-48, 48), st.sampled_from([1, 2, 3, 4, 5, 12]))
radians = st.one_of(st.just(Fraction(0)), st.fractions(-4, 4, max_denominator=20))
angles = st.builds(Angle, turns, radians)
DIGITS = 60


@pytest.mark.parametrize(
    ("text", "angle"),
    [
        ("90 deg", Angle(Fraction(1, 2))),
        ("-45.5deg", Angle(Fraction(-91, 360))),
        ("-pi/2", Angle(Fraction(-1, 2))),
        ("3*pi/4", Angle(Fraction(3, 4))),
        ("1.5 pi", Angle(Fraction(3, 2))),
        (" 0.25 ", Angle(radians=Fraction(1, 4))),
        ("1e2 deg", Angle(Fraction(5, 9))),
        ("alpha1", Angle(symbol="alpha1")),
    ],
)
def test_an_angle_is_read_exactly(text, angle):
    assert Angle.parse(text) == angle


@pytest.mark.parametrize("text", ["1..2 deg", "", "pi/0", "--1 deg", "e deg", "90 grad", "pi pi", "1-2 deg", "0,5"])
def test_a_malformed_angle_is_refused_with_the_forms_that_are_legal(text):
    with pytest.raises(ValueError, match="is not an angle: write radians") as caught:
        Angle.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", ["1e999999999", "1e999999999 deg", "1" * 5000 + " deg", "9" * 5000 + "*pi"])
def test_an_angle_too_long_to_write_out_is_refused_at_once(text):
    start = time.perf_counter()
    with pytest.raises(ValueError, match=r"is not an angle.*(exponent|characters)"):
        Angle.parse(text)
    assert time.perf_counter() - start < 0.5


@given(angles)
def test_an_angle_is_its_quarter_turns_plus_its_rest(angle):
    quarters, rest = angle.split()
    assert 0 <= rest.pi_times < Fraction(1, 2)
    assert (angle - rest).quarter_turns == quarters


@given(angles, st.integers(-5, 5))
def test_angles_equal_up_to_quarter_turns_or_sign_have_one_canonical_rest(angle, quarters):
    other = angle + Angle(Fraction(quarters, 2))
    assert angle.canonical()[2] == other.canonical()[2] == (-angle).canonical()[2]
    k, sign, rest = angle.canonical()
    assert float(Angle(Fraction(k, 2))) + sign * float(rest) == pytest.approx(
        float(angle) - 2 * math.pi * round((float(angle) - (k * math.pi / 2 + sign * float(rest))) / (2 * math.pi)),
        abs=1e-9,
    )


@given(angles)
def test_sine_and_cosine_agree_with_the_library_functions(angle):
    s, c = angle.sincos()
    assert float(s) == pytest.approx(math.sin(float(angle)), abs=1e-12)
    assert float(c) == pytest.approx(math.cos(float(angle)), abs=1e-12)


@given(angles)
def test_sines_of_one_angle_in_every_algebra_satisfy_the_same_relations(angle):
    for algebra in (TrigAlgebra(constant_angles=[angle]), PrimeField(7), PrimeField(8)):
        s, c = algebra.sincos(angle)
        assert s * s + c * c == 1
        assert algebra.sincos(-angle) == (-s, c)
        assert algebra.sincos(angle + Angle(Fraction(1, 2))) == (c, -s)


def test_a_symbol_and_a_number_in_one_angle_follow_the_addition_formula():
    mixed = Angle.parse("30 deg") + Angle(symbol="alpha")
    algebra = TrigAlgebra(constant_angles=[mixed])
    sa, ca = algebra.sincos(Angle(symbol="alpha"))
    s30, c30 = algebra.sincos(Angle.parse("30 deg"))
    assert algebra.sincos(mixed) == (s30 * ca + c30 * sa, c30 * ca - s30 * sa)
    assert Floats({"alpha": 0.2}).sincos(mixed)[0] == pytest.approx(math.sin(math.pi / 6 + 0.2))


def test_a_symbolic_angle_says_what_it_cannot_do():
    alpha = Angle(symbol="alpha")
    with pytest.raises(ValueError, match="has no number: it contains the symbol alpha"):
        float(alpha)
    with pytest.raises(ValueError, match="has no number: it contains the symbol alpha"):
        alpha.sincos()
    with pytest.raises(ValueError, match="cannot be negated"):
        _ = -alpha
    with pytest.raises(ValueError, match="cannot be added"):
        _ = alpha + alpha
    with pytest.raises(UnboundSymbol, match="the symbol alpha has no value"):
        Floats().sincos(alpha)


def test_directions_at_multiples_of_fifteen_degrees_are_exact_angles():
    for twelfths in range(-11, 13):
        angle = Angle(Fraction(twelfths, 12))
        assert direction_angle(*angle.sincos()) == angle
    assert square_root(Fraction(9, 16)) == Fraction(3, 4)
    assert float(square_root(Fraction(2))) == math.sqrt(2)


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
