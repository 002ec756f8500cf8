"""How wrong a short program may be: the rule, friction and tolerances, each against what it is made of."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.analysis import Tolerances
from emdeg.approximation import Approximation, friction_limits, rule_limits, tolerance_limits
from emdeg.equations import lumped_model
from emdeg.errors import RobotError
from emdeg.robot import workspace


def test_dry_friction_is_its_own_mean():
    """Of Coulomb's law alone the mean magnitude is the law's one number."""
    robot = emdeg.load("puma560")
    where = workspace(robot)
    limits = np.array(friction_limits(robot, where, 1.0))
    law = np.abs(emdeg.friction(robot, np.array([np.array(where.speed), -np.array(where.speed)])))
    assert (limits <= law.max(axis=0) * (1 + 1e-9)).all()
    assert (limits > 0).all()
    np.testing.assert_allclose(friction_limits(robot, where, 0.5), 0.5 * limits)


def test_tolerances_limit_as_the_analysis_of_tolerances_spreads():
    robot = emdeg.load("puma560")
    where = workspace(robot)
    q, qd, qdd = where.sample_states(400, np.random.default_rng(5))
    rms = np.sqrt((Tolerances(lumped_model(robot), draws=2).efforts(q, qd, qdd).first_order ** 2).mean(axis=0))
    ratio = np.array(tolerance_limits(robot, where, 1.0)) / rms
    assert ((ratio > 0.7) & (ratio < 2.5)).all()  # ours has its rates at corners


def test_a_higher_threshold_allows_for_more_and_none_for_nearly_nothing():
    robot = emdeg.load("planar3r")
    where = workspace(robot)
    few, more = (np.array(rule_limits(robot, where, s, 0.0)) for s in (1e-9, 0.5))
    assert (few <= more).all()
    assert few.max() <= 1e-12
    assert more.max() > 0
    by_joints = np.array(rule_limits(robot, where, 1e-9, 0.5))
    assert by_joints.max() > 0


def test_what_is_known_anyway_is_a_target_like_any_other():
    short = emdeg.abbreviate("planar3r", function="gravity", worst_error=0.3, searching=0.2)
    assert isinstance(short, Approximation)
    assert max(short.certified_error) <= 0.3
    with pytest.raises(RobotError, match="states no tolerances"):
        emdeg.abbreviate("planar3r", of_tolerance=1.0)
    with pytest.raises(ValueError, match="give one of them"):
        emdeg.abbreviate("planar3r", worst_error=0.1, at_most=10)
