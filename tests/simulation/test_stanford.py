"""Kane and Levinson's Figs. 1 and 3 and their two checks, from the shipped scenarios."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.simulation import load_scenario, perform, scenario_names, simulate, summary

DATA = json.loads((Path(__file__).parents[1] / "data" / "stanford_motion.json").read_text())


@pytest.fixture(scope="module")
def robot():
    return emdeg.load("stanford_arm")


@pytest.fixture(scope="module")
def fig3(robot):
    return perform(load_scenario("stanford_fig3", robot))


def test_the_papers_scenarios_are_shipped():
    assert {"stanford_fig1", "stanford_fig3"} <= set(scenario_names())


def test_figure_1_at_whole_seconds(robot):
    samples = summary(perform(load_scenario("stanford_fig1", robot)))["samples"]
    np.testing.assert_allclose(samples["t"], DATA["times"], atol=1e-12)
    np.testing.assert_allclose(samples["tau"], DATA["inverse_dynamics_eq127"], rtol=0, atol=1e-8)


def test_figure_3_at_whole_seconds(fig3):
    result = summary(fig3)
    assert result["joints"] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    np.testing.assert_allclose(result["samples"]["q"], DATA["simulation_q"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(result["samples"]["qd"], DATA["simulation_qd"], rtol=0, atol=1e-8)
    assert not result["warnings"]


@pytest.mark.parametrize(
    ("method", "step"), [("rk4", 5e-4), ("gauss4", 1e-3), ("Radau", None)], ids=lambda value: str(value)
)
def test_figure_3_by_every_kind_of_integrator(robot, method, step):
    plan = load_scenario("stanford_fig3", robot)
    options = {"method": method, **({"step": step} if step else {"rtol": 1e-9, "atol": 1e-11})}
    result = summary(perform(replace(plan, options=options)))
    np.testing.assert_allclose(result["samples"]["q"], DATA["simulation_q"], rtol=0, atol=1e-8)
    assert result["drift"]["energy_relative"] < 1e-9


def test_the_feedback_is_the_papers(robot, fig3):
    """Eqs. 128-133 as printed, with the paper's own gravity terms."""
    shown = fig3.shown()
    (q1, q2, q3, q4, q5, q6), qd = shown["q"].T, shown["qd"].T
    g, mC, mD, mE, mF, L2, L3, L5, L6 = 9.81, 4, 1, 0.6, 0.5, 0.6, 0.2, 0.7, 0.06
    s2, c2, s3, c3, s4, c4 = np.sin(q2), np.cos(q2), np.sin(q3), np.cos(q3), np.sin(q4), np.cos(q4)
    goal, wrist = np.pi / 3, mE * L6 + mF * L3
    expected = [
        3 * (goal - q1) - 5 * qd[0],
        (q2 - goal)
        + 3 * qd[1]
        + g * (((mC + mD) * q6 + mD * L5) * s2 + wrist * (c4 * s2 + c3 * s4 * c2) + (mE + mF) * (q6 + L2) * s2),
        0.3 * (q3 - goal) + 0.6 * qd[2] - g * wrist * s2 * s3 * s4,
        0.3 * (q4 - goal) + 0.6 * qd[3] + g * wrist * (c2 * s4 + s2 * c3 * c4),
        0.25 * (q5 - goal) + 0.25 * qd[4],
        30 * (q6 - 0.1) + 41 * qd[5] - g * (mC + mD + mE + mF) * c2,
    ]
    np.testing.assert_allclose(shown["tau"], np.stack(expected, axis=1), rtol=0, atol=1e-12)


def test_without_tau1_the_angular_momentum_about_the_vertical_stays_zero(robot):
    """Eq. 138; the paper reached 1e-9. Default tolerances, 10 s."""
    outcome = perform(load_scenario("stanford_free_axis", robot))
    motion = outcome.motion
    assert motion.t[-1] == 10
    assert [robot.joints[k].name for k in motion.invariants.joints] == ["q1"]
    np.testing.assert_allclose(summary(outcome)["samples"]["q"], DATA["sim_tau1_zero_q"], rtol=0, atol=1e-8)
    assert np.max(np.abs(motion.tau[:, 0])) == 0
    about_vertical = emdeg.momentum(robot, motion.q, motion.qd)[:, 5]
    assert np.max(np.abs(about_vertical)) < 1e-11
    np.testing.assert_allclose(motion.invariants.momentum[:, 0], about_vertical, atol=1e-15)


def test_inverse_dynamics_of_the_simulated_motion_returns_the_controllers_torques(robot, fig3):
    """The paper's second check: speeds and accelerations by differentiating the dense output in time."""
    motion, law = fig3.motion, fig3.scenario.law
    t = np.linspace(0, 10, 1501)
    n = robot.n
    x, rates = motion.dense(t), motion.dense.derivative(t)
    torques = emdeg.inverse_dynamics(robot, x[:, :n], rates[:, :n], rates[:, n : 2 * n])
    np.testing.assert_allclose(torques, law(t, x[:, :n], x[:, n : 2 * n]), rtol=0, atol=1e-5)


def test_the_wrist_is_stiff_at_the_start(robot):
    """Fastest mode 750 1/s: Runge and Kutta with 0.01 s would diverge, and that is said before the run."""
    plan = load_scenario("stanford_fig3", robot)
    fastest = abs(emdeg.simulation.closed_loop(robot, plan.law, plan.q0, plan.qd0).poles()[0])
    assert fastest == pytest.approx(750, rel=0.01)
    with pytest.raises(emdeg.ScenarioError, match=r"the step 0.01 s is unstable for rk4: the fastest mode .* 749"):
        simulate(robot, plan.law, plan.q0, None, 10.0, method="rk4", step=0.01)
