"""Operations left out: what remains is shorter, of the same kind, and as near as was asked for."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.approximation.program_error import TORQUE_DEGREES, written_rates
from emdeg.approximation.shortening.adversary import random_states
from emdeg.approximation.shortening.pruning import Pruning
from emdeg.approximation.shortening.tape import Tape
from emdeg.programs import count, evaluate, plain_program
from emdeg.robot import workspace

NAMES = ("q", "qd", "qdd")


def setting(name: str, count_: int = 200):
    robot = emdeg.load(name)
    program = plain_program(robot, "inverse_dynamics")
    states = random_states(workspace(robot), NAMES, count_, np.random.default_rng(0))
    return program, states, evaluate(program, states)["tau"].T


def truth(program):
    return lambda states: evaluate(program, states)["tau"]


def test_values_forwards_are_the_programs_and_slopes_backwards_are_differences():
    program, states, tau = setting("planar2r", 5)
    tape = Tape(program)
    values = tape.forward(states)
    np.testing.assert_allclose(tape.outputs(values), tau, atol=1e-12)
    np.testing.assert_allclose(tape.call(states), tau.T, atol=1e-12)
    slopes = tape.backward(values, np.ones(2))
    place = next(k for k, op in enumerate(program.ops) if op.payload == ("qdd", 1))
    moved = {**states, "qdd": states["qdd"] + [0.0, 1.0]}
    np.testing.assert_allclose(slopes[place], evaluate(program, moved)["tau"].T - tau, rtol=1e-5)


@pytest.mark.parametrize("name", ["planar3r", pytest.param("puma560", marks=pytest.mark.slow)])
def test_a_pruned_program_is_shorter_within_its_limits_and_still_efforts(name):
    program, states, tau = setting(name)
    limits = 0.1 * np.abs(tau).max(axis=1)
    path, _ = Pruning(states, truth(program), limits).run(program, 1.0)
    short = path[-1]
    assert count(short).total < count(program).total
    assert (np.abs(evaluate(short, states)["tau"].T - tau) <= limits[:, None] * (1 + 1e-9)).all()
    assert written_rates(short) <= TORQUE_DEGREES


def test_without_room_nothing_goes():
    program, states, tau = setting("planar2r")
    path, _ = Pruning(states, truth(program), np.full(2, 1e-9)).run(program, 1.0)
    np.testing.assert_allclose(evaluate(path[-1], states)["tau"].T, tau, atol=1e-8)
