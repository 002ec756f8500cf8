"""The reading form of derived models: what is printed equals the numeric mechanics, whatever the robot is like."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, Exact
from emdeg.algebra.expression import atoms_of
from emdeg.equations import atom_values, derive
from emdeg.robot import Payload, Robot, with_symbolic_payload
from tests.equations import reading
from tests.equations.test_equations import NUMERIC, two_arms
from tests.random_robots import random_robot

CONFIGURATIONS = 100


def numbers(model: emdeg.Model) -> dict[str, float]:
    assert all(constant.value is not None for constant in model.constants)
    return {constant.name: constant.value for constant in model.constants}


def by_mechanics(robot: Robot, model: emdeg.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip(model.compact().entries, np.concatenate(emdeg.elements(robot, q), -1).T))


def check(robot: Robot, *, printed: bool = True) -> emdeg.Model:
    """Every entry as an expression and, `printed`, as its text read again, against the numeric mechanics."""
    model = derive(robot)
    q = np.random.default_rng(11).uniform(-3, 3, (CONFIGURATIONS, robot.n))
    expected = by_mechanics(robot, model, q)
    constants = numbers(model)
    known: dict = {}
    largest = {letter: max(np.abs(v).max() for n, v in expected.items() if n[0] == letter) for letter in "Mbcg"}
    for name, entry in model.compact().entries.items():
        scale = 1e-12 * (1 + largest[name[0]])
        assert np.abs(entry.evaluate(q, constants) - expected[name]).max() <= scale, name
        if printed:
            atoms = atom_values(atoms_of(entry.expression), q, constants)
            known[name] = reading.value(entry.text, {**known, **{a.text: v for a, v in atoms.items()}})
            assert np.abs(known[name] - expected[name]).max() <= scale, name
    return model


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "panda" else []) for name in NUMERIC]
)
def test_every_printed_coefficient_of_a_library_robot_equals_the_numeric_mechanics(name):
    robot = emdeg.load(name)
    model = check(robot, printed=robot.n < 7)
    assert all(constant.uses for constant in model.constants)


def test_a_payload():
    robot = emdeg.load("puma560")
    load = Payload("link6", Exact.of(2), (Exact(), Exact.of(Fraction(1, 20)), Exact.of(Fraction(1, 10))))
    model = check(replace(robot, payloads=(load,)))
    assert any("mL" in str(constant.formula) for constant in model.constants)


def test_a_payload_left_symbolic():
    model = derive(with_symbolic_payload(emdeg.load("planar2r")))
    assert str(model.lumped["I2"].formula) == "mL*rxL + 1/2"
    assert model.lumped["I2"].value is None


def test_gravity_in_any_direction():
    gravity = tuple(Exact.of(Fraction(v, 10)) for v in (13, -27, -92))
    model = check(replace(emdeg.load("puma560"), gravity=gravity))
    assert {"gx", "gy", "gz"} <= {symbol for c in model.constants for symbol in map(str, c.formula.generators)}


def test_a_prismatic_joint_and_its_units():
    model = check(emdeg.load("jpl_rrp"))
    assert {"kg m^2", "kg m", "kg", "N m", "N"} <= {constant.unit for constant in model.constants}


def test_one_twist_that_is_no_right_angle_stays_an_angle():
    robot = emdeg.load("puma560")
    place = replace(robot.links[1].joint.placement, alpha=Angle(Fraction(1, 6)))
    joint = replace(robot.links[1].joint, placement=place)
    links = (robot.links[0], replace(robot.links[1], joint=joint), *robot.links[2:])
    check(replace(robot, links=links))


@pytest.mark.parametrize("seed", range(3))
def test_any_twists_prismatic_joints_and_gravity_in_any_direction(seed):
    check(random_robot(seed, 3))


def test_a_tree_with_two_arms():
    check(two_arms())


def test_the_hierarchical_form_of_a_library_robot():
    robot = emdeg.load("stanford_arm")
    model = derive(robot)
    q = np.random.default_rng(4).uniform(-3, 3, (CONFIGURATIONS, robot.n))
    found = model.hierarchy().evaluate(q, numbers(model))
    for name, expected in by_mechanics(robot, model, q).items():
        assert found[name] == pytest.approx(expected, rel=1e-12, abs=1e-11), name


def test_the_whole_puma_is_33_constants_with_value_tolerance_and_unit():
    constants = derive(emdeg.load("puma560")).constants
    assert len(constants) == 33
    assert all(c.value is not None and c.unit and c.uses for c in constants)
    assert sum(bool(c.tolerance) for c in constants) == 33
