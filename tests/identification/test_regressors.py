"""The regressor by the motors' motion: one and the same function, however the loops close."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.parameters import base_values
from emdeg.identification.regressors import base_regressor, coordinate_motion, described, has_programs, motor_motion
from emdeg.robot import load_text, to_toml


@pytest.fixture(scope="module")
def robot():
    """A 3-RRR, whose loops close by steps from its platform's pose and numerically from its motors' positions."""
    return emdeg.load("rrr3")


@pytest.fixture(scope="module")
def motion():
    """q, qd, qdd (m, 3) of the platform."""
    t, w = np.linspace(0, 2, 15)[:, None], np.array([2.0, 3.0, 2.5])
    size = np.array([0.05, 0.04, 0.2])
    return size * np.sin(w * t), size * w * np.cos(w * t), -size * w * w * np.sin(w * t)


def test_the_motors_lead_back_to_the_platform(robot, motion):
    motors = motor_motion(robot, *motion)
    for found, given in zip(coordinate_motion(robot)(*motors), motion):
        np.testing.assert_allclose(found, given, atol=1e-9)
    far = motors[0][:2] + np.array([[0.0, 0.0, 0.0], [2.0, -2.0, 2.0]])
    q, _, _ = coordinate_motion(robot)(far, *(array[:2] for array in motors[1:]))
    assert np.isfinite(q[0]).all()
    assert np.isnan(q[1]).all()


def test_a_description_by_motors_is_taken_where_programs_run_in_it(robot):
    assert [joint.name for joint in described(emdeg.load("fivebar")).coordinates] == ["q1", "q2"]
    assert described(robot) == robot
    by_motors = emdeg.loops.with_coordinates(robot, ["q1", "q2", "q3"])
    assert [joint.name for joint in described(by_motors).coordinates] == ["x", "y", "phi"]
    assert described(tree := emdeg.load("planar2r")) == tree


@pytest.mark.slow
def test_loops_that_close_numerically_only_have_the_mechanics_in_doubles(robot, motion):
    text = to_toml(robot).replace('link = "platform"', 'link = "forearm1"', 1)
    text = text.replace('coordinates = ["x", "y", "phi"]', 'coordinates = ["q1", "q2", "q3"]')
    other = load_text(text, "other.toml")
    assert not has_programs(described(other))
    state = motor_motion(robot, *motion)
    np.testing.assert_allclose(base_regressor(other)(*state), base_regressor(robot)(*state), atol=1e-9)
    tau = base_regressor(robot)(*state) @ np.array(list(map(float, base_values(robot))))
    np.testing.assert_allclose(tau, emdeg.inverse_dynamics(robot, *motion), atol=1e-9)
    out_of_reach = base_regressor(other)(state[0][:1] + np.array([2.0, -2.0, 2.0]), *(array[:1] for array in state[1:]))
    assert np.isnan(out_of_reach).all()
