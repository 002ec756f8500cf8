from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, make_artefact
from emdeg.codegen.rechecking import recheck
from emdeg.errors import Refuted
from emdeg.programs.ir import Dependence, Kind
from emdeg.programs.rounding import check_rounding, float_error, states_of, ulps
from emdeg.programs.trace import Tracer
from emdeg.programs.values import evaluate
from tests.program_samples import pendulum_pair


def test_one_spacing_is_one_ulp():
    x = np.array([1.0, 1e10, 3.5])
    np.testing.assert_array_equal(ulps(np.nextafter(x, np.inf), x), 1.0)


def test_double_arithmetic_on_a_short_program_errs_by_few_ulps():
    assert 0 < float_error(pendulum_pair()[0])["tau"] < 16


def configuration(build):
    t = Tracer()
    q = t.inputs("q", 2, Dependence.CONFIGURATION)
    return t.program("p", {"y": build(t, q)})


STATES = {"q": np.array([[0.0, 0.0], [0.3, -2.0], [np.pi / 2, 1e4], [1e-9, 1.0], [-3.0, 0.5]])}


def test_a_program_that_only_writes_the_formulation_otherwise_rounds_as_it_may():
    right = configuration(lambda t, q: [t.sincos_of(q[0] + q[1])[0], q[0] * q[1] + q[0]])
    other = configuration(
        lambda t, q: [
            t.sincos_of(q[0])[0] * t.sincos_of(q[1])[1] + t.sincos_of(q[0])[1] * t.sincos_of(q[1])[0],
            q[0] * (q[1] + 1),
        ]
    )
    for single in (False, True):
        found = check_rounding(other, right, STATES, single=single)
        assert found.states == 5
        assert found.largest < 4


@pytest.mark.parametrize(
    ("build", "word"),
    [
        (lambda t, q: [(q[0] + 10**25) - 10**25], "is off by"),
        (lambda t, q: [(q[0] + 10**6) - 10**6], "is off by"),
        (lambda t, q: [q[0] * q[1] / q[1]], "is no number"),
        (lambda t, q: [t.sqrt(q[0] * q[0])], "is off by"),
        (lambda t, q: [(q[0] * Fraction(10) ** 300) * Fraction(10) ** 300 * Fraction(1, 10**600)], "is no number"),
    ],
)
def test_what_loses_digits_or_has_no_value_is_refuted_although_it_is_equal(build, word):
    right = configuration(lambda t, q: [q[0]])
    with pytest.raises(Refuted, match=word):
        check_rounding(configuration(build), right, STATES)


def test_a_state_near_a_named_divisor_s_zero_is_left_out_and_no_other():
    right = configuration(lambda t, q: [q[0]])
    divided = configuration(lambda t, q: [q[0] * q[1] / q[1]])
    place = next(op.args[1] for op in divided.ops if op.kind is Kind.DIV)
    assert check_rounding(divided, right, STATES, named=[place]).states == 4


def test_where_the_formulation_has_no_value_nothing_is_asked():
    program = configuration(lambda t, q: [q[0] / q[1]])
    assert check_rounding(program, program, STATES).largest <= 1


def test_what_is_executed_is_what_is_judged():
    program = configuration(lambda t, q: [q[0] * q[1]])

    def wrong(states):
        return {"y": states["q"][:, :1] * states["q"][:, 1:] * (1 + 1e-9)}

    with pytest.raises(Refuted, match="is off by"):
        check_rounding(program, program, STATES, run=wrong)


def test_states_hold_rest_limits_right_angles_slow_and_fast_motion():
    robot = emdeg.load("puma560")
    program = emdeg.program(robot, "inverse_dynamics")
    states = states_of(program, robot, 0, 100)
    assert not states["q"][0].any()
    assert not states["qd"][:3].any()
    turns = states["q"][3:13] / (np.pi / 2)
    np.testing.assert_allclose(turns, np.rint(turns))
    assert 0 < np.abs(states["qd"][13:]).min() < 1e-8
    assert np.abs(states["qd"]).max() > 1e3


def test_where_there_is_nowhere_a_value_nothing_is_shown():
    program = configuration(lambda t, q: [t.sqrt(q[0] * q[0] * -1 - 1)])
    with pytest.raises(Refuted, match="at none of the states"):
        check_rounding(program, program, STATES)


SMALL_TRAMMEL = """
schema = 1
name = "trammel"
convention = "modified"
[[link]]
name = "across"
parent = "base"
joint = { name = "x", type = "prismatic", gamma = "90 deg", alpha = "90 deg" }
inertia = { about = "com", mass = 1 }
[[link]]
name = "up"
parent = "base"
joint = { name = "z", type = "prismatic" }
inertia = { about = "com", mass = 2 }
[[rod]]
name = "rod"
length = 0.002
from = { link = "across" }
to = { link = "up" }
[loops]
coordinates = ["x"]
driven = ["x"]
start = { x = 0.0019, z = 0.0006 }
"""


@pytest.mark.parametrize("name", ["delta_symbolic", "trammel"])
def test_states_and_numbers_of_symbols_are_where_loops_close(name, tmp_path):
    """Lengths in letters are near those that the file says; a small mechanism stays as near to its start."""
    (tmp_path / "trammel.toml").write_text(SMALL_TRAMMEL)
    robot = emdeg.load(tmp_path / "trammel.toml" if name == "trammel" else name)
    program = emdeg.program(robot, "gravity")
    states = states_of(program, robot, 1, 100)
    assert np.isfinite(evaluate(program, states)["g"]).all()
    request = Request(("gravity",), robot_name=name)
    made = make_artefact(robot, request)
    assert made.certificate["rounding"]["states"] >= 12
    assert np.isfinite(made.certificate["float_error_ulps"]["g"])
    assert recheck(made.text.encode(), made.certificate).functions
