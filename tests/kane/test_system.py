"""How joints follow coordinates: by the identity in a tree, by whatever the kind of mechanism says elsewhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import emdeg
from emdeg.algebra import PrimeField
from emdeg.kane import METHODS, KaneModel, joint_rates, kane_program, read_setup, verify_kane
from emdeg.kane.system import system
from emdeg.robot.kinds import registered
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


def test_a_kind_of_mechanism_that_a_test_registers_has_kanes_equations_without_a_line_more():
    """The second joint of a planar chain turns twice as far as the first, by a gear: q2 = 2 q1."""
    geared = pytest.importorskip("tests.dynamics.geared")
    with registered(geared.geared_kind()):
        robot = replace(emdeg.load("planar2r"), constraints=geared.Gear(2))
        moved = read_setup('[[speed]]\nvelocity = "tool"\nframe = "world"\ncomponents = ["x"]\n', robot)
        for setup in (joint_rates(robot), moved):
            for function, methods in METHODS.items():
                for method in methods:
                    verify_kane(kane_program(robot, setup, function, method=method), robot, setup, function)
        model = KaneModel(robot, moved)
        u, ud = model.speeds([0.3], [0.7], [-0.4])
        tau = emdeg.inverse_dynamics("planar2r", [0.3, 0.6], [0.7, 1.4], [-0.4, -0.8])
        assert model.torques([0.3], u, ud) == pytest.approx([tau[0] + 2 * tau[1]])
        assert str(model.singular[1]) == "q1 = 0 or 180 deg"
