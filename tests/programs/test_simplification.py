from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdeg.programs import simplification
from emdeg.programs.ir import Count, Dependence, Kind, count, dependences
from emdeg.programs.network import factor
from emdeg.programs.simplification import (
    few_alive,
    fold_signs,
    for_one_state,
    most_alive,
    prune,
    retrace,
    schedule,
    simplify,
    split_constants,
    split_rates,
    taken_ahead,
)
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples

PASSES = [prune, retrace, factor, schedule, few_alive, taken_ahead, for_one_state, fold_signs, simplify]


def same_function(left, right, states=20):
    inputs = samples(left, states)
    a, b = evaluate(left, inputs), evaluate(right, inputs)
    for name in a:
        np.testing.assert_allclose(b[name], a[name], rtol=1e-9, atol=1e-9 * max(1, np.abs(a[name]).max()))


@pytest.mark.parametrize("change", PASSES)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_a_pass_keeps_the_function_and_adds_no_operation(change, seed):
    program = random_program(seed, divisions=True)
    changed = change(program)
    same_function(program, changed)
    assert count(changed).total <= count(program).total


@pytest.mark.parametrize("change", PASSES)
@pytest.mark.parametrize("build", [pendulum_pair, kitchen_sink])
def test_a_pass_keeps_inputs_and_output_shapes(change, build):
    program, _ = build()
    changed = change(program)
    assert changed.inputs == program.inputs
    assert [(g.name, g.shape) for g in changed.outputs] == [(g.name, g.shape) for g in program.outputs]
    same_function(program, changed)


def test_for_one_state_what_a_long_chain_waits_for_comes_first():
    t = Tracer()
    x = t.inputs("q", 6, Dependence.CONFIGURATION)
    products = [a * b for a, b in pairwise(x)]
    chain = x[0] + x[1]
    for _ in range(9):
        chain = chain * x[2] + x[3]
    given = t.program("p", {"y": [*products, chain]})
    ordered = for_one_state(given)
    start = next(op for op in given.ops if op.kind is Kind.ADD).args
    places = [index for index, op in enumerate(ordered.ops) if op.kind in (Kind.ADD, Kind.MUL)]
    assert [ordered.ops[arg] for arg in ordered.ops[places[0]].args] == [given.ops[arg] for arg in start]
    assert count(ordered) == count(given)
    same_function(given, ordered)


def test_while_a_chain_of_divisions_waits_others_are_taken_ahead(monkeypatch):
    monkeypatch.setattr(simplification, "REACH", 10)
    t = Tracer()
    x = t.inputs("q", 8, Dependence.CONFIGURATION)
    chain = x[0]
    for one in x[1:]:
        chain = one / (chain + one)
    products = [a * b for a in x for b in x]
    given = t.program("p", {"y": [chain, *products]})
    ordered = taken_ahead(given)
    last = max(index for index, op in enumerate(ordered.ops) if op.kind is Kind.DIV)
    assert sum(op.kind is Kind.MUL for op in ordered.ops[:last]) > 20
    assert count(ordered) == count(given)
    same_function(given, ordered)


def test_where_nothing_waits_the_order_stays():
    t = Tracer()
    x = t.inputs("q", 8, Dependence.CONFIGURATION)
    given = t.program("p", {"y": [a * b + a for a in x for b in x]})
    assert taken_ahead(given) == given


def traced(build):
    t = Tracer()
    x = t.inputs("q", 6, Dependence.CONFIGURATION)
    program = t.program("p", {"y": build(t, x)})
    changed = simplify(program)
    same_function(program, changed)
    return count(changed)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda t, x: x[0] * x[1] + x[0] * x[2], Count(mul=1, add=1)),
        (lambda t, x: x[0] * x[1] - x[2] * x[0] + x[0] * x[3], Count(mul=1, add=2)),
        (lambda t, x: 3 * (x[0] * Fraction(1, 3)) + x[1], Count(add=1)),
        (lambda t, x: 3 * (x[0] * 5 * x[1]), Count(mul=2)),
        (lambda t, x: x[0] * 3 + x[1] + x[0] * 4, Count(mul=1, add=1)),
        (lambda t, x: x[0] * 3 + x[1] + x[0], Count(mul=1, add=1)),
        (lambda t, x: (x[0] + x[1]) - x[0], Count()),
        (lambda t, x: [x[0] + x[1] + x[2], x[3] - x[0] - x[2]], Count(add=3)),
        (lambda t, x: [x[0] * x[1] * x[2], x[3] * x[0] * x[2]], Count(mul=3)),
        (
            lambda t, x: [x[0] * x[1] + x[0] * x[2], x[3] * x[1] + x[3] * x[2]],
            Count(mul=2, add=1),
        ),
        (
            lambda t, x: [x[0] * x[1] - x[0] * x[2], x[3] * x[2] - x[3] * x[1] + x[4]],
            Count(mul=2, add=2),
        ),
        (lambda t, x: t.symbol("a") * x[0] + t.symbol("b") * x[0], Count(mul=1)),
        (lambda t, x: [x[0] - x[1], -(x[0] - x[1])], Count(add=1)),
    ],
)
def test_factoring_finds_the_known_smallest_form(build, expected):
    assert traced(build) == expected


def test_a_lone_negated_difference_is_turned_round():
    t = Tracer()
    a, b = t.inputs("q", 2, Dependence.CONFIGURATION)
    program = fold_signs(t.program("p", {"y": -(a - b)}))
    assert program.outputs[0].entries[0].sign == 1
    assert evaluate(program, {"q": [1.0, 3.0]})["y"] == 2.0


def test_scheduling_never_keeps_more_values_alive():
    for seed in range(10):
        program = prune(random_program(seed, 150))
        assert most_alive(schedule(program)) <= most_alive(program)


def test_simplification_is_deterministic():
    assert simplify(random_program(3)) == simplify(random_program(3))


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
