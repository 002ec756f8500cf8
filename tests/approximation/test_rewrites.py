"""Moves: what a value becomes is what the move says, and rates stay what they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.approximation.program_error import TORQUE_DEGREES, written_rates
from emdeg.approximation.shortening.adversary import random_states
from emdeg.approximation.shortening.rewrites import Graph, rate_terms, rewritten
from emdeg.approximation.shortening.tape import Tape
from emdeg.programs import evaluate, plain_program
from emdeg.robot import workspace


@pytest.mark.parametrize("name", ["planar3r", "stanford_arm"])
@pytest.mark.long
def test_each_move_changes_the_outputs_as_the_slopes_say_where_it_enters_once(name):
    robot = emdeg.load(name)
    program = plain_program(robot, "inverse_dynamics")
    slides = {joint.name: (-1.0, 1.0) for joint in robot.joints if joint.kind == "prismatic"}
    states = random_states(workspace(robot, slides), ("q", "qd", "qdd"), 40, np.random.default_rng(0))
    tape = Tape(program)
    values = tape.forward(states)
    slopes = tape.backward(values, np.ones(robot.n))
    graph = Graph(program)
    substitutions = graph.substitutions(values, slopes)
    assert substitutions
    before, terms = tape.outputs(values), rate_terms(program)
    roots = [ref.value for group in program.outputs for ref in group.entries if ref.sign]
    checked = 0
    for move, change in [*graph.rewrites(values), *substitutions]:
        short = rewritten(program, {move.at: move})
        assert written_rates(short) <= TORQUE_DEGREES
        if move.like is not None:
            assert terms[move.like] <= terms[move.at]
            assert move.number not in (None, Fraction(0))
        if roots.count(move.at) == 1 and not graph.readers[move.at]:  # an output itself: linear in it
            after = evaluate(short, states)["tau"].T
            np.testing.assert_allclose(after - before, slopes[move.at] * change, atol=1e-4 * np.abs(before).max())
            checked += 1
    assert checked
