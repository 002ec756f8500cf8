"""Trigonometric polynomials: a ring with a canonical form, its derivations, splits and values."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.algebra import Angle, Generator, PrimeField, TrigAlgebra, TrigPoly
from emdeg.errors import OverBudget, UnboundSymbol
from tests.algebra.formulas import ALGEBRA, coefficients, formulas, joint_values, product_of_letters, term_lists

PARAMETERS = {"m": 1.3, "l": -0.7, "alpha": 0.4}
QD, QDD = [0.3, 0.1, -0.2, 0.9], [1.0, 0.5, 0.25, -0.5]
Q = [0.2, -1.1, 0.6, 2.5]


def value(formula, q=Q):
    return formula.evaluate(q, QD, QDD, PARAMETERS)


def close(a, b):
    return a == pytest.approx(b, rel=1e-7, abs=1e-5)


@given(formulas, formulas, formulas)
def test_formulas_form_a_commutative_ring(x, y, z):
    assert (x + y) + z == x + (y + z)
    assert x + y == y + x
    assert x * y == y * x
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x - y == -(y - x)
    assert x + 0 == x == 1 * x
    assert not x - x


@given(formulas, coefficients)
def test_numbers_mix_with_formulas_on_either_side(x, a):
    number = ALGEBRA.number(a)
    assert x + a == a + x == x + number
    assert x - a == -(a - x) == x - number
    assert x * a == a * x == x * number
    assert number == a
    assert hash(number) == hash(a)
    if a:
        assert x / a * a == x


@given(term_lists)
def test_canonical_form_does_not_depend_on_how_a_formula_was_built(terms):
    once = ALGEBRA.from_terms(terms)
    again = product_of_letters(reversed(terms))
    assert once == again
    assert hash(once) == hash(again)
    assert str(once) == str(again)
    assert ALGEBRA.from_terms(once.terms()) == once


@given(formulas)
def test_no_sine_occurs_squared(x):
    assert all(x.degree(g) <= 1 for g in ALGEBRA.generators if g.kind == "sine")
    square = x * x
    assert all(e == 1 for _, monomial in square.terms() for g, e in monomial.items() if g.kind == "sine")
    assert len(square) == len(list(square.terms()))


@given(formulas, formulas)
def test_formulas_are_equal_exactly_if_their_residues_are(x, y):
    fields = PrimeField(11), PrimeField(12)
    one, other = ([f.map(field.letter, field.number) for field in fields] for f in (x, y))
    assert (one == other) == (x == y)


def test_the_identity_of_sine_and_cosine_is_decided():
    s, c = ALGEBRA.joint_sincos(2)
    assert s * s + c * c == 1
    assert s**4 - c**4 == s * s - c * c
    sa, ca = ALGEBRA.sincos(Angle(symbol="alpha"))
    assert (s * ca + c * sa) ** 2 + (c * ca - s * sa) ** 2 == 1
    assert ALGEBRA.sum_sincos({1: 2})[1] == 2 * ALGEBRA.joint_sincos(1)[1] ** 2 - 1


@given(formulas, formulas, joint_values)
def test_values_of_sums_and_products_are_sums_and_products_of_values(x, y, q):
    assert close(value(x + y, q), value(x, q) + value(y, q))
    assert close(value(x * y, q), value(x, q) * value(y, q))


@given(formulas, formulas, st.sampled_from([1, 2, 3, 4]))
def test_the_derivative_is_a_derivation_and_derivatives_commute(x, y, k):
    assert (x * y).derivative(k) == x.derivative(k) * y + x * y.derivative(k)
    assert x.derivative(k).derivative(1) == x.derivative(1).derivative(k)


@given(formulas, st.sampled_from([0, 1, 2, 3]))
def test_the_derivative_agrees_with_finite_differences(x, position):
    q, h = np.array(Q), 1e-5
    step = h * np.eye(4)[position]
    difference = (value(x, q + step) - value(x, q - step)) / (2 * h)
    assert value(x.derivative(position + 1)) == pytest.approx(difference, rel=1e-5, abs=1e-4)


@given(st.lists(st.tuples(formulas, formulas), max_size=4))
def test_a_sum_of_products_is_the_sum_of_the_products(pairs):
    assert ALGEBRA.sum_of_products(pairs) == sum((a * b for a, b in pairs), ALGEBRA.zero)


@given(formulas, formulas)
def test_substitution_is_a_ring_homomorphism(x, y):
    s2, c2 = ALGEBRA.joint_sincos(2)
    values = {
        1: Angle.parse("-0.3"),
        4: (s2, c2),
        3: ALGEBRA.symbol("l") + 2,
        "m": ALGEBRA.displacement(3) * s2,
        Generator("rate", 1): Fraction(1, 3),
    }
    assert (x * y).substitute(values) == x.substitute(values) * y.substitute(values)
    assert (x + y).substitute(values) == x.substitute(values) + y.substitute(values)


@given(formulas)
def test_substituting_values_is_evaluating(x):
    fixed = x.substitute({1: Angle.parse("90 deg"), 3: Fraction(1, 2), "m": Fraction(1, 3)})
    there = x.evaluate([math.pi / 2, Q[1], 0.5, Q[3]], QD, QDD, PARAMETERS | {"m": 1 / 3})
    assert close(value(fixed), there)
    assert x.substitute({}) == x
    assert x.substitute({1: ALGEBRA.joint_sincos(1), "l": ALGEBRA.symbol("l")}) == x


def test_values_come_in_batches():
    algebra = TrigAlgebra(revolute=[2], prismatic=[1], parameters=["m"])
    formula = algebra.symbol("m") * algebra.joint_sincos(2)[0] * algebra.displacement(1) ** 2 + 1
    q = np.random.default_rng(0).normal(size=(5, 3, 2))
    expected = 2.5 * np.sin(q[..., 1]) * q[..., 0] ** 2 + 1
    np.testing.assert_allclose(formula.evaluate(q, parameters={"m": 2.5}), expected, rtol=1e-14)
    assert algebra.number(7).evaluate(q).shape == (5, 3)
    assert algebra.zero.evaluate(q).tolist() == np.zeros((5, 3)).tolist()
    masses = np.arange(3.0)
    np.testing.assert_allclose(
        formula.evaluate(q, parameters={"m": masses}), masses * (expected - 1) / 2.5 + 1, rtol=1e-14
    )


def test_values_that_are_missing_or_misshapen_are_named():
    formula = ALGEBRA.symbol("m") * ALGEBRA.joint_sincos(1)[0] * ALGEBRA.rate(1)
    with pytest.raises(UnboundSymbol, match="the symbol m has no value"):
        formula.evaluate(Q, QD)
    with pytest.raises(ValueError, match="the formula contains qd1 and no rate was given"):
        formula.evaluate(Q, parameters=PARAMETERS)
    with pytest.raises(ValueError, match=r"q has the shape \(3,\); its last axis must have 4 entries"):
        formula.evaluate([1, 2, 3], QD, parameters=PARAMETERS)
    with pytest.raises(UnboundSymbol, match="the angle alpha has no value"):
        ALGEBRA.sincos(Angle(symbol="alpha"))[0].evaluate(Q)


@settings(deadline=None, max_examples=20)
@given(term_lists)
def test_a_formula_moves_into_a_larger_algebra(terms):
    larger = TrigAlgebra([4, 2, 1, 5], [3], ["x", "l", "m"], [Angle(symbol="alpha"), Angle.parse("-0.3")], rates=True)
    moved = ALGEBRA.from_terms(terms).map(larger.generator, larger.number)
    assert moved == product_of_letters(terms, larger)


def test_formulas_show_themselves():
    s1, c1 = ALGEBRA.joint_sincos(1)
    formula = Fraction(-1, 2) * s1 * c1**2 * ALGEBRA.symbol("m") + ALGEBRA.rate(1) - 3
    assert str(formula) == "-1/2*s1*c1^2*m + qd1 - 3"
    assert repr(formula) == "TrigPoly('-1/2*s1*c1^2*m + qd1 - 3')"
    assert formula._repr_latex_() == r"$-\frac{1}{2} s_{1} c_{1}^{2} m + \dot{q}_{1} - 3$"
    assert str(ALGEBRA.zero) == "0"
    many = (sum(ALGEBRA.generator(g) for g in ALGEBRA.generators)) ** 3
    assert "a formula of" in many._repr_latex_()
    assert len(repr(many)) < 300
    assert str(TrigAlgebra(revolute=[1], parameters=["c1"]).joint_sincos(1)[0]) == "sin(q1)"
    alpha = ALGEBRA.sincos(Angle(symbol="alpha"))[0] * ALGEBRA.sincos(Angle.parse("0.3"))[1]
    assert str(alpha) == "cos(0.3)*sin(alpha)"
    assert alpha.latex.endswith(r"\sin\left(\alpha\right)")


def test_a_formula_tells_its_letters_degrees_and_number():
    s1, c1 = ALGEBRA.joint_sincos(1)
    formula = 2 * s1 * c1**2 + ALGEBRA.symbol("m")
    assert [str(g) for g in formula.generators] == ["s1", "c1", "m"]
    assert (formula.total_degree, formula.degree(Generator("cosine", 1)), len(formula)) == (3, 2, 2)
    assert ALGEBRA.number(Fraction(2, 3)).number == Fraction(2, 3)
    assert ALGEBRA.zero.number == 0
    assert ALGEBRA.zero.total_degree == 0
    assert formula.derivative_by(Generator("parameter", "m")) == 1
    with pytest.raises(ValueError, match="m is not a number"):
        _ = ALGEBRA.symbol("m").number


def test_a_formula_over_its_budget_is_refused_with_advice():
    algebra = TrigAlgebra(parameters=[f"p{i}" for i in range(20)], max_terms=100)
    total = sum(algebra.symbol(f"p{i}") for i in range(20))
    assert len(total * total.derivative_by(Generator("parameter", "p0"))) == 20
    with pytest.raises(OverBudget, match="the budget is 100: give numbers to some symbolic parameters"):
        total * total
    with pytest.raises(OverBudget, match="or raise max_terms"):
        algebra.sum_of_products([(total, total)])
    first, rest = sum(algebra.symbol(f"p{i}") for i in range(4)), total + 1
    assert len(first * rest) == 78
    # 13 x 13 products of which many fall together: within the budget though 169 is not.
    power = (algebra.symbol("p0") + 1) ** 12
    assert len(power * power) == 25


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            lambda: ALGEBRA.symbol("nowhere"),
            r"nowhere is not among this algebra's letters \(s1 c1 .*: declare it",
        ),
        (lambda: ALGEBRA.joint_sincos(3), "s3 is not among this algebra's letters"),
        (lambda: ALGEBRA.sincos(Angle.parse("0.4")), r"sin\(0.4.*\) is not among this algebra's letters"),
        (lambda: ALGEBRA.one.derivative(9), "s9 is not among"),
        (
            lambda: ALGEBRA.one + TrigAlgebra(parameters=["m"]).one,
            r"belong to different algebras: \[s1 c1.*\[m\]",
        ),
        (lambda: ALGEBRA.one**-1, r"raised to 0, 1, 2, ..., not to -1"),
        (
            lambda: ALGEBRA.one.substitute({1: 2}),
            r"joint 1 is revolute: give an Angle or a pair \(sine, cosine\)",
        ),
        (lambda: ALGEBRA.one.substitute({1: (1, 1)}), "a sine and a cosine whose squares do not add up to 1"),
        (lambda: ALGEBRA.one.substitute({"m": 0.5}), "0.5 is neither a formula nor an exact number"),
        (lambda: ALGEBRA.one.substitute({"m": Angle()}), "m takes a number or a formula"),
        (lambda: ALGEBRA.one.substitute({Generator("sine", 1): 1}), "s1 is bound to its angle"),
        (lambda: ALGEBRA.one.derivative_by(Generator("sine", 1)), "s1 is no variable of its own"),
        (
            lambda: TrigAlgebra(parameters=["q1"], revolute=[1]),
            "q1 has the name of a joint's variable: rename",
        ),
        (lambda: TrigAlgebra(parameters=["2m"]), "'2m' is not a symbol's name"),
        (lambda: TrigAlgebra(parameters=["m", "m"]), "a joint or a parameter was given twice"),
        (lambda: TrigAlgebra(revolute=[1], prismatic=[1]), "a joint or a parameter was given twice"),
        (lambda: TrigAlgebra(revolute=[-1]), "joints are numbered 0, 1, 2, ...; -1 is not"),
    ],
)
def test_every_misuse_is_named(work, message):
    with pytest.raises(ValueError, match=message):
        work()


def test_floats_do_not_enter_formulas():
    for work in (lambda: ALGEBRA.one + 0.5, lambda: 0.5 * ALGEBRA.one, lambda: ALGEBRA.one / ALGEBRA.one):
        with pytest.raises(TypeError):
            work()
    with pytest.raises(ZeroDivisionError, match="a formula was divided by zero"):
        ALGEBRA.one / 0
    assert ALGEBRA.one != "1"
    assert isinstance(np.int64(2) * ALGEBRA.one, TrigPoly)
