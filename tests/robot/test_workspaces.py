import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.robot.model import Limits, Robot
from emdeg.robot.workspaces import ACCELERATION, SPEED, joint_number, workspace


def with_limits(robot: Robot, k: int, **limits: float) -> Robot:
    """The robot with other limits of joint k, numbered from 1."""
    link = robot.links[k - 1]
    stated = Limits(**{name: Fraction(value) for name, value in limits.items()})
    joint = replace(link.joint, limits=stated)
    return replace(robot, links=(*robot.links[: k - 1], replace(link, joint=joint), *robot.links[k:]))


def test_a_whole_turn_where_the_file_bounds_nothing_or_more_than_a_turn():
    robot = with_limits(emdeg.load("planar2r"), 2, lower=-1.0, upper=9.0)
    where = workspace(robot)
    assert where.ranges[0] == (-math.pi, math.pi)
    np.testing.assert_allclose(where.ranges[1], (4 - math.pi, 4 + math.pi))
    assert where.free == (True, True)
    assert where.speed == (SPEED, SPEED)
    assert where.acceleration == (ACCELERATION, ACCELERATION)


def test_a_range_narrows_the_limits_and_never_widens_them():
    robot = with_limits(emdeg.load("planar2r"), 1, lower=-1.0, upper=1.0)
    assert workspace(robot, {"q1": (-3.0, 0.5)}).ranges[0] == (-1.0, 0.5)
    with pytest.raises(emdeg.RobotError, match=r"lies outside its limits, -1 to 1"):
        workspace(robot, {"1": (2.0, 3.0)})


def test_the_files_speed_holds_unless_another_is_given():
    robot = with_limits(emdeg.load("planar2r"), 1, velocity=0.5)
    assert workspace(robot).speed == (0.5, SPEED)
    assert workspace(robot, speed=3).speed == (3.0, 3.0)
    with pytest.raises(ValueError, match="speed needs one number, or 2"):
        workspace(robot, speed=[1.0, -1.0])


def test_states_are_drawn_from_the_box():
    where = workspace(emdeg.load("scara"), speed=0.5)
    q, qd, qdd = where.sample_states(1000, 4)
    assert np.all((q >= where.lower) & (q <= where.upper))
    assert 0.4 < np.abs(qd).max() <= 0.5
    assert 4 < np.abs(qdd).max() <= ACCELERATION


def test_a_motors_name_is_no_coordinate_of_a_mechanism_with_loops():
    delta = emdeg.load("delta")
    assert joint_number(delta, "z") == 3
    with pytest.raises(emdeg.RobotError, match="'q1' is no independent coordinate"):
        joint_number(delta, "q1")
