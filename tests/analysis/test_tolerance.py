"""Tolerances of what follows from measured numbers: first order against Monte Carlo."""

import numpy as np

import emdeg
from emdeg.analysis import Tolerances
from emdeg.reduce import full_model


def test_rms_tolerances_of_the_pumas_constants_are_the_first_order_covariance():
    full = full_model(emdeg.load("puma560"))
    found = Tolerances(full, draws=4000).constants()
    rms = [c.tolerance for c in full.lumped.constants]
    np.testing.assert_allclose(found.first_order, rms, rtol=1e-9, atol=1e-15)
    large = found.first_order > 0
    np.testing.assert_allclose(found.monte_carlo[large], found.first_order[large], rtol=0.15)


def test_effort_tolerances_agree_between_first_order_and_monte_carlo():
    robot = emdeg.load("puma560")
    tolerances = Tolerances(full_model(robot), draws=1500)
    random = np.random.default_rng(0)
    q, qd, qdd = random.uniform(-1, 1, (3, 8, 6))
    efforts = tolerances.efforts(q, qd, qdd)
    np.testing.assert_allclose(efforts.value, emdeg.inverse_dynamics(robot, q, qd, qdd), atol=1e-12)
    np.testing.assert_allclose(efforts.monte_carlo, efforts.first_order, rtol=0.2, atol=1e-4)
    eigen = tolerances.eigenvalues(q[:3])
    np.testing.assert_allclose(eigen.value, np.linalg.eigvalsh(emdeg.mass_matrix(robot, q[:3])), rtol=1e-10)
    assert np.all(eigen.first_order > 0)
