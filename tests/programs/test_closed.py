"""Kane's equations of closed loops: against the paper's Delta, free bodies with multipliers, and differences."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import emdeg
from emdeg.cli import app
from emdeg.dynamics.kane import joint_rates, read_setup
from emdeg.errors import ClosureError, RobotError, SingularSpeeds
from emdeg.kane import KaneModel, load_setup
from emdeg.programs.kane import kane_program, verify_kane
from tests.loops.kkt import constrained_accelerations
from tests.loops.test_loops import REFERENCE, robot_of

EXAMPLES = Path(__file__).parents[2] / "examples" / "speeds"
TURNING = '[[speed]]\nangular_velocity = "coupler"\ncomponents = ["z"]\n'
HALF = '[[prescribed]]\njoint = "q1"\n[[speed]]\nvelocity = "tool"\nframe = "world"\ncomponents = ["z"]\n'
FUNCTIONS = ("torques", "accelerations", "equations", "rates", "speeds")
runner = CliRunner()


def model_of(name, text):
    return KaneModel(robot_of(name), read_setup(text, robot_of(name)))


@pytest.mark.long
def test_delta_with_its_motors_rates_is_the_papers_delta():
    robot = robot_of("delta")
    model = KaneModel(robot, load_setup(EXAMPLES / "delta.toml", robot))
    for state in REFERENCE["states"]["values"]:
        X, Xd, Xdd, tau = (np.array(state[key]) for key in ("X", "Xd", "Xdd", "tau"))
        J, Jdot, M = (np.array(state[key]) for key in ("J", "Jdot", "M"))
        u, ud = model.speeds(X, Xd, Xdd)
        np.testing.assert_allclose(u, J @ Xd, atol=1e-9)
        np.testing.assert_allclose(ud, J @ Xdd + Jdot @ Xd, atol=1e-8)
        np.testing.assert_allclose(model.torques(X, u, ud), tau, atol=1e-9)
        rates, found = model.accelerations(X, u, tau)
        np.testing.assert_allclose(rates, Xd, atol=1e-9)
        np.testing.assert_allclose(found, ud, atol=1e-8)
        inertia, _ = model.equations(X, u, tau)
        per = np.linalg.inv(J)
        np.testing.assert_allclose(inertia, per.T @ M @ per, rtol=1e-8)


def test_four_bar_by_its_couplers_turning_moves_as_free_bodies_do():
    robot, model = robot_of("fourbar"), model_of("fourbar", TURNING)
    for q in (0.7, 2.0, 4.0):
        at, qd, tau = np.array([q]), np.array([1.3]), np.array([0.4])
        u, _ = model.speeds(at, qd)

        def turned(x):
            joints = emdeg.loops.joint_positions(robot, [x])
            return joints[0] + joints[1]  # of the coupler against the base, both about one direction

        h = 1e-4
        slope = (turned(q + h) - turned(q - h)) / (2 * h)
        bent = (turned(q + h) - 2 * turned(q) + turned(q - h)) / h**2
        assert u[0] == pytest.approx(slope * qd[0], rel=1e-6)
        qdd = constrained_accelerations(robot, at, qd, tau)
        _, ud = model.accelerations(at, u, tau)
        assert ud[0] == pytest.approx(slope * qdd[0] + bent * qd[0] ** 2, rel=1e-5)
        np.testing.assert_allclose(model.torques(at, u, ud), tau, atol=1e-9)


def test_a_prescribed_motor_is_held_and_the_other_drives():
    robot, model = robot_of("fivebar"), model_of("fivebar", HALF)
    given = {"p": [2.1], "pd": [0.4], "pdd": [-0.8]}
    q, qd, qdd = [1.05], [-0.3], [1.7]
    u, ud = model.speeds(q, qd, qdd, **given)
    tau = model.torques(q, u, ud, **given)
    whole = emdeg.inverse_dynamics(robot, [2.1, 1.05], [0.4, -0.3], [-0.8, 1.7])
    np.testing.assert_allclose(tau, whole[1:], rtol=1e-9)
    program = model.program("torques")
    assert [group.name for group in program.outputs] == ["tau", "held", "det"]
    found = model._run("torques", {"q": q, "u": u, "ud": ud, **given})
    np.testing.assert_allclose(found["held"], whole[:1], rtol=1e-9)
    back, again = model.accelerations(q, u, tau, **given)
    np.testing.assert_allclose(back, qd, rtol=1e-9)
    np.testing.assert_allclose(again, ud, rtol=1e-8)


def test_a_force_on_the_tool_is_the_wrench_on_the_tool():
    load = '[[force]]\nbody = "platform"\nvalue = [3, -2, 5]\n'
    rates = "".join(f'[[speed]]\nrate = "{name}"\n' for name in "xyz")
    q, qd, qdd = [0.05, -0.08, -0.45], [0.3, -0.2, 0.1], [1.0, -2.0, 0.5]
    tau = model_of("delta", rates + load).torques(q, qd, qdd)
    expected = emdeg.inverse_dynamics("delta", q, qd, qdd, wrench=[3, -2, 5, 0, 0, 0])
    np.testing.assert_allclose(tau, expected, rtol=1e-10)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_programs_are_proved_with_springs_dampers_and_prescribed_motion(function):
    for name, text in (("fourbar", (EXAMPLES / "fourbar.toml").read_text()), ("fivebar", HALF)):
        robot = robot_of(name)
        setup = read_setup(text, robot)
        verify_kane(kane_program(robot, setup, function), robot, setup, function)


def test_more_motors_than_freedoms_and_symbols_are_proved():
    robot = emdeg.loops.with_driven("fivebar", ["q1", "q2", "p1"])
    setup = joint_rates(robot)
    program = kane_program(robot, setup, "torques")
    verify_kane(program, robot, setup, "torques")
    assert program.outputs[0].shape == (3,)
    letters = emdeg.load("delta_symbolic")
    setup = load_setup(EXAMPLES / "delta.toml", letters)
    program = kane_program(letters, setup, "rates")
    verify_kane(program, letters, setup, "rates")
    assert "l_K" in program.inputs[-1].labels


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        (
            "fivebar",
            '[[prescribed]]\njoint = "p1"\n[[speed]]\nrate = "q1"\n[[speed]]\nrate = "q2"\n',
            "none of the indep",
        ),
        ("fourbar", '[[prescribed]]\nbase = ["x"]\n' + TURNING, "a moving base is not known"),
        ("fourbar", TURNING + '[[joint_spring]]\njoint = "p2"\nstiffness = 3\n', "needs its angle"),
        ("fivebar", TURNING.replace("coupler", "left_arm"), "1 generalized speeds for 2 free coordinates"),
    ],
)
def test_what_cannot_be_is_named(name, text, rule):
    with pytest.raises(RobotError, match=rule):
        read_setup(text, robot_of(name))


def test_out_of_reach_and_failing_speeds_are_errors():
    rates = "".join(f'[[speed]]\nrate = "{name}"\n' for name in "xyz")
    with pytest.raises(ClosureError):
        model_of("delta", rates).rates([0.9, 0.0, -0.45], [0.0, 0.0, 0.0])
    still = '[[speed]]\nvelocity = "crank"\npoint = [0.1, 0, 0]\nframe = "world"\ncomponents = ["x"]\n'
    with pytest.raises(SingularSpeeds):  # the crank's end moves straight up there
        model_of("fourbar", still).rates([0.0], [1.0])


@pytest.mark.long
def test_the_command_counts_programs_of_a_files_speeds_and_of_natural_ones():
    done = runner.invoke(app, ["kane", "fourbar", "--speeds", str(EXAMPLES / "fourbar.toml"), "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)["result"]
    assert data["speeds"] == ["w"]
    assert data["programs"]["torques"]["count"]["mul"] > 0
    auto = json.loads(runner.invoke(app, ["kane", "fivebar", "--json"]).stdout)["result"]
    assert len(auto["tried"]) > 1
    code = runner.invoke(app, ["kane", "fourbar", "--speeds", str(EXAMPLES / "fourbar.toml"), "--emit", "torques"])
    assert "fourbar_kane_torques" in code.stdout
    assert runner.invoke(app, ["kane", "fourbar", "--show", "equations"]).exit_code == 2
