"""Every function of library robots, compiled in process, against the numeric mechanics."""

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.functions import evaluate, functions_of
from emdeg.programs.build import plain_program
from emdeg.runtime import compile

ROBOTS = ["planar2r", "scara", "stanford_arm"]


def expected_of(robot, function, inputs):
    result = evaluate(function, robot, inputs)
    return result if isinstance(result, tuple) else (result,)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("function", functions_of(emdeg.load("planar2r")))
@pytest.mark.parametrize("name", ROBOTS)
def test_compiled_functions_equal_the_numeric_mechanics(name, function):
    robot = emdeg.load(name)
    built = plain_program(robot, function)
    rng = np.random.default_rng(7)
    inputs = {group.name: rng.uniform(-2, 2, (11, group.size)) for group in built.inputs}
    expected = expected_of(robot, function, inputs)
    results = compile(built)(**inputs)
    for found, wanted in zip(results if isinstance(results, tuple) else (results,), expected):
        close(found, wanted)


def test_a_payload_left_symbolic_is_an_input():
    robot = emdeg.load("planar2r", payload="mass=m,com=x:0:0@link2")
    compiled = compile(plain_program(robot, "inverse_dynamics"))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 20, 2))
    loaded = emdeg.load("planar2r", payload="mass=1.5,com=0.25:0:0@link2")
    assert compiled.program.inputs[-1].labels == ("m", "x")
    close(compiled(q, qd, qdd, [1.5, 0.25]), emdeg.inverse_dynamics(loaded, q, qd, qdd))
