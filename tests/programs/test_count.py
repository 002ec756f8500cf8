"""The definition of an operation count."""

from fractions import Fraction

import pytest

from emdeg.algebra import Angle
from emdeg.programs.ir import Count, Dependence, count, count_by_dependence
from emdeg.programs.trace import Tracer

HALF = Fraction(1, 2)


def q_and_rates():
    t = Tracer()
    return t, t.inputs("q", 3, Dependence.CONFIGURATION), t.inputs("qd", 3, Dependence.RATES)


def counted(build) -> Count:
    t, q, qd = q_and_rates()
    return count(t.program("p", {"y": build(t, q, qd)}))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda t, q, qd: q[0] * q[1], Count(mul=1)),
        (lambda t, q, qd: q[0] + q[1], Count(add=1)),
        (lambda t, q, qd: q[0] - q[1], Count(add=1)),
        (lambda t, q, qd: q[0] * q[0], Count(mul=1)),
        (lambda t, q, qd: 2 * q[0], Count(mul=1)),
        (lambda t, q, qd: q[0] + q[0], Count(mul=1)),
        (lambda t, q, qd: -q[0], Count()),
        (lambda t, q, qd: -(q[0] * q[1]) - q[2], Count(mul=1, add=1)),
        (lambda t, q, qd: t.sqrt(-(q[0] + q[1])), Count(add=1, sqrt=1)),
        (lambda t, q, qd: q[0] / q[1], Count(div=1)),
        (lambda t, q, qd: q[0] / 3, Count(mul=1)),
        (lambda t, q, qd: t.sqrt(q[0]), Count(sqrt=1)),
        (lambda t, q, qd: q[0] * 0 + 3, Count()),
    ],
)
def test_one_operation_counts_as(build, expected):
    assert counted(build) == expected


def test_a_sine_and_a_cosine_of_one_angle_are_one_pair():
    assert counted(lambda t, q, qd: list(t.sincos_of(q[0]))) == Count(sincos=1)
    assert counted(lambda t, q, qd: t.sincos_of(q[0])[1]) == Count(sincos=1)
    assert counted(lambda t, q, qd: [t.sincos_of(q[0])[1], t.sincos_of(-q[0])[0]]) == Count(sincos=1)


def test_the_addition_that_forms_an_angle_counts():
    assert counted(lambda t, q, qd: t.sincos_of(q[0] + q[1])[0]) == Count(add=1, sincos=1)


def test_a_shared_value_counts_once():
    assert counted(lambda t, q, qd: [q[0] * q[1], -q[1] * q[0], q[0] * q[1] + 1]) == Count(mul=1, add=1)


def test_arithmetic_on_constants_is_not_counted():
    def build(t, q, qd):
        s, c = t.sincos(Angle(radians=HALF))
        lumped = t.symbol("m") * t.symbol("l") * s - c * HALF
        return lumped * q[0] + t.sqrt(lumped) / t.symbol("m")

    assert counted(build) == Count(mul=1, add=1)


def test_what_no_output_needs_is_not_counted():
    def build(t, q, qd):
        _ = q[0] * q[1] * q[2]
        return q[0] + 1

    assert counted(build) == Count(add=1)


def test_zero_constant_repeated_and_negated_outputs_cost_nothing():
    def build(t, q, qd):
        x = q[0] * q[1]
        return [x, -x, x, t.number(0), t.number(3), t.symbol("m") * 2]

    assert counted(build) == Count(mul=1)


def test_configuration_and_rates_are_counted_apart():
    t, q, qd = q_and_rates()
    s, _ = t.sincos_of(q[0])
    parts = count_by_dependence(t.program("p", {"y": s * q[1] * qd[0] + qd[1]}))
    assert parts[Dependence.CONFIGURATION] == Count(mul=1, sincos=1)
    assert parts[Dependence.RATES] == Count(mul=1, add=1)
    assert parts[Dependence.RATES].total == 2
