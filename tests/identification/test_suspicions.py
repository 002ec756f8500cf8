"""Logs that are wrong get words: what is the matter, and what it would change; right ones get none."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.errors import RobotError
from emdeg.identification import identify
from tests.commands import run
from tests.identification.campaigns import ARM, JOINT, LINK, arm_text, foreign, recorded

DEGREES = 180 / np.pi


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    # Its masses are not those of the file: what is wrong must be told from what is only unknown.
    folder = tmp_path_factory.mktemp("logs")
    run_ = recorded(arm_text(1.25), folder, 1)
    (folder / "arm.urdf").write_text(arm_text())
    return folder, run_


SPOILED = {
    "degrees": (lambda q, tau: {"q": q * DEGREES}, "in rad"),
    "efforts exchanged": (lambda q, tau: {"tau": tau[:, [0, 2, 1]]}, "swapped columns: the efforts of j2 and j3"),
    "positions exchanged": (lambda q, tau: {"q": q[:, [1, 0, 2]]}, "swapped columns: the positions of j1 and j2"),
    "efforts one place on": (lambda q, tau: {"tau": tau[:, [1, 2, 0]]}, "swapped columns: the efforts stand 1 place"),
    "no effort": (lambda q, tau: {"tau": tau * [1, 0, 1]}, "the effort of j2 never changes"),
    "no position": (lambda q, tau: {"q": q * [1, np.nan, 1]}, "no number in column q_j2"),
    "time backwards": (lambda q, tau: {"t": np.arange(len(q))[::-1] / 100}, "does not run forwards"),
    "gear forgotten": (lambda q, tau: {"tau": tau * [1, 1, 0.01]}, "before the gear"),
    "one sign": (lambda q, tau: {"tau": tau * [1, -1, 1]}, "sign: the effort of j2"),
    "every sign": (lambda q, tau: {"tau": -tau}, "sign: the efforts of every joint"),
    "one joint in degrees": (lambda q, tau: {"q": q * [1, DEGREES, 1]}, "j2 goes from .* before a gear"),
    "digits of the time": (lambda q, tau: {"t": np.round(np.arange(len(q)) / 100, 1)}, "too few digits"),
    "another robot": (lambda q, tau: {"tau": tau * np.cos(np.arange(len(q)) / 30)[:, None]}, "unexplained"),
    "milli": (lambda q, tau: {"tau": 1000 * tau}, "mN m"),
    "speeds in degrees": (lambda q, tau: {"qd": np.gradient(q, axis=0) * 100 * DEGREES}, r"degrees\?"),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_wrong_log_is_named_and_nothing_is_identified(example, name):
    folder, run_ = example
    spoil, words = SPOILED[name]
    path = run_.write(folder / "log.csv", **spoil(run_.q, run_.tau))
    with pytest.raises(RobotError, match=words):
        identify(run_.robot, [path])


def test_the_command_ends_with_3_and_says_what_to_do(example):
    folder, run_ = example
    path = run_.write(folder / "log.csv", tau=-run_.tau)
    done = run("identify", str(folder / "arm.urdf"), str(path), "--json")
    assert done.returncode == 3
    assert "result" not in done.stdout
    assert "--accept-doubts" in done.stderr
    assert run("identify", str(folder / "arm.urdf"), str(path), "--json", "--accept-doubts").returncode == 0


def as_from_the_whole(found, run_, folder):
    """What is left of a log gives the numbers of the whole, a little less sharply."""
    plain = identify(run_.robot, [run_.write(folder / "log.csv")])
    for name, value in plain.parameters.items():
        other = found.parameters[name]
        assert abs(value.value - other.value) < 3 * (other.high - other.value)


def test_clock_gaps_and_saturation_are_said_and_left_out(example):
    folder, run_ = example
    t, tau, q = run_.t.copy(), run_.tau.copy(), run_.q.copy()
    t[700:] += 0.4
    q[300] = np.nan
    most = np.quantile(tau[:, 1], 0.97)
    tau[:, 1] = np.minimum(tau[:, 1], most)
    found = identify(run_.robot, [run_.write(folder / "log.csv", t=t, q=q, tau=tau)])
    words = " ".join(doubt.words for doubt in found.doubts)
    assert "the clock jumps ahead by 0.41 s at t = 6.99 s" in words
    assert "3 values are missing" in words
    assert "the effort of j2 stands at" in words
    as_from_the_whole(found, run_, folder)


def test_frozen_sensors_and_times_that_stand_twice_are_said_and_left_out(example):
    folder, run_ = example
    t, tau, q = run_.t.copy(), run_.tau.copy(), run_.q.copy()
    q[400:450, 1], tau[1200:1240, 0] = q[400, 1], tau[1200, 0]
    t[[700, 900]] = t[[699, 899]]
    found = identify(run_.robot, [run_.write(folder / "log.csv", t=t, q=q, tau=tau)])
    words = " ".join(doubt.words for doubt in found.doubts)
    assert "frozen: the position of j2 stands still in the midst of a motion, from t = 4.01 s on, 49 samples" in words
    assert "frozen: the effort of j1 stands still in the midst of a motion, from t = 12.01 s on, 39 samples" in words
    assert "2 samples have the time of the one before them, first at t = 6.99 s" in words
    as_from_the_whole(found, run_, folder)


@pytest.mark.slow
def test_an_encoder_with_few_steps_is_said(example):
    folder, run_ = example
    found = identify(run_.robot, [run_.write(folder / "log.csv", q=np.round(run_.q / 0.004) * 0.004)])
    said = [doubt.words for doubt in found.doubts if doubt.what == "quantised"]
    assert len(said) == 3
    assert all("steps of 0.004 rad" in words for words in said)
    fine = identify(run_.robot, [run_.write(folder / "log.csv", q=np.round(run_.q / 1e-5) * 1e-5)])
    assert fine.doubts == ()


def test_spikes_do_not_matter(example):
    folder, run_ = example
    tau = run_.tau.copy()
    tau[np.arange(50, 2000, 217), 1] += 300
    found = identify(run_.robot, [run_.write(folder / "log.csv", tau=tau)])
    plain = identify(run_.robot, [run_.write(folder / "log.csv")])
    assert any("spikes" in note for note in found.notes)
    for name, value in plain.parameters.items():
        assert found.parameters[name].value == pytest.approx(value.value, abs=value.high - value.low)


def test_a_right_log_is_not_doubted(example):
    folder, run_ = example
    found = identify(run_.robot, [run_.write(folder / "log.csv")])
    assert found.doubts == ()
    still = run_.q.copy()
    still[:, 2] = 0.3
    held = identify(run_.robot, [run_.write(folder / "log.csv", q=still)], accept_doubts=True)
    assert any(doubt.what == "still" and "j3 did not move" in doubt.words for doubt in held.doubts)


def test_friction_that_would_drive_a_joint_shows_a_turned_sign(tmp_path):
    """A light disc about its own axis: whichever way its position counts, its friction alone tells."""
    arm = LINK.format(k=1, com="0.2 0 0", m=3, xx=0.03, yy=0.05, zz=0.04, xy=0)
    disc = LINK.format(k=2, com="0.02 0 0", m=0.5, xx=1e-5, yy=8e-6, zz=8e-6, xy=0)
    turns = JOINT.format(k=1, parent="base", xyz="0 0 0", axis="0 1 0")
    spins = JOINT.format(k=2, parent="l1", xyz="0.3 0 0", axis="1 0 0")
    run_ = recorded(ARM.format(links=arm + disc, joints=turns + spins), tmp_path, 2, rub=foreign)
    assert identify(run_.robot, [run_.write(tmp_path / "log.csv")]).doubts == ()
    for turned in ({"q": run_.q * [1, -1]}, {"tau": run_.tau * [1, -1]}):
        with pytest.raises(RobotError, match="sign: friction would drive j2 where it must brake it"):
            identify(run_.robot, [run_.write(tmp_path / "log.csv", **turned)])


def test_numbers_beyond_all_bounds_are_words_too(example):
    folder, run_ = example
    with pytest.raises(RobotError, match="holds no number in column tau_j2"):
        identify(run_.robot, [run_.write(folder / "log.csv", tau=run_.tau * [1, 1e300, 1])])
    with pytest.raises(RobotError, match="are 1e-300 times what the file's masses ask for"):
        identify(run_.robot, [run_.write(folder / "log.csv", tau=run_.tau * 1e-300)])
    spiked = run_.tau.copy()
    spiked[700, 1] = 1e308
    assert any(
        "missing" in doubt.words for doubt in identify(run_.robot, [run_.write(folder / "log.csv", tau=spiked)]).doubts
    )
