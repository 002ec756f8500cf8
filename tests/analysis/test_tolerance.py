"""Tolerances of what follows from measured numbers: first order against Monte-Carlo."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.analysis import Tolerances
from emdeg.equations import from_json, lumped_model, to_json
from emdeg.robot import Robot, opened, parameter_paths, substitute
from tests.random_robots import random_robot

LINEAR = ("M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ")
CHAINS = ("planar2r", "scara", "puma560", "stanford_arm", "jpl_rrp", "ur5e", "panda", "iiwa14")


def test_rms_tolerances_of_the_pumas_constants_are_the_first_order_covariance():
    full = lumped_model(emdeg.load("puma560"))
    found = Tolerances(full, draws=4000).constants()
    rms = [c.tolerance for c in full.lumped.constants]
    np.testing.assert_allclose(found.first_order, rms, rtol=1e-9, atol=1e-15)
    large = found.first_order > 0
    np.testing.assert_allclose(found.monte_carlo[large], found.first_order[large], rtol=0.15)


def test_effort_tolerances_agree_between_first_order_and_monte_carlo():
    robot = emdeg.load("puma560")
    tolerances = Tolerances(lumped_model(robot), draws=1500)
    random = np.random.default_rng(0)
    q, qd, qdd = random.uniform(-1, 1, (3, 8, 6))
    efforts = tolerances.efforts(q, qd, qdd)
    np.testing.assert_allclose(efforts.value, emdeg.inverse_dynamics(robot, q, qd, qdd), atol=1e-12)
    np.testing.assert_allclose(efforts.monte_carlo, efforts.first_order, rtol=0.2, atol=1e-4)
    eigen = tolerances.eigenvalues(q[:3])
    np.testing.assert_allclose(eigen.value, np.linalg.eigvalsh(emdeg.mass_matrix(robot, q[:3])), rtol=1e-10)
    assert np.all(eigen.first_order > 0)


def test_a_mass_centre_at_zero_loads_the_joint_by_its_tolerance():
    """Link 3's is at 0 +- 0.003 m along x: m g 0.003 = 0.141 N m at joint 3, most of what there is at q = 0."""
    robot = emdeg.load("puma560")
    at = np.zeros((1, 6))
    found = Tolerances(lumped_model(robot), draws=20000).efforts(at, at, at)
    without = replace(robot, tolerances={p: v for p, v in robot.tolerances.items() if p != "link3.com.x"})
    less = Tolerances(lumped_model(without), draws=10).efforts(at, at, at)
    alone = 4.80 * 9.81 * 0.003
    assert found.first_order[0, 2] == pytest.approx(np.hypot(less.first_order[0, 2], alone), rel=1e-9)
    assert found.first_order[0, 2] == pytest.approx(found.monte_carlo[0, 2], rel=0.02)


def toleranced(robot: Robot, scale: Fraction) -> Robot:
    """The robot with a tolerance for every number that its dynamics has: zeros and angles are among them."""
    paths = [p for p in parameter_paths(robot) if p.partition(".")[0] not in ("base", "tool", "gravity", "payload")]
    stated = {p for p in paths if p.rpartition(".")[2] == "mass"}
    owners = {p.rpartition(".")[0] for p in stated}
    kept = [p for p in paths if not (p.rpartition(".")[2] in LINEAR and p.rpartition(".")[0] in owners)]
    kept = [p for p in kept if not p.endswith(("motor_inertia", "gear_ratio"))]
    random = np.random.default_rng(len(kept))
    return replace(robot, tolerances={p: scale * Fraction(int(random.integers(1, 9)), 100) for p in kept})


def differences(robot: Robot, state: np.ndarray) -> np.ndarray:
    """First order by what the numbers are put in for: central differences of the reference, one number at a time."""
    found = opened(robot, list(robot.tolerances))
    total = np.zeros(state.shape[1:])
    for path, tolerance in robot.tolerances.items():
        step = min(1e-6, float(tolerance))
        ends = []
        for sign in (1, -1):
            values = {found.symbols[p]: Fraction(v) for p, v in found.nominal.items()}
            values[found.symbols[path]] += sign * Fraction(step)
            ends.append(emdeg.inverse_dynamics(substitute(found.robot, values), *state))
        total += ((ends[0] - ends[1]) / (2 * step) * float(tolerance)) ** 2
    return np.sqrt(total)


@pytest.mark.parametrize("name", CHAINS)
def test_first_order_is_monte_carlos_limit_for_tolerances_of_every_number(name):
    robot = toleranced(emdeg.load(name), Fraction(1, 10**4))
    # Lumping with every zero opened is not what is tested here.
    full = lumped_model(emdeg.load(name), "g")
    tolerances = Tolerances(replace(full, robot=robot), draws=3000)
    state = np.random.default_rng(1).uniform(-1, 1, (3, 2, robot.n))
    found = tolerances.efforts(*state)
    np.testing.assert_allclose(found.monte_carlo, found.first_order, rtol=0.08)
    np.testing.assert_allclose(found.value, emdeg.inverse_dynamics(robot, *state), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_first_order_is_what_changed_numbers_give(seed):
    robot = toleranced(random_robot(seed, 3), Fraction(1, 10**3))
    state = np.random.default_rng(seed).uniform(-1, 1, (3, 2, robot.n))
    full = lumped_model(replace(robot, tolerances={}), "g")
    found = Tolerances(replace(full, robot=robot), draws=10).efforts(*state)
    np.testing.assert_allclose(found.first_order, differences(robot, state), rtol=1e-6)


def test_constants_gain_what_a_number_without_a_symbol_does_to_their_functions():
    """Entries of a robot whose numbers moved are those of the constants moved alike, where the functions are theirs."""
    robot = emdeg.load("puma560")
    q = np.random.default_rng(0).uniform(-1, 1, (5, 6))
    model = emdeg.derive(robot)
    step = Fraction(1, 10**6)
    found = opened(robot, ["link3.com.x"])
    moved = emdeg.derive(substitute(found.robot, {found.symbols["link3.com.x"]: step})).evaluate(q)
    values = model.general.numbers
    total = {entry: np.zeros(5) for entry in moved}
    for entry, terms in model.lumped.expansions.items():
        for name, function in terms:
            c = model.lumped[name]
            slope = c.zero_slopes.get("link3.com.x")
            value = c.value + (float(step) * float(slope.evaluate(parameters=values)) if slope is not None else 0)
            total[entry] += value * function.evaluate(q)
    for entry, value in moved.items():
        np.testing.assert_allclose(total[entry], value, rtol=0, atol=1e-10, err_msg=entry)


def test_a_model_read_back_from_json_has_the_same_tolerances():
    model = emdeg.derive("puma560", symbolic=True)
    back = from_json(to_json(model))
    assert [c.tolerance for c in back.constants] == [c.tolerance for c in model.constants]
    assert [c.tolerance for c in emdeg.derive("puma560").constants] == [c.tolerance for c in model.constants]
