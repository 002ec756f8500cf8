"""Which measurement to improve: shares by hand, by differences, and by measuring one number better."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.analysis import improvement_figure, improvement_of, workspace
from emdeg.errors import RobotError


@pytest.fixture(scope="module")
def puma():
    robot = emdeg.load("puma560")
    return improvement_of(robot, workspace(robot), states=60, draws=400)


def test_shares_of_a_joint_are_a_vector_of_length_one(puma):
    squares = np.array([one.shares for one in puma.influences]) ** 2
    np.testing.assert_allclose(squares.sum(axis=0), 1.0, atol=1e-9)
    assert [one.largest for one in puma.influences] == sorted((one.largest for one in puma.influences), reverse=True)


def test_first_order_and_monte_carlo_agree(puma):
    for joint in puma.joints:
        assert joint.monte_carlo == pytest.approx(joint.first_order, rel=0.1)
    for c in puma.constants:
        assert sum(share**2 for _, share in c.parts) == pytest.approx(1.0 if c.first_order else 0.0, abs=1e-6)


def test_a_wrist_drive_is_its_joints_first_concern(puma):
    """Joint 6 feels hardly anything but its drive's inertia."""
    shares = {one.path: one.shares for one in puma.influences}
    assert shares["q6.drive.inertia"][5] > 0.99
    assert "link5.Ixx" in puma.known_well_enough
    assert "q2.drive.inertia" not in puma.known_well_enough


def test_knowing_a_number_exactly_leaves_what_is_promised(puma):
    robot = emdeg.load("puma560")
    first = puma.influences[0]
    better = {path: v for path, v in robot.tolerances.items() if path != first.path}
    again = improvement_of(replace(robot, tolerances=better), workspace(robot), states=60, draws=10)
    found = [joint.first_order for joint in again.joints]
    np.testing.assert_allclose(found, first.without, rtol=1e-6, atol=1e-12)


def test_one_tolerance_by_differences():
    """d tau / d m of a hanging link by hand: the share is one, the spread |d tau / d m| times the tolerance."""
    robot = replace(emdeg.load("planar2r"), tolerances={"link2.mass": Fraction(1, 10)})
    where = workspace(robot)
    found = improvement_of(robot, where, states=20, draws=50)
    assert [one.shares for one in found.influences] == [(1.0, 1.0)]
    q, qd, qdd = where.sample_states(20, 0)
    light = emdeg.load("planar2r", payload="mass=0.1,com=0.5:0:0,inertia=0:0:0@link2", allow_nonphysical=True)
    change = emdeg.inverse_dynamics(light, q, qd, qdd) - emdeg.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(
        [joint.first_order for joint in found.joints], np.sqrt((change**2).mean(axis=0)), rtol=1e-9
    )


def test_a_robot_without_tolerances_is_told():
    robot = emdeg.load("planar2r")
    with pytest.raises(RobotError, match="states no tolerances"):
        improvement_of(robot, workspace(robot))


def test_the_figure_and_its_data(puma, tmp_path):
    files = improvement_figure(puma, tmp_path)
    assert {file.name for file in files} == {"tolerance.png", "tolerance.csv"}
