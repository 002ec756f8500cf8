"""Degrees and heights: never less than those of the polynomials that SymPy multiplies out."""

import math
from fractions import Fraction

import pytest
import sympy

from emdeg.algebra import Angle
from emdeg.programs.height import degree_bound, difference_size
from emdeg.programs.ir import Dependence
from emdeg.programs.trace import Tracer
from tests.programs.test_proof import configuration


def test_the_degree_bound_is_at_least_the_degree():
    program = configuration(lambda t, q: [t.sincos_of(q[0])[0] ** 3 * q[1] + q[2] ** 5])
    assert 2 * 3 + 1 <= degree_bound(program) <= 2 * 3 + 1 + 5


def test_the_degree_bound_of_quotients_covers_the_degree_over_the_common_denominator():
    """Against SymPy's own numerator and denominator; a divisor that terms share counts once."""
    x = sympy.symbols("x0:4")

    def quotients(q):
        a = 1 / (q[0] * q[1] + q[2])
        b = q[3] * a + q[1] * a - a
        return [a + b, b / (q[0] + 1 / q[3]), b / a, (b + q[2] / q[0]) / (b - q[1]), b / (a * q[1] - 2)]

    for k, value in enumerate(quotients(x)):
        over, under = sympy.fraction(sympy.cancel(value))
        degree = sum(max(sympy.degree(part, name) for part in (over, under)) for name in x)
        program = configuration(lambda t, q, k=k: [quotients(q)[k]], 4)
        assert degree <= degree_bound(program)
    assert degree_bound(configuration(lambda t, q: quotients(q)[:1], 4)) == 2 + 3  # (q3 + q1) / (q0 q1 + q2)


def numerator_bits(value, variables):
    """log2 of the largest coefficient of the numerator, all denominators cleared."""
    over, _ = sympy.fraction(sympy.together(value))
    _, primitive = sympy.Poly(sympy.expand(over), *variables).clear_denoms()
    return max((math.log2(abs(int(c))) for c in primitive.coeffs() if c), default=0.0)


def test_no_coefficient_of_a_difference_has_more_bits_than_the_bound():
    x = sympy.symbols("x0:3")

    def values(q, number):
        a = q[0] * number(Fraction(355, 113)) + q[1]
        b = (a * a * a - q[2] * number(Fraction(1, 7**9))) * a
        return [a * a * b, b / (q[2] * number(Fraction(3, 1000)) + a), 1 / (1 / a + q[1] / b)]

    def rational(value):
        return sympy.Rational(value.numerator, value.denominator)

    nothing = configuration(lambda t, q: [t.number(0)])
    for k, value in enumerate(values(x, rational)):
        program = configuration(lambda t, q, k=k: [values(q, t.number)[k]])
        assert numerator_bits(value, x) <= difference_size(program, nothing)[1]


def test_the_circle_s_parameters_have_the_degree_and_height_that_are_said():
    t1, t2 = sympy.symbols("t1 t2")
    circle = [(2 * t / (1 + t**2), (1 - t**2) / (1 + t**2)) for t in (t1, t2)]
    (s1, c1), (s2, c2) = circle
    value = (s1 * c2 + c1 * s2) ** 3 - 5 * s1 * s1 + 7 * c2
    program = configuration(
        lambda t, q: [t.sincos_of(q[0] + q[1])[0] ** 3 - t.sincos_of(q[0])[0] ** 2 * 5 + t.sincos_of(q[1])[1] * 7]
    )
    degree, bits = difference_size(program, configuration(lambda t, q: [t.number(0)]))
    over, _ = sympy.fraction(sympy.together(value))
    assert sympy.Poly(over, t1, t2).total_degree() <= degree
    assert numerator_bits(value, (t1, t2)) <= bits


def test_half_right_angles_and_symbols_in_angles_are_counted():
    t = Tracer(["a"])
    (q,) = t.inputs("q", 1, Dependence.CONFIGURATION)
    s, _ = t.sincos_of(t.angle(Angle(Fraction(1, 4))) + q)
    with_symbol = t.program("p", {"y": [s * t.sincos_of(t.symbol("a") + t.angle(Angle(radians=Fraction(1, 3))))[0]]})
    assert difference_size(with_symbol, with_symbol)[0] == 2 * (2 + 2 + 2)


@pytest.mark.parametrize("turn", [Fraction(1, 4), Fraction(1, 6), Fraction(1, 3), Fraction(5, 6)])
def test_norms_of_exact_angles_have_no_more_bits_than_the_bound(turn):
    """The norm down to the integers of (a s + b c)^4 + a b, denominators cleared, is SymPy's resultant."""
    a, b = sympy.symbols("x0:2")
    angle = sympy.pi * sympy.Rational(turn.numerator, turn.denominator)

    def value(x, y, s, c):
        z = x * s + y * c
        return z * z * z * z + x * y

    exact = sympy.expand(16 * value(a, b, sympy.sin(angle), sympy.cos(angle)))
    signs = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
    root2, root3 = sympy.sqrt(2), sympy.sqrt(3)
    conjugates = [exact.subs({root2: i * root2, root3: k * root3}, simultaneous=True) for i, k in signs]
    norm = sympy.Poly(sympy.expand(sympy.prod(conjugates)), a, b)
    program = configuration(lambda t, q: [value(q[0], q[1], *t.sincos(Angle(turn)))])
    bits = difference_size(program, configuration(lambda t, q: [t.number(0)]))[1]
    assert max(math.log2(abs(int(c))) for c in norm.coeffs()) <= bits


def test_towers_of_powers_are_refused():
    def tower(t, q, first):
        value = first
        for _ in range(80):
            value = value * value
        return [value * q[0]]

    with pytest.raises(ValueError, match="too large a number or of too high a degree"):
        degree_bound(configuration(lambda t, q: tower(t, q, q[1])))
    with pytest.raises(ValueError, match="too large a number or of too high a degree"):
        degree_bound(configuration(lambda t, q: tower(t, q, t.sincos(Angle(radians=Fraction(1)))[0])))
    many = [Fraction(1, 10**1900 + k) for k in range(400)]
    with pytest.raises(ValueError, match="too many digits"):
        degree_bound(configuration(lambda t, q: [q[0] * one for one in many]))
