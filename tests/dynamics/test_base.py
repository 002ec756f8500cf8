"""Base parameters of closed loops: as many as the regressor's rank, with the torques of all of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.parameters import base_parameters, base_values, parameters, regrouped
from emdeg.programs.build import plain_program
from emdeg.programs.verification import verify_program
from tests.loops.linkages import SLIDER_CRANK, built
from tests.loops.test_loops import robot_of, states

LOOPS = ["delta", "delta_lumped", "fivebar", "fourbar", "palletiser", "rrr3"]


def torques(Y, values):
    return Y @ np.array([float(value) for value in values])


def rank(Y):
    """Of a regressor stacked over states, by singular values in doubles."""
    rows = Y.reshape(-1, Y.shape[-1])
    size = np.linalg.norm(rows, axis=0)
    values = np.linalg.svd(rows / np.where(size > 1e-12, size, 1), compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0]))


@pytest.mark.parametrize("name", [*LOOPS, "stewart"])
def test_regressor_times_the_parameters_is_inverse_dynamics(name):
    robot, state = robot_of(name), states(name, 2)
    tau = emdeg.inverse_dynamics(robot, *state)
    np.testing.assert_allclose(torques(emdeg.regressor(robot, *state), parameters(robot)), tau, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", LOOPS)
def test_base_parameters_are_as_many_as_the_rank_and_give_the_same_torques(name):
    robot = robot_of(name)
    base = base_parameters(robot)
    assert base.minimal
    q, qd, qdd = states(name, 60)
    assert len(base) == rank(emdeg.regressor(robot, q, qd, qdd))
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    kept = emdeg.regressor(robot, q, qd, qdd, base=True)
    np.testing.assert_allclose(torques(kept, base_values(robot)), tau, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(emdeg.inverse_dynamics(regrouped(robot), q, qd, qdd), tau, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
def test_base_parameters_of_the_stewart_platform():
    robot = robot_of("stewart")
    state = states("stewart", 4)
    assert len(base_parameters(robot)) == 106
    kept = emdeg.regressor(robot, *state, base=True)
    np.testing.assert_allclose(torques(kept, base_values(robot)), emdeg.inverse_dynamics(robot, *state), rtol=1e-8)


def test_a_column_is_what_one_more_unit_changes():
    """Masses and rods changed in the robot itself, a formulation away from the regressor."""
    robot, state = robot_of("delta"), states("delta", 3)
    Y, tau = emdeg.regressor(robot, *state), emdeg.inverse_dynamics(robot, *state)
    links = list(robot.links)
    links[5] = replace(links[5], inertia=replace(links[5].inertia, mass=links[5].inertia.mass + 1))
    heavier = emdeg.inverse_dynamics(replace(robot, links=tuple(links)), *state)
    np.testing.assert_allclose(Y[..., 11 * 5 + 9], heavier - tau, rtol=1e-9, atol=1e-9)
    rod = robot.loops.rods[1]
    for part, change in (("mass", (0.52 / 2) ** 2), ("inertia", 1.0)):
        rods = list(robot.loops.rods)
        rods[1] = replace(rod, **{part: getattr(rod, part) + 1})
        changed = emdeg.inverse_dynamics(replace(robot, constraints=replace(robot.loops, rods=tuple(rods))), *state)
        first = 11 * 7
        column = Y[..., first + 5] * change
        if part == "mass":
            column = column + Y[..., first + 6] * 0.26 + Y[..., first + 9]
        np.testing.assert_allclose(column, changed - tau, rtol=1e-8, atol=1e-8)


def test_a_mass_at_a_rods_end_may_be_the_rods_or_its_neighbours():
    robot, state = robot_of("delta"), states("delta", 2)
    own, m = list(parameters(robot)), Fraction(3, 10)
    own[11 * 6 + 9] += m  # forearm1's mass, at its first end: arm1's tip, 0.2 m out
    own[9] -= m
    own[6] -= m / 5
    for c in (3, 5):
        own[c] -= m / 25
    tau = torques(emdeg.regressor(robot, *state), own)
    np.testing.assert_allclose(tau, emdeg.inverse_dynamics(robot, *state), rtol=1e-9, atol=1e-9)


def test_loops_that_close_numerically_have_base_parameters(tmp_path):
    robot = built(SLIDER_CRANK, tmp_path)
    rng = np.random.default_rng(2)
    q, qd, qdd = 1.0 + rng.uniform(-2, 2, (30, 1)), rng.normal(size=(30, 1)), rng.normal(size=(30, 1))
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    assert len(base_parameters(robot)) == rank(emdeg.regressor(robot, q, qd, qdd))
    np.testing.assert_allclose(
        torques(emdeg.regressor(robot, q, qd, qdd, base=True), base_values(robot)), tau, rtol=1e-8
    )


@pytest.mark.parametrize("name", ["fivebar", pytest.param("delta", marks=pytest.mark.slow)])
def test_programs_of_the_regressor_are_proved(name):
    robot = robot_of(name)
    for base in (False, True):
        program = plain_program(robot, "regressor", base=base)
        verify_program(program, robot, "regressor", base=base)
