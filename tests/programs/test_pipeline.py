"""A processor that is easy to compute by hand: chains wait, what is independent does not."""

import pytest

from emdeg.programs import Dependence
from emdeg.programs.instructions import Instructions
from emdeg.programs.pipeline import ACCESS, CACHED, DIVISION, PRODUCT, SUM, UNITS, WAITING
from emdeg.programs.registers import estimated_cycles, quickest
from emdeg.programs.simplification import few_alive
from emdeg.programs.trace import Tracer


def traced(build, inputs):
    t = Tracer()
    return t.program("p", {"y": build(t.inputs("q", inputs, Dependence.CONFIGURATION))})


def cycles(program):
    return estimated_cycles(Instructions(program), waves_lie=True)


def chain(x, step):
    found = x[0]
    for one in x[1:]:
        found = step(found, one)
    return [found]


@pytest.mark.parametrize(
    ("step", "each"),
    [
        (lambda a, b: a + b, SUM),
        (lambda a, b: a * b, PRODUCT),
        (lambda a, b: b / a, DIVISION),
        (lambda a, b: a * b + b, PRODUCT),
    ],
)
def test_each_of_a_chain_waits_for_the_one_before(step, each):
    short, long = (cycles(traced(lambda x: chain(x, step), many)) for many in (100, 200))
    assert long - short == pytest.approx(100 * each, abs=100 * 4 * ACCESS + each)


def products(chains, length, side_by_side):
    """So many chains of products, one after the other or side by side."""
    t = Tracer()
    x = t.inputs("q", 16, Dependence.CONFIGURATION)
    found = [x[k] for k in range(chains)]
    turns = [(k, step) for k in range(chains) for step in range(length)]
    for k, step in sorted(turns, key=lambda turn: turn[1]) if side_by_side else turns:
        found[k] = found[k] * x[(k + step) % 16]
    return t.program("p", {"y": found})


def test_what_is_independent_takes_as_long_as_units_are_busy():
    one, eight, sixteen = (cycles(products(chains, 100, side_by_side=True)) for chains in (1, 8, 16))
    assert one == pytest.approx(100 * PRODUCT, rel=0.1)
    assert eight == pytest.approx(800 / UNITS, rel=0.2)
    assert sixteen == pytest.approx(1600 / UNITS, rel=0.2)


def test_a_chain_is_taken_ahead_only_as_far_as_others_may_wait():
    """Chains longer than what may wait follow each other; short ones overlap."""
    assert cycles(products(4, 3 * WAITING, False)) > 2.5 * cycles(products(4, 3 * WAITING, True))
    assert cycles(products(4, WAITING // 4, False)) < 1.5 * cycles(products(4, WAITING // 4, True))


def test_instructions_beyond_those_that_are_ready_cost_more():
    def build(many):
        return lambda x: [a * b * c for a in x[:many] for b in x for c in x]

    within, beyond = (traced(build(many), 30) for many in (2, 14))
    each = [cycles(one) / one.size for one in (within, beyond)]
    assert beyond.size > CACHED > within.size
    assert each[1] > 1.1 * each[0]


def test_of_two_orders_the_quicker_is_taken():
    given = products(4, 2 * WAITING, side_by_side=True)
    assert estimated_cycles(quickest(given, True), True) <= cycles(given) < cycles(few_alive(given)) / 2
