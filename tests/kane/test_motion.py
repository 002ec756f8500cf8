"""Motions with angular velocities that are known beforehand; how joints follow coordinates."""

from __future__ import annotations

from fractions import Fraction

import pytest

from emdeg.algebra import PrimeField
from emdeg.kane import joint_rates
from emdeg.kane.motion import link_motions, velocities
from emdeg.kane.system import system
from emdeg.mechanics.formulations import energy
from emdeg.mechanics.variants.link_frame_recursion import motion
from tests.mechanics.chains import with_letters
from tests.random_robots import random_robot


@pytest.mark.parametrize("seed", range(6))
def test_angular_velocities_known_beforehand_change_nothing_when_they_are_true(seed):
    field = PrimeField(seed)
    robot = with_letters(random_robot(seed, 6, tree=seed % 3 == 0))
    revolute = [joint.kind == "revolute" for joint in robot.joints]
    at = [field.joint_sincos(k) if turns else field.displacement(k) for k, turns in enumerate(revolute)]
    sys = system(robot, joint_rates(robot), field, at)
    qd, qdd = [field.rate(k) for k in range(robot.n)], [field.acceleration(k) for k in range(robot.n)]
    plain, v = motion(sys.mech, sys.frame, qd, qdd), energy.velocities(sys.mech, sys.frame, qd)
    known = range(0, robot.n, 2)
    assert link_motions(sys, qd, qdd, {i: (plain[i].omega, plain[i].omegad) for i in known}) == plain
    assert velocities(sys, qd, {i: v[i].w for i in known}) == v
    assert all(v[i].w == plain[i].omega for i in range(robot.n))


def test_the_joints_of_a_tree_follow_its_coordinates_by_the_identity():
    field = PrimeField(1)
    tree = random_robot(3, 4)
    at = [field.joint_sincos(k) if j.kind == "revolute" else field.displacement(k) for k, j in enumerate(tree.joints)]
    sys = system(tree, joint_rates(tree), field, at)
    xd = [field.rate(k) for k in range(4)]
    assert sys.joint_rates(xd) == xd
    assert sys.generalized(sys.free, xd) == xd
    assert list(sys.state.drift(xd)) == [field.number(Fraction(0))] * 4
