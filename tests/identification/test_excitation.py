"""Motions that show parameters: within every limit, and the deviations that they promise are those that are found."""

from __future__ import annotations

import json

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.parameters import base_values
from emdeg.identification import excitation_files, excite, identify
from emdeg.simulation import load_trajectory
from tests.commands import run
from tests.identification.campaigns import RecordedRun, arm_text, coulomb, oracle, true_values


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motion")
    (folder / "arm.urdf").write_text(arm_text())
    robot = emdeg.load(str(folder / "arm.urdf"))
    return folder, robot, excite(robot, 20.0, noise=[0.2, 0.3, 0.1])


def test_it_keeps_every_limit_and_rests_at_its_ends(example):
    _, robot, found = example
    q, qd, qdd = found.trajectory(np.linspace(0, 20, 4001))
    assert np.abs(q).max() <= 3
    assert np.abs(qd).max() <= 4
    assert np.abs(qdd).max() <= 5
    assert np.abs(emdeg.inverse_dynamics(robot, q, qd, qdd)).max() <= 80
    assert np.abs(qd[[0, -1]]).max() < 1e-9
    assert np.abs(qdd[[0, -1]]).max() < 1e-9


def test_it_shows_more_than_motions_that_were_not_climbed(example):
    folder, _, found = example
    robot = emdeg.load(str(folder / "arm.urdf"))
    base = emdeg.base_parameters(robot)

    def log_det(q, qd, qdd):
        Y = emdeg.regressor(robot, q, qd, qdd, base=base) / np.array([0.2, 0.3, 0.1])[:, None]
        return np.linalg.slogdet(np.einsum("tip,tiq->pq", Y, Y))[1]

    t = np.linspace(0, 20, 400)
    own = log_det(*found.trajectory(t))
    rng = np.random.default_rng(0)
    w = 2 * np.pi / 10 * np.arange(1, 7)
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    for _ in range(10):  # of the same frequencies, as large as the limits allow
        a, b = rng.normal(size=(2, 6, 3))
        q, qd, qdd = (s / w) @ a - (c / w) @ b, c @ a + s @ b, -(s * w) @ a + (c * w) @ b
        size = np.maximum.reduce([np.abs(q).max(axis=0) / 3, np.abs(qd).max(axis=0) / 4, np.abs(qdd).max(axis=0) / 5])
        assert own > log_det(q / size, qd / size, qdd / size)


def test_what_it_promises_is_what_identification_finds(example, tmp_path):
    """The deviations are predicted before anything moves; logs that Pinocchio makes have them."""
    _, robot, found = example
    truth = true_values(arm_text(), tmp_path)
    t = np.arange(2000) / 100
    q, qd, qdd = found.trajectory(t)
    known = oracle(arm_text(), robot)
    bodies = np.array([known.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    rng = np.random.default_rng(3)
    tau = bodies + coulomb(qd, bodies) + np.array([0.2, 0.3, 0.1]) * rng.normal(size=q.shape)
    log = RecordedRun(robot, t, q + 1e-6 * rng.normal(size=q.shape), tau, (q, qd, qdd)).write(tmp_path / "log.csv")
    result = identify(robot, [log], friction="coulomb")
    ratios = []
    for one in found.parameters:
        estimate = result.parameters[one.name]
        ratios.append((estimate.high - estimate.value) / 1.96 / one.deviation)
        assert abs(estimate.value - truth[one.name]) < 5 * one.deviation
    assert 0.8 < np.median(ratios) < 1.6


def test_csv_and_scenario_are_the_same_motion(example, tmp_path):
    _, robot, found = example
    table, scenario = excitation_files(found)
    (tmp_path / "motion.toml").write_text(scenario)
    trajectory, _ = load_trajectory(str(tmp_path / "motion.toml"), robot)
    rows = np.loadtxt(table.splitlines(), delimiter=",", skiprows=1)
    np.testing.assert_allclose(trajectory(rows[:, 0])[0], rows[:, 1:4], atol=1e-9)


@pytest.mark.long
def test_the_command_writes_both_or_nothing(tmp_path):
    words = ("excite", "fivebar", "--seconds", "10", "--out", str(tmp_path / "motion.csv"), "--json")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert len(result["parameters"]) == len(emdeg.base_parameters("fivebar"))
    assert all(one["deviation"] > 0 for one in result["parameters"].values())
    assert (tmp_path / "motion.csv").read_text().startswith("t,q_")
    assert run(*words).returncode == 3
    assert run("excite", "fivebar", "--out", str(tmp_path / "motion.png")).returncode == 2
    assert run("excite", "rx90").returncode == 3


@pytest.fixture(scope="module")
def platform():
    """A 3-RRR, whose loops close by steps from its platform's pose and numerically from its motors' positions."""
    robot = emdeg.load("rrr3")
    ranges = {"q1": (2.0, 2.4), "phi": (-0.2, 0.3)}
    return robot, excite(robot, 10.0, speed=0.6, ranges=ranges, progress=lambda text: text.startswith("climb 2"))


@pytest.mark.slow
def test_the_motors_of_loops_that_they_close_numerically_keep_their_limits(platform):
    robot, found = platform
    q, qd, _ = found.trajectory(np.linspace(0, 10, 801))
    assert [joint.name for joint in found.robot.coordinates] == ["x", "y", "phi"]
    assert np.abs(emdeg.loops.drive_rates(robot, q, qd)).max() <= 0.6
    motors = emdeg.loops.joint_positions(robot, q)[:, [0, 2, 4]]
    assert motors[:, 0].min() >= 2.0
    assert motors[:, 0].max() <= 2.4
    assert q[:, 2].min() >= -0.2
    rates = np.gradient(np.gradient(motors, 10 / 800, axis=0), 10 / 800, axis=0)[2:-2]
    assert np.abs(rates).max() <= 5
    assert any("numerically only" in note for note in found.notes)


@pytest.mark.slow
def test_a_platform_is_identified_from_its_motors_positions(platform, tmp_path):
    robot, found = platform
    table, _ = excitation_files(found)
    assert table.startswith("t,q_q1,q_q2,q_q3,qd_q1")
    rows = np.loadtxt(table.splitlines(), delimiter=",", skiprows=1)
    t, motors, rates = rows[:, 0], rows[:, 1:4], rows[:, 4:7]
    tau = emdeg.inverse_dynamics(robot, *found.trajectory(t)) + 0.02 * rates + 0.05 * np.sign(rates)
    truth = dict(zip(map(str, emdeg.base_parameters(robot).kept), map(float, base_values(robot))))
    held, log = 0, tmp_path / "log.csv"
    for seed in range(5):
        rng = np.random.default_rng(seed)
        columns = [t, motors + 1e-6 * rng.normal(size=motors.shape), tau + 0.002 * rng.normal(size=tau.shape)]
        header = "t,q_q1,q_q2,q_q3,tau_q1,tau_q2,tau_q3"
        np.savetxt(log, np.column_stack(columns), delimiter=",", header=header, comments="")
        result = identify(robot, [log])
        held += sum(one.holds(truth[name]) for name, one in result.parameters.items())
        (samples,) = result.logs
        assert np.sqrt(np.mean((samples.tau - result.predicted(samples)) ** 2)) < 0.0025
        assert result.doubts == ()
    # In so narrow a motion errors go together: one campaign's intervals hold nearly all truths, or few.
    assert held >= 0.9 * 5 * len(truth)
