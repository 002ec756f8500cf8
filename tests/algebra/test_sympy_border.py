"""The border to SymPy: out and in again is the identity, and what is no polynomial is refused."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.algebra import Angle, TrigAlgebra
from emdeg.algebra.sympy_border import real_symbol
from tests.algebra.formulas import ALGEBRA, coefficients, formulas

q1, q2, q3, m = (real_symbol(name) for name in ("q1", "q2", "q3", "m"))


@settings(deadline=None, max_examples=40)
@given(formulas, formulas)
def test_sympy_sees_the_same_ring(x, y):
    assert ALGEBRA.from_sympy(x.to_sympy()) == x
    assert ALGEBRA.from_sympy(x.to_sympy() * y.to_sympy()) == x * y
    assert ALGEBRA.from_sympy(x.to_sympy() + y.to_sympy()) == x + y


@settings(deadline=None, max_examples=40)
@given(formulas, st.sampled_from([1, 2, 3, 4]))
def test_sympy_takes_the_same_derivatives(x, k):
    by_sympy = sympy.diff(x.to_sympy(), real_symbol(f"q{k}"))
    assert ALGEBRA.from_sympy(by_sympy) == x.derivative(k)


@settings(deadline=None, max_examples=40)
@given(formulas, coefficients)
def test_sympy_substitutes_the_same(x, a):
    by_sympy = x.to_sympy().subs(m, sympy.Rational(a.numerator, a.denominator))
    assert ALGEBRA.from_sympy(by_sympy) == x.substitute({"m": a})


@given(st.integers(-3, 3), st.integers(-3, 3), st.integers(-5, 5))
def test_sines_of_angle_sums_are_expanded(i, j, quarters):
    angle = i * q1 + j * q2 + quarters * sympy.pi / 2
    s, c = ALGEBRA.from_sympy(sympy.sin(angle)), ALGEBRA.from_sympy(sympy.cos(angle))
    assert s * s + c * c == 1
    difference = s.to_sympy() - sympy.expand_trig(sympy.sin(angle))
    assert abs(difference.subs({q1: 0.3, q2: 1.7}).evalf()) < 1e-12


def test_symbols_are_matched_by_name_whatever_their_assumptions():
    plain = sympy.Symbol("m") * sympy.sin(sympy.Symbol("q1") + sympy.Symbol("alpha"))
    s1, c1 = ALGEBRA.joint_sincos(1)
    sa, ca = ALGEBRA.sincos(Angle(symbol="alpha"))
    assert ALGEBRA.from_sympy(plain) == ALGEBRA.symbol("m") * (s1 * ca + c1 * sa)
    tilted = TrigAlgebra(constant_angles=[Angle.parse("pi/5")])
    assert tilted.sincos(Angle.parse("pi/5"))[0].to_sympy() == sympy.sin(sympy.pi / 5)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("sin(q1)", "expected a SymPy expression, got str"),
        (1.5, "expected a SymPy expression, got float"),
        (1 / m, "is not a polynomial: exponents must be 0 to 100"),
        (m**1000, "is not a polynomial: exponents must be 0 to 100"),
        (sympy.sqrt(m), "is not a polynomial"),
        (sympy.Float(0.5) * m, r"0.5\S* \(Float\) has no place in a trigonometric polynomial"),
        (sympy.tan(q1), r"tan\(q1\) \(tan\) has no place"),
        (sympy.oo, "has no place"),
        (sympy.nan, "has no place"),
        (q1 * m, "the angle q1 of a revolute joint may occur inside sin and cos only"),
        (sympy.Symbol("z"), "the symbol z is not among this algebra's letters: declare it"),
        (sympy.sin(q1 / 2), "is not an integer combination of joint angles"),
        (sympy.sin(q1 * q2), "is not an integer combination of joint angles"),
        (sympy.sin(10**9 * q1), r"multiples up to 100"),
        (sympy.cos(sympy.Symbol("z")), r"sin\(z\) is not among this algebra's letters"),
        (sympy.sin(q3), r"sin\(q3\) is not among this algebra's letters"),
    ],
)
def test_what_is_no_trigonometric_polynomial_is_refused(expression, message):
    with pytest.raises(ValueError, match=message):
        ALGEBRA.from_sympy(expression)
