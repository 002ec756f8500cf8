"""Numbers moved: the same function when each use has its own, and smaller errors when they are tuned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import emdeg
from emdeg.approximation.shortening.adversary import random_states
from emdeg.approximation.shortening.pruning import Pruning
from emdeg.approximation.shortening.tuning import with_own_numbers
from emdeg.programs import Kind, Op, Program, count, evaluate, plain_program
from emdeg.robot import workspace

ROBOT = emdeg.load("planar2r")
EXACT = plain_program(ROBOT, "inverse_dynamics")
STATES = random_states(workspace(ROBOT), ("q", "qd", "qdd"), 100, np.random.default_rng(0))


def tau(program):
    return evaluate(program, STATES)["tau"]


def test_every_use_of_a_number_becomes_a_number_of_its_own_and_the_function_stays():
    own = with_own_numbers(EXACT)
    numbers = [index for index, op in enumerate(own.ops) if op.kind is Kind.NUMBER]
    assert all(sum(index in op.args for op in own.ops) <= 1 for index in numbers)
    assert count(own) == count(EXACT)
    np.testing.assert_allclose(tau(own), tau(EXACT), atol=1e-12)


def test_numbers_that_are_wrong_are_tuned_back_to_where_the_error_is_small():
    own = with_own_numbers(EXACT)
    ops = [Op(op.kind, payload=op.number * Fraction(21, 20)) if op.kind is Kind.NUMBER else op for op in own.ops]
    wrong = Program(own.name, own.inputs, tuple(ops), own.outputs)
    search = Pruning(STATES, lambda states: evaluate(EXACT, states)["tau"], 0.05 * np.abs(tau(EXACT)).max(axis=0))
    before = search.worst(wrong)
    assert before > 0.5
    assert search.worst(search.repaired(wrong)) < 0.1 * before
