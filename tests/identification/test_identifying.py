"""Logs that Pinocchio's model made give its parameters back, within intervals that hold what they promise."""

from __future__ import annotations

import json

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.parameters import base_values
from emdeg.errors import RobotError
from emdeg.identification import identify, read_log, validated
from emdeg.loops import choose
from tests.commands import run
from tests.identification.campaigns import RecordedRun, arm_text, coulomb, foreign, recorded, stribeck, true_values

CAD = 1.3
"""The file's masses are wrong by so much."""


def share_inside(tmp_path, seeds, rub, **options):
    """How many of the intervals, over campaigns with another motion and other noise each, hold the truth."""
    truth = true_values(arm_text(), tmp_path)
    held, count = 0, 0
    for seed in seeds:
        run_ = recorded(arm_text(), tmp_path, seed, rub=rub, **options)
        found = identify(run_.robot, [run_.write(tmp_path / "log.csv")])
        assert not found.hidden
        held += sum(value.holds(truth[name]) for name, value in found.parameters.items())
        count += len(truth)
    return held / count


@pytest.mark.parametrize("rub", [coulomb, foreign])
@pytest.mark.long
def test_intervals_hold_the_truth_over_a_few_campaigns(tmp_path, rub):
    # A tenth of what the slow test runs: bounds as wide as chance makes them.
    assert share_inside(tmp_path, range(4), rub) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("rub", [coulomb, stribeck, foreign])
def test_intervals_hold_the_truth_in_200_campaigns_as_often_as_they_promise(tmp_path, rub):
    assert 0.90 <= share_inside(tmp_path, range(200), rub) <= 0.99


def test_friction_put_in_comes_out(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 3, rub=stribeck, seconds=30)
    for fit in identify(run_.robot, [run_.write(tmp_path / "log.csv")]).friction:
        assert fit.viscous is not None
        assert fit.coulomb is not None
        assert fit.viscous.value == pytest.approx(0.5, abs=0.1)
        assert fit.coulomb.value == pytest.approx(1.2, abs=0.15)
        if fit.stribeck is not None:
            assert fit.stribeck.value == pytest.approx(2.1, abs=0.4)
    assert any(fit.stribeck is not None for fit in identify(run_.robot, [tmp_path / "log.csv"]).friction)


@pytest.mark.slow
def test_several_logs_recorded_rates_and_parquet_serve_too(tmp_path):
    truth = true_values(arm_text(), tmp_path)
    runs = [recorded(arm_text(), tmp_path, seed, seconds=12, rate=100 + 25 * seed) for seed in range(2)]
    first = runs[0].write(tmp_path / "a.csv", qd=runs[0].truth[1], qdd=runs[0].truth[2])
    second = runs[1].write(tmp_path / "b.csv")
    parquet = tmp_path / "b.parquet"
    from emdeg.documents import parquet_columns

    table = np.loadtxt(second, delimiter=",", skiprows=1)
    names = second.read_text().splitlines()[0].split(",")
    parquet.write_bytes(parquet_columns(names, list(table.T)))
    found = identify(runs[0].robot, [first, parquet])
    assert sum(value.holds(truth[name]) for name, value in found.parameters.items()) >= 0.8 * len(truth)
    again = identify(runs[0].robot, [first, second])
    assert found.values == pytest.approx(again.values)


def test_what_a_motion_does_not_show_is_said_and_left_out(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 1, held={2: 0.3})
    found = identify(run_.robot, [run_.write(tmp_path / "log.csv")])
    assert "Ia3" not in found.parameters
    assert any("Ia3" in words for words in found.hidden)
    assert all(np.isfinite([v.value, v.low, v.high]).all() for v in found.parameters.values())


