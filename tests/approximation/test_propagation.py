"""What goes with a value: told from the places it touches, as the program made anew tells it."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.approximation.shortening.adversary import random_states
from emdeg.approximation.shortening.propagation import ConstantPropagation
from emdeg.approximation.shortening.rewrites import Graph, rewritten
from emdeg.approximation.shortening.tape import Tape
from emdeg.approximation.shortening.tuning import with_own_numbers
from emdeg.programs import count, program
from emdeg.robot import workspace


@pytest.mark.parametrize("name", ["planar3r", pytest.param("ur5e", marks=pytest.mark.long)])
def test_moves_alone_and_together_save_what_is_told_or_where_values_become_equal_more(name):
    robot = emdeg.load(name)
    exact = with_own_numbers(program(robot, "inverse_dynamics"))
    random = np.random.default_rng(0)
    tape = Tape(exact)
    values = tape.forward(random_states(workspace(robot), ("q", "qd", "qdd"), 20, random))
    graph = Graph(exact)
    folding = ConstantPropagation(graph)
    moves = [
        move
        for move, _ in graph.rewrites(values) + graph.substitutions(values, tape.backward(values, np.ones(robot.n)))
    ]
    more = []
    for together in (1, 1, 1, 3, 10) * 40:
        some = {moves[k].at: moves[k] for k in random.integers(0, len(moves), together)}
        saved, _ = folding.of(some.values())
        short = rewritten(exact, some)
        more.append(count(exact).total - count(short).total - saved)
    assert min(more) >= 0
    assert np.mean(np.array(more) == 0) > 0.85
