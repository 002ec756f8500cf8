from fractions import Fraction

import numpy as np
import pytest

from emdeg.algebra import Angle
from emdeg.programs.ir import Dependence, Kind, Op, Program, dependences
from emdeg.programs.trace import Tracer
from emdeg.programs.values import constants, evaluate
from tests.program_samples import kitchen_sink, pendulum_pair, samples


def two_inputs():
    t = Tracer()
    return t, *t.inputs("q", 2, Dependence.CONFIGURATION)


def test_a_traced_formula_computes_the_formula():
    program, reference = pendulum_pair()
    inputs = samples(program, 50)
    np.testing.assert_allclose(evaluate(program, inputs)["tau"], reference(**inputs), rtol=1e-13, atol=1e-13)


def test_every_kind_of_operation_computes_what_numpy_computes():
    program, reference = kitchen_sink()
    inputs = samples(program, 50)
    matrix, scalar = reference(**inputs)
    out = evaluate(program, inputs)
    np.testing.assert_allclose(out["matrix"], matrix, rtol=1e-14)
    np.testing.assert_allclose(out["scalar"], scalar, rtol=1e-14)
    assert out["matrix"].shape == (50, 2, 3)
    assert out["scalar"].shape == (50,)


def test_equal_products_and_sums_are_one_value_up_to_sign():
    t, x, y = two_inputs()
    assert (x * y).index == (y * -x).index
    assert (x + y).index == (-y - x).index
    assert (x - y).index == (y - x).index
    assert (x - y).sign == -(y - x).sign
    assert sum(op.kind is not Kind.INPUT for op in t.ops) == 3


def test_zero_one_and_minus_one_cost_nothing():
    t, x, _ = two_inputs()
    before = len(t.ops)
    assert (x * 0).is_zero
    assert (x - x).is_zero
    assert (x + 0).index == x.index
    assert (1 * x).index == x.index
    assert (-1 * x).ref.sign == -1
    assert (x / x).ref.sign == 1
    assert {op.kind for op in t.ops[before:]} <= {Kind.NUMBER}


def test_numbers_fold_exactly():
    t, x, _ = two_inputs()
    value = t.number(Fraction(1, 3)) * 3 * x - t.number(Fraction(1, 10)) * t.number(Fraction(10))
    program = t.program("p", {"y": value})
    assert [op.number for op in program.ops if op.kind is Kind.NUMBER] == [Fraction(1, 3), 3, 1, Fraction(1, 10), 10]
    assert evaluate(program, {"q": [7.0, 0.0]})["y"] == 6.0


def test_sine_is_odd_and_cosine_is_even():
    t, x, y = two_inputs()
    s, c = t.sincos_of(x - y)
    s2, c2 = t.sincos_of(y - x)
    assert (s.index, s.sign) == (s2.index, -s2.sign)
    assert (c.index, c.sign) == (c2.index, c2.sign)


def test_quarter_turns_fold_and_other_constant_angles_stay_exact():
    t = Tracer()
    s, c = t.sincos(Angle.parse("-90 deg"))
    assert c.is_zero
    assert (s.sign, t.ops[s.index].number) == (-1, 1)
    s, c = t.sincos(Angle.parse("2.5"))
    program = t.program("p", {"y": [s, c]})
    known = constants(program)
    found = [ref.sign * float(known[ref.value]) for ref in program.outputs[0].entries]
    assert found == [np.sin(2.5), np.cos(2.5)]


def test_dependence_classes_follow_the_inputs():
    program, _ = kitchen_sink()
    classes = dependences(program)
    for op, depends in zip(program.ops, classes):
        if op.args:
            assert depends == max(classes[arg] for arg in op.args)
    parameter = next(i for i, op in enumerate(program.ops) if op.payload == ("parameters", 0))
    assert classes[parameter] is Dependence.CONSTANTS


def test_values_of_two_tracers_do_not_mix():
    _, x, _ = two_inputs()
    _, y, _ = two_inputs()
    with pytest.raises(ValueError, match="two tracers"):
        _ = x + y


def test_division_by_a_traced_zero_is_an_error():
    t, x, _ = two_inputs()
    with pytest.raises(ZeroDivisionError):
        _ = x / t.number(0)


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        ((Op(Kind.ADD, (0, 1)),), "malformed"),
        ((Op(Kind.INPUT, payload=("q", 2)),), "no input"),
        ((Op(Kind.INPUT, payload=("q", 0)), Op(Kind.NEG, (1,))), "malformed"),
    ],
)
def test_a_malformed_program_is_refused(ops, message):
    _t, *_ = two_inputs()
    groups = _t.program("p", {}).inputs
    with pytest.raises(ValueError, match=message):
        Program("p", groups, ops, ())


def test_ragged_outputs_are_refused():
    t, x, y = two_inputs()
    with pytest.raises(ValueError, match="rows differ"):
        t.program("p", {"y": [[x, y], [x]]})
