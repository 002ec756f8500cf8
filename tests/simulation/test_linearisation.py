"""Linear models: exact derivatives, poles, and the way out to other programs."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import emdeg
from emdeg.errors import ScenarioError
from emdeg.simulation import closed_loop, computed_torque, cycloidal, linearise, pd, simulate
from emdeg.simulation.controllers.laws import UserLaw
from emdeg.simulation.integrators.methods import growth
from tests.random_robots import random_robot, random_state


@pytest.mark.parametrize("seed", range(5))
def test_the_linear_model_is_the_derivative_of_the_motion(seed):
    robot = random_robot(seed, 4, tree=seed % 2 == 0)
    q, qd, qdd = random_state(robot, seed)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    model = linearise(robot, q, qd, tau)
    n, h = robot.n, 1e-6
    x = np.concatenate([q, qd])

    def rates(x, tau):
        return np.concatenate([x[n:], emdeg.forward_dynamics(robot, x[:n], x[n:], tau)])

    A = np.stack([(rates(x + h * e, tau) - rates(x - h * e, tau)) / (2 * h) for e in np.eye(2 * n)], axis=1)
    B = np.stack([(rates(x, tau + h * e) - rates(x, tau - h * e)) / (2 * h) for e in np.eye(n)], axis=1)
    np.testing.assert_allclose(model.A, A, atol=1e-6 * np.max(np.abs(A)))
    np.testing.assert_allclose(model.B, B, atol=1e-6 * np.max(np.abs(B)))


def test_along_a_trajectory_there_is_a_model_for_every_time():
    robot = emdeg.load("puma560")
    q, qd, qdd = cycloidal(np.zeros(6), np.full(6, 0.5), 1.0)(np.linspace(0, 1, 7))
    models = linearise(robot, q, qd, qdd=qdd)
    assert models.A.shape == (7, 12, 12)
    one = linearise(robot, q[3], qd[3], qdd=qdd[3])
    np.testing.assert_allclose(models.A[3], one.A, atol=1e-12 * np.max(np.abs(one.A)))
    assert models.poles().shape == (7, 12)
    with pytest.raises(ScenarioError, match="linear models are not one"):
        models.to_scipy()


def test_a_hanging_pendulums_poles_are_its_frequencies():
    robot = emdeg.load("planar2r")
    hanging = [-np.pi / 2, 0.0]
    poles = linearise(robot, hanging).poles()
    np.testing.assert_allclose(poles.real, 0, atol=1e-9)
    M = emdeg.mass_matrix(robot, hanging)
    stiffness, _ = emdeg.inverse_dynamics_derivatives(robot, hanging, [0, 0], [0, 0])
    squares = np.linalg.eigvals(np.linalg.solve(M, stiffness))
    np.testing.assert_allclose(np.sort(np.abs(poles))[::2] ** 2, np.sort(squares))


def test_computed_torque_places_the_poles_where_it_says():
    robot = emdeg.load("puma560")
    law = computed_torque(robot, 100, 25, [0.1, -0.5, 0.4, 0.2, 0.6, 0.0])
    model = closed_loop(robot, law, [0.1, -0.5, 0.4, 0.2, 0.6, 0.0], np.zeros(6))
    poles = np.sort(model.poles().real)
    np.testing.assert_allclose(poles, np.repeat([-20, -5], 6), atol=1e-7)


def test_a_laws_exact_derivative_is_that_of_differences():
    robot = emdeg.load("puma560")
    law = pd(robot, 30, 5, np.full(6, 0.2))
    q, qd = np.full(6, 0.3), np.full(6, -0.4)
    exact = closed_loop(robot, law, q, qd)
    differences = closed_loop(robot, UserLaw(lambda t, q, qd: law(t, q, qd), 6), q, qd)
    np.testing.assert_allclose(exact.A, differences.A, rtol=1e-6, atol=1e-5)


def test_export_to_scipy_answers_like_the_robot():
    robot = emdeg.load("planar2r")
    hanging = np.array([-np.pi / 2, 0.0])
    model = linearise(robot, hanging)
    system = model.to_scipy()
    np.testing.assert_array_equal(system.A, model.A)
    small = 1e-5 * np.array([1.0, -0.5])
    motion = simulate(robot, None, hanging + small, None, 1.0)
    from scipy.linalg import expm

    expected = expm(model.A) @ np.concatenate([small, np.zeros(2)])
    np.testing.assert_allclose(motion.q[-1] - hanging, expected[:2], atol=1e-9)


def test_export_to_python_control_asks_for_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ScenarioError, match="pip install control"):
        linearise(emdeg.load("planar2r"), [0, 0]).to_control()


@pytest.mark.parametrize(("method", "limit"), [("rk4", 2.7853), ("midpoint", 2.0), ("semi_implicit", 2.0)])
def test_stability_limits_are_the_textbooks(method, limit):
    """A decaying mode for Runge-Kutta; an oscillation for the semi-implicit method."""
    A = np.array([[0.0, 1.0], [-1.0, 0.0]]) if method == "semi_implicit" else -np.eye(2)
    assert growth(method, A, 0.999 * limit) < 1 + 1e-6
    assert growth(method, A, 1.001 * limit) > 1
