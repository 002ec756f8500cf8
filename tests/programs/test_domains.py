"""Divisors that are certainly not zero over a box, and those of which that cannot be said."""

import numpy as np
import pytest

import emdeg
from emdeg.programs.domains import limits_box, nowhere_negative, nowhere_zero
from emdeg.programs.ir import Dependence, Kind
from emdeg.programs.trace import Tracer


def divided(build):
    t = Tracer()
    q, qd = t.inputs("q", 2, Dependence.CONFIGURATION), t.inputs("qd", 1, Dependence.RATES)
    program = t.program("p", {"y": [1 / build(t, q, qd)]})
    return program, next(op.args[1] for op in program.ops if op.kind is Kind.DIV)


@pytest.mark.parametrize(
    ("build", "box", "sure"),
    [
        (lambda t, q, qd: t.sincos_of(q[0])[1] + 2, (-4.0, 4.0), True),
        (lambda t, q, qd: t.sincos_of(q[0])[1] + 1, (-4.0, 4.0), False),  # zero at half a turn
        (lambda t, q, qd: t.sincos_of(q[0])[1] + 1, (-3.0, 3.0), True),
        (lambda t, q, qd: q[0] * q[0] + q[1] * q[1] - q[0] * q[1] + 1, (-2.0, 2.0), True),  # halved some times
        (lambda t, q, qd: q[0] * q[0] - 2, (1.4, 1.5), False),  # zero at an irrational number
        (lambda t, q, qd: q[0] * q[0] - 2, (1.42, 1.5), True),
        (lambda t, q, qd: t.sqrt(q[0]) + 1, (-1.0, 1.0), False),  # no root below zero
        (lambda t, q, qd: qd[0] * qd[0] + 1, (-1.0, 1.0), False),  # of speeds nothing is known
    ],
)
def test_a_divisor_is_shown_not_to_vanish_or_left_undecided(build, box, sure):
    program, divisor = divided(build)
    assert nowhere_zero(program, [divisor], {("q", 0): box, ("q", 1): box}) == ({divisor} if sure else set())


@pytest.mark.parametrize(
    ("build", "box", "sure"),
    [
        (lambda t, q, qd: q[0], (-1.0, 1.0), False),
        (lambda t, q, qd: q[0], (0.1, 1.0), True),
        (lambda t, q, qd: t.sincos_of(q[0])[1], (-1.5, 1.5), True),
        (lambda t, q, qd: t.sincos_of(q[0])[1], (-1.6, 1.5), False),
        (lambda t, q, qd: t.sqrt(q[0]) - 1, (1.1, 9.0), True),  # a root of a root
        (lambda t, q, qd: qd[0] * qd[0] + 1, (-1.0, 1.0), False),  # of speeds nothing is known
    ],
)
def test_a_radicand_is_shown_not_to_be_negative_or_left_undecided(build, box, sure):
    t = Tracer()
    q, qd = t.inputs("q", 2, Dependence.CONFIGURATION), t.inputs("qd", 1, Dependence.RATES)
    program = t.program("p", {"y": [t.sqrt(build(t, q, qd))]})
    radicand = [op.args[0] for op in program.ops if op.kind is Kind.SQRT][-1]
    assert nowhere_negative(program, [radicand], {("q", 0): box, ("q", 1): box}) == ({radicand} if sure else set())


def test_roots_of_a_closed_loop_exist_within_its_limits_and_of_a_wide_one_that_is_not_said():
    found = emdeg.verify("fourbar", "gravity")
    assert found["nowhere_negative"] == [index for index, _ in found["roots_of"]] != []
    delta = emdeg.verify("delta", "gravity")
    assert len(delta["roots_of"]) == 3
    assert not delta["nowhere_negative"]


def test_limits_make_the_box_and_a_slide_without_any_is_not_in_it():
    box = limits_box(emdeg.load("puma560"))
    assert sorted(box) == [("q", k) for k in range(6)]
    for joint, (low, high) in zip(emdeg.load("puma560").joints, box.values()):
        assert low <= (-np.pi if joint.limits.lower is None else float(joint.limits.lower))
        assert high >= (np.pi if joint.limits.upper is None else float(joint.limits.upper))
    assert limits_box(emdeg.load("delta")) == {}


def test_pivots_of_a_mass_matrix_do_not_vanish_and_the_jacobians_determinant_does():
    found = emdeg.verify("puma560", "forward_dynamics")
    assert found["nowhere_zero"] == sorted(index for index, _ in found["divides_by"])
    singular = emdeg.verify("puma560", "inverse_jacobian")
    assert singular["divides_by"]
    assert not singular["nowhere_zero"]
