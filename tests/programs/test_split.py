import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.programs.ir import Dependence, count, dependences
from emdeg.programs.split import split_constants, split_rates
from emdeg.programs.values import evaluate
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples


def chained(first, second, inputs, name):
    passed = evaluate(first, {group.name: inputs[group.name] for group in first.inputs})[name]
    return evaluate(
        second, {group.name: passed if group.name == name else inputs[group.name] for group in second.inputs}
    )


def test_constants_then_the_rest_compute_the_whole():
    program, reference = kitchen_sink()
    first, second = split_constants(program)
    assert first is not None
    assert [group.name for group in second.inputs] == ["q", "qd", "constants"]
    assert count(second) == count(program)
    assert count(first).total == 0
    inputs = samples(program, 10)
    out = chained(first, second, inputs, "constants")
    np.testing.assert_allclose(out["matrix"], reference(**inputs)[0], rtol=1e-14)


def test_a_program_of_numbers_has_no_constants_to_split_off():
    program, _ = pendulum_pair()
    assert split_constants(program) == (None, program)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_configuration_then_rates_compute_the_whole_at_the_same_cost(seed):
    program = random_program(seed)
    first, second = split_rates(program)
    assert set(dependences(first)) <= {Dependence.CONSTANTS, Dependence.CONFIGURATION}
    assert count(first) + count(second) == count(program)
    inputs = samples(program, 5)
    out, whole = chained(first, second, inputs, "x"), evaluate(program, inputs)
    for name in whole:
        np.testing.assert_array_equal(out[name], whole[name])
