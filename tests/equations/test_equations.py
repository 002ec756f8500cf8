"""Every coefficient of the explicit equations against the numeric mechanics, and the theorems they obey."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, Exact
from emdeg.equations import derive, entry_name
from emdeg.errors import NotDerived, OverBudget
from emdeg.robot import Body, Draft, Drive, Inertia, Payload, Placement, Robot, assemble, with_symbolic_payload
from emdeg.robot.symbols import symbolize
from tests.random_robots import random_inertia, random_robot

NUMERIC = [name for name in emdeg.library_names() if not emdeg.load(name).symbols and emdeg.load(name).loops is None]


def states(robot: Robot, count: int = 100) -> np.ndarray:
    return np.random.default_rng(7).uniform(-3, 3, (count, robot.n))


def error(model: emdeg.Model, robot: Robot, q: np.ndarray) -> float:
    """The largest error of any coefficient, relative to the largest of its kind."""
    values = model.evaluate(q)
    worst = 0.0
    for part, expected in zip("Mbcg", emdeg.elements(robot, q)):
        found = np.stack([value for name, value in values.items() if name[0] == part], -1)
        worst = max(worst, float(np.abs(found - expected).max() / (1 + np.abs(expected).max())))
    return worst


@pytest.mark.parametrize("name", NUMERIC)
def test_every_coefficient_of_a_library_robot_equals_the_numeric_mechanics(name):
    robot = emdeg.load(name)
    assert error(derive(robot), robot, states(robot)) < 1e-12


@pytest.mark.parametrize("name", NUMERIC)
def test_symbols_with_their_numbers_put_in_give_the_numeric_robot(name):
    robot = emdeg.load(name)
    model = derive(robot, symbolic=True)
    assert model.known
    assert error(model, robot, states(robot, 10)) < 1e-12
    changed, known = symbolize(robot)
    back = emdeg.substitute(changed, {symbol: value for symbol, (value, _) in known.items()})
    assert [link.inertia for link in back.links] == [link.inertia for link in robot.links]


@pytest.mark.parametrize("seed", range(6))
def test_a_chain_with_any_twists_prismatic_joints_and_gravity_in_any_direction(seed):
    robot = random_robot(seed, 3)
    assert error(derive(robot), robot, states(robot, 20)) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_random_tree(seed):
    robot = random_robot(seed, 4, tree=True)
    assert error(derive(robot), robot, states(robot, 20)) < 1e-12


def two_arms() -> Robot:
    rng = np.random.default_rng(3)
    right = Angle(Fraction(1, 2))
    parents = {"torso": None, "l1": "torso", "l2": "l1", "r1": "torso", "r2": "r1"}
    bodies = [
        Body(
            name,
            parent,
            f"j_{name}",
            "revolute",
            random_inertia(rng),
            row=Placement(alpha=right, a=Exact.of(Fraction(1, 5)), gamma=Angle(Fraction(k, 3))),
            drive=Drive(inertia=Exact.of(Fraction(1, 10))),
        )
        for k, (name, parent) in enumerate(parents.items())
    ]
    return assemble(Draft("two_arms", tuple(bodies)))


def test_a_tree_with_two_arms_couples_them_through_the_trunk_only():
    robot = two_arms()
    model = derive(robot)
    assert error(model, robot, states(robot)) < 1e-12
    left, right = ([i for i, link in enumerate(robot.links, 1) if link.name[0] == side] for side in "lr")
    assert not any(model.M[i - 1][j - 1] for i in left for j in right)
    assert any(model.M[0][j - 1] for j in right)


def test_a_payload_is_in_the_equations():
    robot = emdeg.load("puma560")
    load = Payload("link6", Exact.of(2), (Exact(), Exact.of(Fraction(1, 20)), Exact.of(Fraction(1, 10))))
    loaded = replace(robot, payloads=(load,))
    model = derive(loaded)
    assert error(model, loaded, states(loaded, 20)) < 1e-12
    assert model.g != derive(robot).g


def test_a_payload_left_symbolic_enters_linearly_in_its_ten_parameters():
    robot = emdeg.load("puma560")
    model = derive(with_symbolic_payload(robot))
    values = {
        "mL": 1.3,
        "rxL": 0.02,
        "ryL": -0.03,
        "rzL": 0.11,
        "IxxL": 0.4,
        "IxyL": 0.01,
        "IxzL": 0.0,
        "IyyL": 0.5,
        "IyzL": -0.02,
        "IzzL": 0.6,
    }
    assert set(values) <= set(model.algebra.parameters)
    exact = {name: Exact.of(value) for name, value in values.items()}
    loaded = emdeg.substitute(with_symbolic_payload(robot), exact)
    q = states(robot, 10)
    found = model.evaluate(q, values)
    expected = np.concatenate(emdeg.elements(loaded, q), -1)
    assert np.abs(np.stack(list(found.values()), -1) - expected).max() < 1e-12 * (1 + np.abs(expected).max())
    assert not any(model.M[5][5].degree(g) > 2 for g in model.M[5][5].generators)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew_as_a_formula():
    model = derive(emdeg.load("stanford_arm"))
    C = model.coriolis_matrix
    algebra = C[0][0].algebra
    for i in range(model.n):
        for j in range(model.n):
            rate = algebra.zero
            for k in range(1, model.n + 1):
                rate = rate + algebra.from_terms(model.dM(i + 1, j + 1, k).terms()) * algebra.rate(k)
            assert rate == C[i][j] + C[j][i]


def test_the_puma_equals_the_checked_reference():
    place = Path(__file__).parent.parent / "data" / "puma560_reference.json"
    states = json.loads(place.read_text())["states"]
    model = derive(emdeg.load("puma560"))
    for state in states:
        values = model.evaluate(np.array(state["q"]))
        for i in range(6):
            assert values[f"g{i + 1}"] == pytest.approx(state["gravity"][i], abs=1e-12)
            for j in range(i, 6):
                assert values[f"M{i + 1}{j + 1}"] == pytest.approx(state["mass_matrix"][i][j], abs=1e-12)
        qd = np.array(state["qd"])
        for i in range(6):
            row = sum(values[f"c{i + 1}{j + 1}"] * qd[j] ** 2 for j in range(6))
            row += sum(values[f"b{i + 1}{j + 1}{k + 1}"] * qd[j] * qd[k] for j in range(6) for k in range(j + 1, 6))
            assert row == pytest.approx(state["coriolis_centrifugal"][i], abs=1e-12)


def test_drive_inertias_stand_apart_and_only_on_the_diagonal():
    model = derive(emdeg.load("puma560"))
    for i in range(6):
        for j in range(6):
            assert model.M[i][j] - model.M_links[i][j] == (model.drives[i] if i == j else 0)
    assert model.drives[0] == Fraction(57, 50)
    assert model.entries(["M"], drives=False)["M66"] == Fraction(1, 25000)


def test_what_was_left_out_says_how_to_get_it():
    model = derive(emdeg.load("planar2r"), only="M")
    with pytest.raises(NotDerived, match=r"g was left out of this model \(it has M\): derive it with only="):
        model.entries(["g"])
    with pytest.raises(ValueError, match="there is no part 'X'"):
        derive(emdeg.load("planar2r"), only="X")


def test_over_budget_is_an_error_that_says_what_to_do():
    with pytest.raises(OverBudget, match=r"panda: a formula grew to \d+ terms and the budget is 100.*lock joints"):
        derive(emdeg.load("panda"), budget=100)


def test_a_symbol_named_like_a_joints_variable_is_refused():
    link = replace(emdeg.load("planar2r").links[0], inertia=Inertia(mass=Exact.symbol("q2")))
    robot = replace(emdeg.load("planar2r"), links=(link, emdeg.load("planar2r").links[1]))
    with pytest.raises(emdeg.RobotError, match="planar2r: the parameter q2 has the name of a joint's variable"):
        derive(robot)


def test_symbols_remember_values_and_tolerances():
    robot = emdeg.load("puma560")
    _, known = symbolize(robot)
    assert known["m2"].value == Fraction(87, 5)
    assert known["a2"].value == Fraction(2159, 5000)
    assert known["g"].value == Fraction(981, 100)
    assert known["m2"].tolerance == robot.tolerances.get("link2.mass")
    assert "Ixx6" in known
    assert "Iyy6" not in known  # symmetric about its own axis: one symbol for both


def test_names_of_entries_stay_apart_from_ten_joints_on():
    assert entry_name("b", 1, 1, 2) == "b112"
    assert entry_name("M", 1, 12) != entry_name("M", 11, 2)


@pytest.mark.parametrize("name", NUMERIC)
def test_numbers_put_into_the_symbols_formulas_are_what_a_derivation_in_numbers_gives(name):
    robot = emdeg.load(name)
    found, numbers = derive(robot), derive(robot, rational_angles=True)
    assert found.general is not None
    assert numbers.general is None
    if not found.algebra.constant_angles:
        assert found == numbers


def test_the_reading_form_and_a_short_model_need_no_second_derivation(monkeypatch):
    runs = []
    derived = importlib.import_module("emdeg.equations.formulas")
    composite = derived.mass_matrix
    monkeypatch.setattr(derived, "mass_matrix", lambda *args: (runs.append(1), composite(*args))[1])
    model = derive(emdeg.load("planar3r"))
    assert "I2" in {constant.name for constant in model.constants}
    assert model.compact().entries
    assert model.hierarchy()
    assert model.M
    emdeg.abbreviate(model, significance=0.05, seconds=1)
    assert len(runs) == 1
    emdeg.abbreviate(emdeg.load("planar3r"), significance=0.05, seconds=1)
    assert len(runs) == 2


def test_a_models_abbreviation_is_the_robots():
    robot = emdeg.load("planar3r")
    found = [emdeg.abbreviate(of, significance=0.05, seconds=1) for of in (robot, derive(robot))]
    found.append(emdeg.abbreviate(derive(robot, symbolic=True), significance=0.05, seconds=1))
    assert found[0].short.entries == found[1].short.entries == found[2].short.entries
    assert all(one.short.robot.symbols == frozenset() for one in found)
