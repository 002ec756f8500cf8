"""Formulations of the literature on random trees, prismatic joints among them: equal modulo a prime, no digit lost."""

import pytest

import emdeg
from emdeg.algebra import PrimeField
from emdeg.dynamics.formulations import izaguirre_paul, walker_orin
from emdeg.dynamics.formulations.articulated_body import forward_dynamics
from emdeg.dynamics.formulations.coefficients import newton_euler_coefficients
from emdeg.dynamics.formulations.lagrange_uicker import uicker_coefficients
from emdeg.dynamics.formulations.luh_walker_paul import efforts_by_luh_walker_paul
from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.kane.equations import kane_efforts
from emdeg.dynamics.mechanism import frames, mechanism_of
from tests.random_robots import random_robot


def over(robot, seed):
    field = PrimeField(seed)
    mech = mechanism_of(robot, field)
    at = [field.joint_sincos(k) if mech.revolute[k] else field.symbol(f"q{k}") for k in range(mech.n)]
    rates = [[field.symbol(f"{letter}{k}") for k in range(mech.n)] for letter in ("v", "a")]
    return mech, frames(mech, at), *rates


@pytest.mark.parametrize("seed", range(8))
def test_formulations_of_random_robots_agree(seed):
    robot = random_robot(seed, 5, tree=seed % 2 == 0)
    mech, frame, qd, qdd = over(robot, seed)
    tau = efforts_by_newton_euler(mech, frame, qd, qdd)
    assert efforts_by_luh_walker_paul(mech, frame, qd, qdd) == tau
    assert tuple(kane_efforts(mech, frame, qd, qdd)) == tau
    whole = newton_euler_coefficients(mech, frame)
    assert uicker_coefficients(mech, frame) == whole
    for matrix in (walker_orin.columns, walker_orin.half_columns, izaguirre_paul.inertial_coefficients):
        assert [tuple(row) for row in matrix(mech, frame)] == list(whole.M)
    assert tuple(izaguirre_paul.gravitational_coefficients(mech, frame)) == whole.g
    assert walker_orin.accelerations_without_matrix(mech, frame, qd, tau) == qdd
    assert forward_dynamics(mech, frame, qd, tau) == qdd


def test_a_body_without_mass_may_have_first_moments():
    """As base parameters leave them: Luh, Walker and Paul's mass centre does not exist there."""
    from dataclasses import replace

    robot = emdeg.load("planar2r")
    mech, frame, qd, qdd = over(robot, 3)
    body = mech.inertia[1]
    nowhere = replace(mech, inertia=(mech.inertia[0], replace(body, m=mech.zero)))
    assert efforts_by_luh_walker_paul(nowhere, frame, qd, qdd) == efforts_by_newton_euler(nowhere, frame, qd, qdd)
