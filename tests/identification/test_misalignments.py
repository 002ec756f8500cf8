"""Clocks and encoders that are off are found by the equations, and right ones are not doubted."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.identification import identify
from emdeg.identification.misalignments import EffortLook, misalignment, orthonormal, unexplained_efforts
from emdeg.identification.recording import read_log
from emdeg.identification.regressors import base_regressor
from emdeg.identification.samples import fastest_speeds, prepare
from tests.identification.campaigns import arm_text, foreign, recorded, stribeck


@pytest.fixture(scope="module")
def regressor(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(arm_text())
    return base_regressor(emdeg.load(str(path)))


def looked_at(regressor, run_, folder, **changes):
    log = read_log(run_.write(folder / "log.csv", **changes), run_.robot)
    return misalignment(EffortLook(regressor, prepare(log, run_.robot, fastest_speeds(log))))


@pytest.mark.parametrize("samples", [5, 2, -3])
@pytest.mark.parametrize("rub", [stribeck, foreign])
def test_a_delay_of_the_efforts_is_found_to_the_millisecond(regressor, tmp_path, samples, rub):
    run_ = recorded(arm_text(1.25), tmp_path, 3, rub=rub)
    # A motion of 10 s that repeats itself: what is rolled on is what a late sensor shows.
    found = looked_at(regressor, run_, tmp_path, tau=np.roll(run_.tau, samples, axis=0))
    assert found is not None
    assert found.coordinate is None
    assert found.delay == pytest.approx(samples / 100, abs=3e-3)


def test_an_encoders_zero_is_found_where_the_equations_show_it(regressor, tmp_path):
    run_ = recorded(arm_text(1.25), tmp_path, 4)
    for off in (0.15, -0.3):
        found = looked_at(regressor, run_, tmp_path, q=run_.q - off * np.array([0, 1, 0]))
        assert found is not None
        assert found.coordinate == 1
        assert found.zero == pytest.approx(off, abs=0.03)
    # About a vertical axis a zero changes nothing, so that nothing is said.
    assert looked_at(regressor, run_, tmp_path, q=run_.q - [0.3, 0, 0]) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rub", [stribeck, foreign])
def test_right_logs_are_aligned_whatever_their_friction(regressor, tmp_path, seed, rub):
    run_ = recorded(arm_text(1.25), tmp_path, seed, rub=rub, noise=(0.002, 0.02, 0.1, 0.3)[seed])
    assert looked_at(regressor, run_, tmp_path) is None


def test_a_late_log_is_refused_with_what_it_would_change(tmp_path):
    run_ = recorded(arm_text(), tmp_path, 5)
    path = run_.write(tmp_path / "log.csv", tau=np.roll(run_.tau, 5, axis=0))
    with pytest.raises(RobotError, match=r"efforts come 5\d(\.\d)? ms after the positions; gravity and inertia would"):
        identify(run_.robot, [path])


def test_efforts_of_another_robot_are_left_over_and_noise_is_not(regressor, tmp_path):
    run_ = recorded(arm_text(), tmp_path, 6, noise=0.4)
    log = read_log(run_.write(tmp_path / "log.csv"), run_.robot)
    noisy = prepare(log, run_.robot, fastest_speeds(log))
    assert max(unexplained_efforts(EffortLook(regressor, noisy))) < 0.15
    wrong = run_.tau * np.cos(3 * run_.t)[:, None]
    log = read_log(run_.write(tmp_path / "log.csv", tau=wrong), run_.robot)
    other = prepare(log, run_.robot, fastest_speeds(log))
    assert max(unexplained_efforts(EffortLook(regressor, other))) > 0.5


def test_columns_are_made_orthonormal_and_what_is_nearly_nothing_is_left_out():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 5)) * 10.0 ** np.arange(-6, 4, 2)
    A = np.column_stack([A, A[:, 0] + A[:, 1], np.zeros(200)])
    Q, T = orthonormal(A)
    assert Q.shape == (200, 5)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(A @ T, Q, atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-9 * np.abs(A).max())
