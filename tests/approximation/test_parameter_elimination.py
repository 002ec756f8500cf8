"""Short models that are robots again: efforts within the stated errors, files that say what they are."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.approximation import fewer_parameters
from emdeg.approximation.shortening.adversary import random_states
from emdeg.errors import RobotError
from emdeg.programs import program
from emdeg.robot import workspace
from tests import commands


@pytest.fixture(scope="module")
def arm():
    robot = emdeg.load("planar3r")
    return robot, workspace(robot), program(robot, "inverse_dynamics")


def test_efforts_of_the_changed_robot_stay_within_its_errors(arm, tmp_path):
    robot, where, exact = arm
    made = fewer_parameters(robot, [15.0, 8.0, 1.0], where, exact=exact, effort=0.0)
    assert made.gone
    file = tmp_path / "short.toml"
    file.write_text(made.toml())
    again = emdeg.load(file)
    states = random_states(where, ("q", "qd", "qdd"), 50_000, np.random.default_rng(3))
    efforts = [emdeg.inverse_dynamics(one, *states.values()) for one in (robot, again)]
    worst = np.abs(efforts[0] - efforts[1]).max(axis=0)
    bounds = np.array([e.bound for e in made.errors])
    assert (worst <= bounds * (1 + 1e-9)).all()
    assert (bounds <= [15.0, 8.0, 1.0]).all()
    assert (worst > 0).any()
    assert again.links[0].parent == robot.links[0].parent
    poses = [emdeg.forward_kinematics(one, states["q"][:50]) for one in (robot, again)]
    np.testing.assert_allclose(*poses, atol=1e-12)
    done = commands.run("count", str(file), "inverse_dynamics", "--effort", "0")
    assert "it is a short model of planar3r" in " ".join(done.stderr.split())


def test_without_room_nothing_is_left_out(arm):
    robot, where, exact = arm
    with pytest.raises(RobotError, match="no parameter of it can be left out"):
        fewer_parameters(robot, [1e-6] * 3, where, exact=exact, effort=0.0)


def test_the_command_writes_it_and_only_where_errors_were_asked_for(tmp_path):
    file = tmp_path / "short.toml"
    done = commands.run("abbreviate", "planar3r", "--worst-error", "0.2", "--out", str(file), "--json")
    assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("# Short model of planar3r")
    assert commands.run("abbreviate", "planar3r", "--at-most", "9", "--out", str(file)).returncode == 2