def test_validation_tells_noise_from_model_error(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 1, noise=0.05)
    found = identify(run_.robot, [run_.write(tmp_path / "log.csv")])
    other = recorded(arm_text(), tmp_path, 2, noise=0.05)
    good = validated(found, read_log(other.write(tmp_path / "other.csv"), run_.robot))
    for joint in good.joints:
        assert joint.relative == pytest.approx(0.05, rel=0.15)
        assert joint.dominated_by == "noise"
    heavier = recorded(arm_text(CAD), tmp_path, 2, noise=0.05)
    bad = validated(found, read_log(heavier.write(tmp_path / "other.csv"), run_.robot))
    assert bad.joints[1].dominated_by == "model error"
    assert bad.joints[1].white < 1e-6


def test_currents_give_the_constants_with_which_the_files_masses_explain_them(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 4)
    constants = np.array([12.0, 9.0, 5.0])
    path = run_.write(tmp_path / "log.csv", current=run_.tau / constants)
    found = identify(run_.robot, [path])
    for value, truth in zip(found.constants.values(), constants):
        assert value.value == pytest.approx(truth, rel=0.02)
    known = identify(run_.robot, [path], torque_constants=dict(zip(("j1", "j2", "j3"), constants)))
    plain = identify(run_.robot, [run_.write(tmp_path / "tau.csv")])
    with pytest.raises(RobotError, match="torque constants are for currents, and its logs hold efforts"):
        identify(run_.robot, [tmp_path / "tau.csv"], torque_constants={"j1": 12.0})
    assert known.values == pytest.approx(plain.values, rel=1e-3, abs=1e-4)


def test_the_command_prints_what_the_conventions_say(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 5)
    log = str(run_.write(tmp_path / "log.csv"))
    done = run("identify", str(tmp_path / "arm.urdf"), log, "--validate", log, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)["result"]
    assert {"value", "low", "high"} <= result["parameters"]["ZZ1"].keys()
    assert result["friction"]["j1"]["coulomb"]["value"] == pytest.approx(1.2, rel=0.1)
    assert len(result["validation"]["relative_error"]) == 3
    assert run("identify", str(tmp_path / "arm.urdf"), log, "--friction", "much").returncode == 2
    assert run("identify", str(tmp_path / "arm.urdf"), str(tmp_path / "no.csv")).returncode == 3


def test_a_delta_is_identified_from_its_motors_angles_and_currents(tmp_path):
    robot = emdeg.load("delta")
    motors = choose.with_coordinates(robot, ["q1", "q2", "q3"])
    assert motors.loops is not None
    middle = np.array([float(motors.loops.start[k]) for k in motors.loops.coordinates])
    rng = np.random.default_rng(2)
    t = np.arange(3000) / 150
    w = 2 * np.pi * np.array([[0.2, 0.5, 0.9], [0.3, 0.6, 1.1], [0.25, 0.7, 1.0]]).T
    wave, size = t[:, None, None] * w + rng.uniform(0, 6, size=(3, 3)), np.array([[0.3], [0.15], [0.08]])
    q = middle + (size * np.sin(wave)).sum(axis=1)
    qd, qdd = (size * w * np.cos(wave)).sum(axis=1), -(size * w**2 * np.sin(wave)).sum(axis=1)
    tau = emdeg.inverse_dynamics(motors, q, qd, qdd) + 0.05 * qd + 0.1 * np.sign(qd)
    current = (tau + 0.02 * rng.normal(size=q.shape)) / 0.4
    log = RecordedRun(motors, t, q + 1e-5 * rng.normal(size=q.shape), tau, (q, qd, qdd))
    path = log.write(tmp_path / "log.csv", current=current)
    found = identify(robot, [path], torque_constants={"q1": 0.4, "q2": 0.4, "q3": 0.4})
    truth = dict(zip(map(str, found.base.kept), map(float, base_values(motors))))
    assert sum(value.holds(truth[name]) for name, value in found.parameters.items()) >= 0.75 * len(truth)
    for fit in found.friction:
        assert fit.coulomb is not None
        assert fit.coulomb.value == pytest.approx(0.1, abs=0.02)
