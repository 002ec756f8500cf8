"""A load alone: what Pinocchio's arm carries in the second log, whatever the file says of the arm itself."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest

import emdeg
from emdeg.errors import RobotError
from emdeg.identification import identify_payload, payload_toml
from emdeg.identification.payload_fit import NUMBERS, unit_loads
from emdeg.loops import choose
from tests.commands import run
from tests.identification.campaigns import RecordedRun, arm_text, coulomb, recorded
from tests.oracles import Pinocchio

MASS, COM = 1.7, np.array([0.12, -0.03, 0.05])
TENSOR = np.array([[0.012, 0.001, -0.002], [0.001, 0.015, 0.0005], [-0.002, 0.0005, 0.009]])


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A log without the load and one with it; the file's masses are wrong by a fifth."""
    folder = tmp_path_factory.mktemp("loads")
    empty = recorded(arm_text(1.2), folder, 1)
    other = recorded(arm_text(1.2), folder, 2)
    model = pin.buildModelFromXML(arm_text(1.2))
    model.appendBodyToJoint(3, pin.Inertia(MASS, COM, TENSOR), pin.SE3.Identity())
    loaded = Pinocchio(model, [joint.name for joint in empty.robot.joints])
    q, qd, qdd = other.truth
    bodies = np.array([loaded.inverse_dynamics(*state) for state in zip(q, qd, qdd)])
    rng = np.random.default_rng(5)
    tau = bodies + coulomb(qd, bodies)
    tau += 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    (folder / "arm.urdf").write_text(arm_text())
    logs = empty.write(folder / "empty.csv"), other.write(folder / "loaded.csv", tau=tau)
    return folder, emdeg.load(str(folder / "arm.urdf")), logs


def test_unit_loads_are_unit_vectors_of_the_ten_numbers():
    for k, name in enumerate(NUMBERS):
        total = np.zeros(10)
        for load in unit_loads("l")[k]:
            m, c = float(load.mass), np.array([float(v) for v in load.com])
            xx, xy, xz, yy, yz, zz = (float(v) for v in load.tensor)
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * ((c @ c) * np.eye(3) - np.outer(c, c))
            total += [m, *(m * c), J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
        np.testing.assert_array_equal(total, np.eye(10)[k], err_msg=name)


def test_mass_centre_and_tensor_hold_the_truth(example):
    _, robot, logs = example
    found = identify_payload(robot, *logs)
    assert found.link == "l3"
    assert found.mass.value == pytest.approx(MASS, rel=0.02)
    assert found.mass.low < MASS < found.mass.high
    assert found.com is not None
    for value, truth in zip(found.com, COM):
        assert abs(value.value - truth) < 2 * (value.high - value.value)
        assert value.value == pytest.approx(truth, abs=0.01)


def test_logs_in_the_other_order_are_named(example):
    _, robot, logs = example
    with pytest.raises(RobotError, match="the first log is the one without it"):
        identify_payload(robot, logs[1], logs[0])


def test_the_command_writes_a_payload_that_every_command_takes(example):
    folder, _, logs = example
    words = ("identify", str(folder / "arm.urdf"), *map(str, logs), "--only", "payload")
    done = run(*words, "--out", str(folder / "load.toml"), "--json")
    assert done.returncode == 0, done.stderr
    load = json.loads(done.stdout)["result"]["payload"]
    assert load["mass"]["low"] < MASS < load["mass"]["high"]
    assert run("count", str(folder / "arm.urdf"), "gravity", "--payload", str(folder / "load.toml")).returncode == 0
    carried = emdeg.load(str(folder / "arm.urdf"), payload=str(folder / "load.toml"))
    gravity = emdeg.gravity(carried, np.array([0.1, 0.2, -0.4])) - emdeg.gravity(
        emdeg.load(str(folder / "arm.urdf")), np.array([0.1, 0.2, -0.4])
    )
    model = pin.buildModelFromXML(arm_text())
    bare = pin.computeGeneralizedGravity(model, model.createData(), np.array([0.1, 0.2, -0.4]))
    model.appendBodyToJoint(3, pin.Inertia(MASS, COM, TENSOR), pin.SE3.Identity())
    truth = pin.computeGeneralizedGravity(model, model.createData(), np.array([0.1, 0.2, -0.4])) - bare
    np.testing.assert_allclose(gravity, truth, atol=0.2)
    assert run(*words[:3], "--only", "payload").returncode == 2
    assert run(*words[:-1], "mass").returncode == 2
    assert run(*words, "--out", str(folder / "load.urdf")).returncode == 2


@pytest.mark.slow
def test_what_a_delta_carries_is_found_from_its_motors(tmp_path):
    robot = choose.with_coordinates(emdeg.load("delta"), ["q1", "q2", "q3"])
    heavy = choose.with_coordinates(emdeg.load("delta", payload="mass=0.4"), ["q1", "q2", "q3"])
    assert robot.loops is not None
    middle = np.array([float(robot.loops.start[k]) for k in robot.loops.coordinates])
    rng = np.random.default_rng(2)
    t = np.arange(1500) / 150
    w = 2 * np.pi * np.array([[0.2, 0.5, 0.9], [0.3, 0.6, 1.1], [0.25, 0.7, 1.0]]).T
    wave, size = t[:, None, None] * w + rng.uniform(0, 6, size=(3, 3)), np.array([[0.3], [0.15], [0.08]])
    q = middle + (size * np.sin(wave)).sum(axis=1)
    qd, qdd = (size * w * np.cos(wave)).sum(axis=1), -(size * w**2 * np.sin(wave)).sum(axis=1)
    logs = []
    for name, one in (("empty", robot), ("loaded", heavy)):
        tau = emdeg.inverse_dynamics(one, q, qd, qdd) + 0.05 * qd + 0.1 * np.sign(qd)
        tau += 0.02 * rng.normal(size=q.shape)
        log = RecordedRun(robot, t, q + 1e-5 * rng.normal(size=q.shape), tau, (q, qd, qdd))
        logs.append(log.write(tmp_path / f"{name}.csv"))
    found = identify_payload(emdeg.load("delta"), *logs)
    assert found.mass.value == pytest.approx(0.4, rel=0.05)
    assert found.com is None  # a platform that does not turn shows no moments
    assert any("MX" in words for words in found.hidden)
    with pytest.raises(RobotError, match="no payload file"):
        payload_toml(found)
