"""The robot that is written: bodies that can exist, the efforts of the true one, tolerances, as TOML and as URDF."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.documents import csv_columns
from emdeg.dynamics import kind_of
from emdeg.identification import identified_robot, identified_urdf, identify
from emdeg.identification.regressors import by_motors
from emdeg.robot import to_toml
from tests.commands import run
from tests.identification.campaigns import arm_text, oracle, recorded


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    run_ = recorded(arm_text(1.25), folder, 1)
    (folder / "arm.urdf").write_text(arm_text())
    return folder, run_, run_.write(folder / "log.csv")


def pseudo_inertia(parameters) -> np.ndarray:
    xx, xy, xz, yy, yz, zz, mx, my, mz, m = (float(v) for v in parameters)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.block([[np.trace(J) / 2 * np.eye(3) - J, np.array([[mx, my, mz]]).T], [np.array([[mx, my, mz, m]])]])


def test_its_bodies_exist_and_ask_for_the_efforts_of_the_true_robot(example):
    folder, run_, log = example
    start = emdeg.load(str(folder / "arm.urdf"))
    new, bodies = identified_robot(identify(start, [log]))
    assert bodies.distance < 3
    for link in new.links:
        assert np.linalg.eigvalsh(pseudo_inertia(link.inertia.parameters)).min() > 0
    q, qd, qdd = (x[::50] for x in run_.truth)
    known = oracle(arm_text(1.25), start)
    truth = np.array([known.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    assert np.abs(emdeg.inverse_dynamics(new, q, qd, qdd) - truth).max() < 0.01 * np.abs(truth).max()
    assert np.abs(emdeg.inverse_dynamics(start, q, qd, qdd) - truth).max() > 0.1 * np.abs(truth).max()
    assert new.tolerances["l2.mass"] > 0
    again = emdeg.load(str(folder / "arm.urdf"))
    text = identified_urdf(new, arm_text())
    (folder / "new.urdf").write_text(text)
    again = emdeg.load(str(folder / "new.urdf"))
    drives = np.array([float(joint.drive.inertia) for joint in new.joints])
    whole = emdeg.inverse_dynamics(again, q, qd, qdd) + drives * qdd
    np.testing.assert_allclose(whole, emdeg.inverse_dynamics(new, q, qd, qdd), atol=1e-8)
    loaded = oracle(text, again)  # Pinocchio reads the same bodies
    efforts = np.array([loaded.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    np.testing.assert_allclose(efforts + drives * qdd, emdeg.inverse_dynamics(new, q, qd, qdd), atol=1e-8)


def test_a_log_of_noise_alone_still_gives_bodies(example):
    """Base parameters that no body has are brought to the nearest that some have."""
    folder, run_, _ = example
    rng = np.random.default_rng(0)
    tau = run_.tau + 8 * rng.normal(size=run_.tau.shape)
    short = {"t": run_.t[:900], "q": run_.q[:900], "tau": tau[:900]}
    found = identify(emdeg.load(str(folder / "arm.urdf")), [run_.write(folder / "noisy.csv", **short)])
    new, bodies = identified_robot(found)
    assert bodies.distance > 0.1
    assert all(np.linalg.eigvalsh(pseudo_inertia(link.inertia.parameters)).min() > 0 for link in new.links)


def test_the_command_writes_what_every_command_takes(example):
    folder, _, log = example
    for name in ("out.toml", "out.urdf"):
        words = ("identify", str(folder / "arm.urdf"), str(log), "--out", str(folder / name))
        done = run(*words)
        assert done.returncode == 0, done.stderr
        assert run("check", str(folder / name)).returncode == 0
        assert run(*words).returncode == 3  # it exists
    assert run("tolerance", str(folder / "out.toml"), "--states", "20", "--draws", "20").returncode == 0
    refused = run("identify", "planar2r", str(log), "--out", str(folder / "other.urdf"))
    assert refused.returncode == 2
    assert not (folder / "other.urdf").exists()
    assert to_toml(emdeg.load(str(folder / "out.toml"))).count("[[link]]") == 3


def loop_log(name: str, folder, amplitude: float, heavier: float = 1.2):
    """(the robot, a log of its motors' motion, `heavier` than its file)."""
    robot = by_motors(emdeg.load(name))
    n, rng = robot.freedoms, np.random.default_rng(1)
    t, w = np.arange(2000) / 100, 2 * np.pi / 10 * np.arange(1, 6)
    a, b = amplitude * rng.normal(size=(2, 5, n)) / np.sqrt(np.arange(1, 6))[:, None]
    s, c = np.sin(t[:, None] * w), np.cos(t[:, None] * w)
    q, qd, qdd = (s / w) @ a - (c / w) @ b, c @ a + s @ b, -(s * w) @ a + (c * w) @ b
    q = q - q.mean(axis=0) + kind_of(robot).home(robot)
    tau = heavier * emdeg.inverse_dynamics(robot, q, qd, qdd)
    noisy = tau + 0.005 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    columns = [t, *(q + 1e-6 * rng.normal(size=q.shape)).T, *noisy.T]
    names = ["t", *(f"q_{j.name}" for j in robot.coordinates), *(f"tau_{j.name}" for j in robot.driven)]
    (folder / "log.csv").write_text(csv_columns(names, columns))
    return robot, (q, qd, qdd), tau


@pytest.mark.parametrize(
    ("name", "amplitude"),
    [("fivebar", 0.3), pytest.param("delta", 0.4, marks=pytest.mark.slow)],
)
def test_closed_loops_have_a_robot_file_too(name, amplitude, tmp_path):
    robot, state, tau = loop_log(name, tmp_path, amplitude)
    done = run("identify", name, str(tmp_path / "log.csv"), "--out", str(tmp_path / "new.toml"), "--json")
    assert done.returncode == 0, done.stderr
    new, file = emdeg.load(str(tmp_path / "new.toml")), emdeg.load(name)
    assert [j.name for j in new.coordinates] == [j.name for j in file.coordinates]
    for before, link in zip(file.links, new.links):
        if any(map(float, before.inertia.parameters)):
            assert np.linalg.eigvalsh(pseudo_inertia(link.inertia.parameters)).min() > 0
        else:
            assert not any(map(float, link.inertia.parameters)), "a carriage stays without mass"
    for rod in new.rods:
        assert float(rod.mass) > 0
        assert 0 <= float(rod.com) <= 1
        assert float(rod.inertia) >= 0
    found = emdeg.inverse_dynamics(by_motors(new), *(x[::20] for x in state))
    rms = np.sqrt(np.mean(tau**2))
    assert np.sqrt(np.mean((found - tau[::20]) ** 2)) < 0.02 * rms
    assert np.sqrt(np.mean((emdeg.inverse_dynamics(robot, *(x[::20] for x in state)) - tau[::20]) ** 2)) > 0.1 * rms
