"""How joints follow coordinates."""

from __future__ import annotations

from fractions import Fraction

from emdeg.algebra import PrimeField
from emdeg.kane import joint_rates
from emdeg.kane.system import system
from tests.random_robots import random_robot


def test_the_joints_of_a_tree_follow_its_coordinates_by_the_identity():
    field = PrimeField(1)
    tree = random_robot(3, 4)
    at = [field.joint_sincos(k) if j.kind == "revolute" else field.displacement(k) for k, j in enumerate(tree.joints)]
    sys = system(tree, joint_rates(tree), field, at)
    xd = [field.rate(k) for k in range(4)]
    assert sys.joint_rates(xd) == xd
    assert sys.generalized(sys.free, xd) == xd
    assert list(sys.state.drift(xd)) == [field.number(Fraction(0))] * 4
