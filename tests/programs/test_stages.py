"""Stages of a program, one after the other, compute what it does, and keep to the order of inputs and outputs."""

import numpy as np
import pytest

import emdeg
from emdeg.programs import Dependence, Kind, count, evaluate, in_stages
from emdeg.programs.ir import Count
from emdeg.programs.stages import HELD, RESULTS
from emdeg.programs.trace import Tracer
from tests.program_samples import kitchen_sink, pendulum_pair, random_program, samples


def run(program, length, given):
    """The outputs that stages leave in arrays, outputs and what is held between stages alike."""
    stages = in_stages(program, length)
    held = sum(name == HELD for stage in stages for name, _ in stage.places)
    arrays = {group.name: np.full(len(group.entries), np.nan) for group in program.outputs} | {
        HELD: np.full(held, np.nan)
    }
    for stage in stages:
        found = evaluate(stage.program, given | {HELD: arrays[HELD]})[RESULTS]
        for (name, place), value in zip(stage.places, found, strict=True):
            assert np.isnan(arrays[name][place]), "stored twice"
            arrays[name][place] = value
    return stages, arrays


PROGRAMS = [*(random_program(seed, divisions=True) for seed in range(4)), pendulum_pair()[0], kitchen_sink()[0]]


@pytest.mark.parametrize("length", [12, 25, 1000])
@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{k}_{one.name}" for k, one in enumerate(PROGRAMS)])
def test_stages_compute_what_the_program_does_with_its_operations(program, length):
    given = {name: array[0] for name, array in samples(program, 1).items()}
    stages, arrays = run(program, length, given)
    for name, expected in evaluate(program, given).items():
        np.testing.assert_array_equal(arrays[name], np.ravel(expected))
    assert sum((count(stage.program) for stage in stages), Count()) == count(program)


@pytest.mark.parametrize("length", [12, 25])
@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{k}_{one.name}" for k, one in enumerate(PROGRAMS)])
def test_outputs_are_stored_after_the_last_stage_that_reads_an_input(program, length):
    stages = in_stages(program, length)
    names = {group.name for group in program.inputs}
    reading = [
        k for k, one in enumerate(stages) for op in one.program.ops if op.kind is Kind.INPUT and op.slot[0] in names
    ]
    storing = [k for k, one in enumerate(stages) if any(name != HELD for name, _ in one.places)]
    assert max(reading) < min(storing)


def test_an_input_that_is_an_output_is_taken_along():
    t = Tracer()
    q = t.inputs("q", 2, Dependence.RATES)
    program = t.program("f", {"y": [q[1], q[0], q[0] * q[1]]})
    _, arrays = run(program, 1, {"q": np.array([2.0, 3.0])})
    assert arrays["y"].tolist() == [3.0, 2.0, 6.0]


def test_a_sine_of_a_sine_has_no_stages():
    t = Tracer()
    (q,) = t.inputs("q", 1, Dependence.RATES)
    s, _ = t.sincos_of(q)
    program = t.program("f", {"y": list(t.sincos_of(s * 2))})
    assert in_stages(program, 1) == []


def test_little_lives_in_a_stage_of_a_long_program():
    program = emdeg.program("panda", "forward_dynamics_derivatives")
    stages = in_stages(program, 500)
    held = sum(name == HELD for stage in stages for name, _ in stage.places)
    assert len(stages) == 9
    assert held < program.size / 5
