"""emdeg's numbers against Pinocchio's and MuJoCo's: random robots and small files, unsnapped."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.robot.assembly import assemble
from emdeg.robot.mjcf_reader import read_mjcf
from emdeg.robot.model import Robot
from emdeg.robot.urdf_reader import read_urdf
from tests.oracles import Mujoco, Pinocchio, relative_error
from tests.plain_robots import PlainRobot, for_emdeg, for_mujoco, for_pinocchio, mjcf_of, plain_robots

FILES = Path(__file__).parents[1] / "data" / "robots"
CLOSE = 1e-10

many = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def assert_agrees(robot: Robot, oracle: Pinocchio | Mujoco, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    tau = oracle.inverse_dynamics(q, qd, qdd)
    assert relative_error(emdeg.inverse_dynamics(robot, q, qd, qdd), tau) < CLOSE
    assert relative_error(emdeg.mass_matrix(robot, q), oracle.mass_matrix(q)) < CLOSE
    assert relative_error(emdeg.forward_dynamics(robot, q, qd, tau), oracle.forward_dynamics(q, qd, tau)) < CLOSE


@many
@given(plain_robots(), st.integers(0, 10**6))
def test_random_robots_move_as_in_pinocchio(plain: PlainRobot, seed: int) -> None:
    assert_agrees(for_emdeg(plain), for_pinocchio(plain), seed)


@many
@given(plain_robots(), st.integers(0, 10**6))
def test_random_robots_move_as_in_mujoco(plain: PlainRobot, seed: int) -> None:
    assert_agrees(for_emdeg(plain), for_mujoco(plain), seed)


@many
@given(plain_robots(), st.integers(0, 10**6))
def test_random_robots_read_from_mjcf_move_as_in_pinocchio(plain: PlainRobot, seed: int) -> None:
    robot = assemble(read_mjcf(mjcf_of(plain), "random.xml", snap=0))
    assert_agrees(robot, for_pinocchio(plain), seed)


@pytest.mark.parametrize("file", sorted(FILES.glob("*.urdf")), ids=lambda file: file.stem)
def test_small_urdf_files_move_as_in_both(file: Path) -> None:
    text = file.read_text()
    robot = assemble(read_urdf(text, file.name, snap=0))
    joints = [joint.name for joint in robot.joints]
    for seed in range(5):
        assert_agrees(robot, Pinocchio(pin.buildModelFromXML(text), joints), seed)
        assert_agrees(robot, Mujoco(mujoco.MjModel.from_xml_string(text), joints), seed)


@pytest.mark.parametrize("file", sorted(FILES.glob("*.xml")), ids=lambda file: file.stem)
def test_small_mjcf_files_move_as_in_mujoco(file: Path) -> None:
    text = file.read_text()
    robot = assemble(read_mjcf(text, file.name, snap=0))
    model = mujoco.MjModel.from_xml_string(text)
    joints = [model.joint(j).name for j in range(model.njnt)]
    assert sorted(joints) == sorted(joint.name for joint in robot.joints)
    for seed in range(5):
        assert_agrees(robot, Mujoco(model, [joint.name for joint in robot.joints]), seed)
