"""Units in which numbers become one: what must come out for programs of which that is known by hand."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.algebra import Angle
from emdeg.programs import plain_program, verify_program
from emdeg.programs.ir import Count, Dependence, Kind, count
from emdeg.programs.trace import Tracer
from emdeg.programs.units import in_units
from emdeg.programs.values import evaluate
from tests.program_samples import random_program, samples
from tests.programs.test_simplification import same_function
from tests.random_robots import robots

HALF = Fraction(1, 2)


def traced(build, inputs=4):
    t = Tracer()
    return t.program("p", {"y": build(t, t.inputs("q", inputs, Dependence.CONFIGURATION))})


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        # A sum in a unit of its own: 6 x + 15 y
        (lambda t, x: [3 * (2 * x[0] + 5 * x[1])], Count(mul=2, add=1)),
        # Two that are divided have the same unit
        (lambda t, x: [(5 * x[0] + 7 * x[1]) / (5 * x[2] + 3 * x[3])], Count(mul=2, add=2, div=1)),
        # Two that are multiplied have any two
        (lambda t, x: [(5 * x[0] + 7 * x[1]) * (5 * x[2] + 3 * x[3]) * 2], Count(mul=4, add=2)),
        # A unit cannot be lost in a sum with what has none
        (lambda t, x: [3 * (2 * x[0] + x[1] * x[2])], Count(mul=3, add=1)),
        # What goes in and what comes out has its own units
        (lambda t, x: [3 * x[0], x[1] * 3], Count(mul=2)),
        (lambda t, x: [t.sine(2 * x[0]) * x[1] + x[2]], Count(mul=2, add=1, sincos=1)),
        # A root's radicand too
        (lambda t, x: [t.sqrt(3 * (x[0] * x[0]) + 3 * (x[1] * x[1])) * 3], Count(mul=5, add=1, sqrt=1)),
    ],
)
def test_numbers_become_one_where_units_are_free(build, expected):
    program = traced(build)
    written = in_units(program)
    same_function(program, written)
    assert count(written) == expected


def test_of_several_numbers_the_one_that_occurs_most_becomes_one():
    def build(t, x):
        lengths = [Fraction(2, 7), Fraction(2, 7), Fraction(3, 7), Fraction(2, 7)]
        moments = [length * one for length, one in zip(lengths, x)]
        return [(m + x[k] * x[k - 1] * 5) * x[k - 2] for k, m in enumerate(moments)]

    program = traced(lambda t, x: [sum((one for one in build(t, x)), t.number(0)) * Fraction(1, 9)])
    written = in_units(program)
    same_function(program, written)
    numbers = {op.number for op in written.ops if op.kind is Kind.NUMBER}
    assert count(program).mul - count(written).mul == 4  # four times 5 in one unit
    assert 5 not in numbers


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_no_program_gets_longer(seed):
    program = random_program(seed, divisions=True)
    written = in_units(program)
    same_function(program, written)
    assert count(written).total <= count(program).total


@given(robot=robots())
@settings(max_examples=15, deadline=None)
def test_a_robots_program_computes_what_newton_and_euler_do(robot):
    for function in ("inverse_dynamics", "mass_matrix"):
        written = in_units(plain_program(robot, function))
        assert verify_program(written, robot, function).false_pass_probability < 1e-15


def test_numbers_that_are_not_rational_and_symbols_stay():
    t = Tracer()
    x = t.inputs("q", 2, Dependence.CONFIGURATION)
    sine, _ = t.sincos(Angle(radians=Fraction(3, 10)))
    length = t.symbol("length")
    program = t.program("p", {"y": [(sine * x[0] + 3 * x[1]) * HALF, length * x[1] * HALF]})
    written = in_units(program)
    same_function(program, written)
    assert count(written) == Count(mul=4, add=1)


def test_values_stay_within_single_precision():
    """A unit of a hundred-millionth would make its fourth power too large."""
    tiny = Fraction(1, 10**8)
    program = traced(lambda t, x: [((x[0] * tiny * x[1] + 1) * (x[2] * tiny * x[3] + 1) * tiny + 1) * tiny])
    inputs = samples(program, 5)
    largest = max(abs(float(op.number)) for op in in_units(program).ops if op.kind is Kind.NUMBER)
    assert largest < 1e9
    assert (evaluate(in_units(program), inputs)["y"] == evaluate(program, inputs)["y"]).all()


def test_the_panda_is_written_in_its_elbows_offset():
    program = plain_program(emdeg.load("panda"), "inverse_dynamics")
    offset = Fraction(825, 10_000)
    assert any(op.kind is Kind.NUMBER and op.number == offset for op in program.ops)
    written = in_units(program)
    assert not any(op.kind is Kind.NUMBER and op.number == offset for op in written.ops)
    assert count(written).total < count(program).total
