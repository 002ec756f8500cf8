"""Two constants by one: r sin(x + p) against the addition theorem in SymPy, and in programs of short models."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

import emdeg
from emdeg.algebra.expression import Atom, Product, Sum
from emdeg.programs import count
from emdeg.programs.phases import folded, phases
from emdeg.programs.values import evaluate
from emdeg.programs.weights import CYCLES

NUMBERS = {"A": Fraction(3, 7), "B": Fraction(-2, 5)}


def sine(constant: str, kind: str, coefficient: int, *others: Atom) -> Product:
    return Product(Fraction(coefficient), (Atom(constant), Atom(kind, ((2, 1), (3, 1))), *others))


@pytest.mark.parametrize("others", [(), (Atom("C", ((4, 1),)),)])
@pytest.mark.parametrize(("kinds", "signs"), [("SC", (1, 1)), ("SC", (2, -2)), ("CS", (1, 3)), ("CS", (-1, 1))])
def test_a_pair_of_terms_is_one_sine_with_another_angle(kinds, signs, others):
    terms = (sine("A", kinds[0], signs[0], *others), sine("B", kinds[1], signs[1], *others))
    expression = Sum((Product(Fraction(5), ()), *terms))
    for phase in phases([expression], NUMBERS, joints=6):
        (still, made) = folded(expression, [phase]).terms
        assert still == expression.terms[0]
        assert made.factors[1].angle == ((2, 1), (3, 1), (phase.joint, 1))
        assert made.factors[2:] == others
        x = sympy.Symbol("x")
        function = {"S": sympy.sin, "C": sympy.cos}
        p = sympy.Rational(phase.angle.radians) + sympy.Rational(phase.angle.pi_times) * sympy.pi
        one = sympy.Rational(made.coefficient) * sympy.Rational(phase.norm) * function[made.factors[1].kind](x + p)
        two = sum(
            sympy.Rational(t.coefficient) * sympy.Rational(NUMBERS[t.factors[0].kind]) * function[t.factors[1].kind](x)
            for t in terms
        )
        for at in (0, sympy.Rational(1, 3), 2):
            assert abs(sympy.N((one - two).subs(x, at), 45)) < 1e-35


def test_terms_that_do_not_belong_together_are_left():
    lonely = Sum((sine("A", "S", 1), sine("B", "C", 1, Atom("C", ((4, 1),))), sine("B", "S", 1), sine("A", "C", 1)))
    assert all({phase.first, phase.second} == {"A", "B"} for phase in phases([lonely], NUMBERS, joints=6))
    assert phases([Sum((sine("A", "S", 1), sine("B", "S", 1)))], NUMBERS, joints=6) == []


@pytest.fixture(scope="module")
def short():
    return emdeg.abbreviate(emdeg.load("puma560"), significance=0.01, joint_significance=0.001, seconds=0.5)


def test_a_short_mass_matrix_by_phases_is_the_printed_one_in_fewer_operations(short):
    by_operations = short.program("mass_matrix")
    by_cycles = short.program("mass_matrix", weights=CYCLES)
    assert count(by_operations).total <= 25 < count(by_cycles).total
    assert count(by_cycles).sincos < count(by_operations).sincos
    q = np.random.default_rng(0).uniform(-3, 3, (50, 6))
    assert evaluate(by_operations, {"q": q})["M"] == pytest.approx(evaluate(by_cycles, {"q": q})["M"], abs=1e-14)
