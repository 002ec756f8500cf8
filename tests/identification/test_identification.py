"""Measured against modelled: friction that was put in comes out; bad recordings are named by line and column."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.identification import compare, fit_friction, read_recording
from emdeg.identification.recording import doubts

VISCOUS, COULOMB, STRIBECK, VELOCITY = 0.8, 1.5, 2.4, 0.12


def friction(qd, viscous=VISCOUS, coulomb=COULOMB, stribeck=STRIBECK, velocity=VELOCITY):
    return viscous * qd + (coulomb + (stribeck - coulomb) * np.exp(-((qd / velocity) ** 2))) * np.sign(qd)


def recording(seed=0, samples=4000, noise=0.05, law=friction):
    """t, q, qd, qdd, tau of planar2r along sums of sines, with friction and noise."""
    robot = emdeg.load("planar2r")
    rng = np.random.default_rng(seed)
    t = np.arange(samples) * 2.5e-3
    waves = [(0.6, 1.3, 0.2), (0.3, 3.1, 1.0), (0.15, 5.7, 2.0)]
    q = np.stack([sum(a * np.sin(w * t + p + k) for a, w, p in waves) for k in range(2)], axis=1)
    qd = np.stack([sum(a * w * np.cos(w * t + p + k) for a, w, p in waves) for k in range(2)], axis=1)
    qdd = np.stack([-sum(a * w * w * np.sin(w * t + p + k) for a, w, p in waves) for k in range(2)], axis=1)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd) + law(qd) + noise * rng.normal(size=q.shape)
    return robot, t, q, qd, qdd, tau


def written(path, t, **columns):
    names = ["t"] + [f"{name}{k + 1}" for name, value in columns.items() for k in range(value.shape[1])]
    rows = np.column_stack([t, *columns.values()])
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(names)
        writer.writerows(rows.tolist())
    return path


@pytest.mark.parametrize("seed", range(6))
def test_friction_put_in_comes_out_within_its_confidence_interval(tmp_path, seed):
    robot, t, q, qd, qdd, tau = recording(seed)
    found = compare(robot, read_recording(written(tmp_path / "log.csv", t, q=q, qd=qd, qdd=qdd, tau=tau), robot))
    for fit in found.friction:
        assert fit.law == "viscous + Stribeck"
        truths = [(fit.viscous, VISCOUS), (fit.coulomb, COULOMB), (fit.stribeck, STRIBECK)]
        for estimate, truth in [*truths, (fit.stribeck_velocity, VELOCITY)]:
            assert estimate is not None
            # 95% intervals: a fixed seed may fall outside by a little, never by its own width.
            width = estimate.high - estimate.low
            assert estimate.low - 0.5 * width <= truth <= estimate.high + 0.5 * width
            assert width < 0.2 * abs(truth)
        assert fit.noise == pytest.approx(0.05, rel=0.1)
    for error in found.errors:
        assert error.rms_without_friction == pytest.approx(0.05, rel=0.1)
        assert error.rms > 20 * error.rms_without_friction


def test_the_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(8)
    qd = 1.5 * np.sin(np.linspace(0, 40, 1500))
    inside = 0
    for _ in range(60):
        fit = fit_friction("j", qd, friction(qd) + 0.1 * rng.normal(size=qd.shape), "stribeck")
        assert fit.viscous is not None
        assert fit.stribeck is not None
        inside += fit.viscous.holds(VISCOUS) + fit.stribeck.holds(STRIBECK)
    assert inside >= 0.87 * 120


def test_without_a_stribeck_effect_none_is_claimed(tmp_path):
    robot, t, q, qd, qdd, tau = recording(law=lambda v: friction(v, stribeck=COULOMB))
    found = compare(robot, read_recording(written(tmp_path / "log.csv", t, q=q, qd=qd, qdd=qdd, tau=tau), robot))
    assert [fit.law for fit in found.friction] == ["viscous + Coulomb"] * 2
    for fit in found.friction:
        assert fit.coulomb is not None
        assert fit.coulomb.value == pytest.approx(COULOMB, rel=0.02)


def test_rates_that_were_not_recorded_are_computed(tmp_path):
    robot, t, q, _, _, tau = recording(noise=0.02)
    noisy = q + 2e-5 * np.random.default_rng(1).normal(size=q.shape)
    path = written(tmp_path / "log.csv", t, q=noisy, tau=tau)
    recorded = read_recording(path, robot, window=0.08)
    assert recorded.derived == ("qd", "qdd")
    found = compare(robot, recorded, slowest=0.02)
    for fit in found.friction:
        assert fit.viscous is not None
        assert fit.viscous.value == pytest.approx(VISCOUS, rel=0.1)
    assert all(error.relative < 0.1 for error in found.errors)


def test_friction_from_differentiated_positions_lies_within_its_confidence_interval(tmp_path):
    """Smoothed torques would put the dry friction at rest far below the truth, with narrow intervals around it."""
    inside, count = 0, 0
    for seed in range(5):
        robot, t, q, _, _, tau = recording(seed)
        noisy = q + 1e-5 * np.random.default_rng(seed + 50).normal(size=q.shape)
        path = written(tmp_path / "log.csv", t, q=noisy, tau=tau)
        found = compare(robot, read_recording(path, robot, window=0.06), slowest=0.03)
        for fit in found.friction:
            truths = ((fit.viscous, VISCOUS), (fit.coulomb, COULOMB), (fit.stribeck, STRIBECK))
            inside += sum(estimate is not None and estimate.holds(truth) for estimate, truth in truths)
            count += len(truths)
    assert inside >= 0.87 * count


@pytest.mark.parametrize(("scale", "time", "message"), [(180 / np.pi, 1, "positions in rad"), (1, 1000, "in seconds")])
def test_degrees_and_milliseconds_are_doubted(tmp_path, scale, time, message):
    robot, t, q, _, _, tau = recording(samples=400)
    recorded = read_recording(written(tmp_path / "log.csv", time * t, q=scale * q, tau=tau), robot)
    assert any(message in text for text in doubts(recorded, robot))
    plain = read_recording(written(tmp_path / "log.csv", t, q=q, tau=tau), robot)
    assert not doubts(plain, robot)


def test_currents_become_torques(tmp_path):
    robot, t, q, qd, qdd, tau = recording()
    path = written(tmp_path / "log.csv", t, q=q, qd=qd, qdd=qdd, i=tau / 0.5)
    np.testing.assert_allclose(read_recording(path, robot, torque_constants=[0.5, 0.5]).tau, tau)
    with pytest.raises(RobotError, match="give 2 torque constants"):
        read_recording(path, robot)


def last_cell(lines: list[str], text: str) -> list[str]:
    return [*lines[:5], lines[5].rpartition(",")[0] + "," + text, *lines[6:]]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [lines[0].replace("tau2", "effort"), *lines[1:]], "has tau1 but lacks tau2"),
        (lambda lines: [lines[0].replace("q1", "a").replace("q2", "b"), *lines[1:]], "lacks the columns q1, q2"),
        (lambda lines: ["x" + lines[0], *lines[1:]], "lacks the column t"),
        (lambda lines: last_cell(lines, ""), "6.*has a gap: no value of tau2"),
        (lambda lines: last_cell(lines, "nan"), "6.*has a gap: no value of tau2"),
        (lambda lines: last_cell(lines, "much"), "'much' in column tau2"),
        (lambda lines: [*lines[:4], "", "", *lines[4:9], *lines[30:]], "12.*has a gap: .* s between two samples"),
        (lambda lines: [line.replace(",", ";") for line in lines], "lacks the column t.*set apart by commas"),
        (lambda lines: [*lines[:9], *lines[30:]], "10.*has a gap: .* s between two samples"),
        (lambda lines: [*lines[:9], lines[4], *lines[9:]], "time does not increase"),
        (lambda lines: lines[:4], "holds 3 samples"),
    ],
)
def test_a_recording_with_gaps_or_wrong_columns_is_refused(tmp_path, spoil, message):
    robot, t, q, _, _, tau = recording(samples=200)
    path = written(tmp_path / "log.csv", t, q=q, tau=tau)
    path.write_text("\n".join(spoil(path.read_text().splitlines())) + "\n")
    with pytest.raises(RobotError, match=f"(?s){message}"):
        read_recording(path, robot)
