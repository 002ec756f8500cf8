"""Formulations side by side: counted by one rule, proved equal, beside what was printed."""

from dataclasses import replace

import pytest

import emdeg
from emdeg.dynamics.functions import CATALOGUE, ways_of
from emdeg.errors import BadRequest, Refuted
from emdeg.programs import compared_formulations, count
from emdeg.programs.formulations import general_robot, traced
from tests.random_robots import random_robot


def rows(name, function, names=None):
    return {row.formulation: row for row in compared_formulations(emdeg.load(name), function, names)}


def test_every_formulation_of_the_mass_matrix_is_there_and_proved():
    found = rows("scara", "mass_matrix")
    assert {"composite bodies", "Walker-Orin 1", "Walker-Orin 2", "Izaguirre-Paul", "Kane", "Lagrange-Uicker"} <= set(
        found
    )
    (reference,) = (row for row in found.values() if row.is_reference)
    assert list(found.values())[-1] == reference
    for row in found.values():
        assert row.is_reference or row.certificate.false_pass_probability < 1e-15
        assert row.simplified.total <= row.plain.total <= row.general.total


def test_walker_and_orins_second_method_is_cheaper_than_the_first_and_dearer_than_the_third():
    names = ["Lagrange-Uicker", "Walker-Orin 1", "Walker-Orin 2", "composite bodies"]
    robot = general_robot(emdeg.load("puma560"))
    ways = ways_of("mass_matrix", robot).formulations
    general = [count(traced(robot, "mass_matrix", ways[name], regroup=False)).total for name in names]
    assert general == sorted(general, reverse=True)


def test_the_general_recursion_needs_less_than_hollerbach_counted():
    """852 + 738 for any six joints, where products with the zeros of rotations were counted."""
    robot = general_robot(emdeg.load("puma560"))
    assert len(robot.symbols) == 5 * 3 + 6 * 10 + 1
    row = rows("stanford_arm", "inverse_dynamics", ["Luh-Walker-Paul"])["Luh-Walker-Paul"]
    assert 0.5 * 852 < row.general.mul < 852
    assert 0.5 * 738 < row.general.add < 738


def test_one_formulation_by_its_name_and_one_that_is_not_there():
    robot = emdeg.load("planar2r")
    (only,) = compared_formulations(robot, "gravity", ["Izaguirre-Paul"])
    assert only.formulation == "Izaguirre-Paul"
    with pytest.raises(BadRequest, match="no formulation 'Euler'; there are Newton-Euler, Izaguirre-Paul"):
        compared_formulations(robot, "gravity", ["Euler"])


def test_closed_loops_have_their_own_formulations():
    found = rows("fourbar", "mass_matrix")
    assert set(found) == {"reduction", "virtual work"}
    assert found["reduction"].general is None


def test_a_formulation_that_does_not_serve_a_tree_is_left_out():
    robot = random_robot(0, 5, tree=True)
    assert not robot.is_serial
    run = ways_of("mass_matrix", robot).formulations["extended bodies"]
    assert traced(robot, "mass_matrix", run, regroup=False) is None
    assert compared_formulations(robot, "mass_matrix", ["extended bodies"]) == []


def test_a_wrong_formulation_is_not_counted(monkeypatch):
    entry = CATALOGUE["gravity"]
    ways = entry.ways["tree"]
    wrong = {**ways.formulations, "wrong": lambda s: {"g": [s.tree.one] * s.n}}
    changed = replace(entry, ways={**entry.ways, "tree": replace(ways, formulations=wrong)})
    monkeypatch.setitem(CATALOGUE, "gravity", changed)
    with pytest.raises(Refuted, match="planar2r gravity"):
        compared_formulations(emdeg.load("planar2r"), "gravity")
