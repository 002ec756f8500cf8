"""The papers' tables: rates attainable at two rates, programs on several processors."""

import math

import numpy as np
import pytest

import emdeg
from emdeg.papers import Multirate, holding_error, multirate, split
from emdeg.programs import count


def test_table_2_follows_from_its_counts():
    """1165 operations at 100 000 a second are 85.8 a second (the paper prints 78)."""
    from emdeg.programs import Count

    full = Multirate(Count(900, 149), Count(116, 0), 1, 100_000, 4)
    assert full.together == pytest.approx(85.8, abs=0.05)
    assert full.fast == 4 * full.slow


def test_holding_the_configuration_no_step_makes_no_error_and_more_steps_more():
    robot = emdeg.load("planar3r")
    p = emdeg.program(robot, "inverse_dynamics")
    t = np.linspace(0, 2, 200)[:, None]
    q, qd, qdd = np.sin(t * [1, 2, 3]), np.cos(t * [1, 2, 3]) * [1, 2, 3], -np.sin(t * [1, 2, 3]) * [1, 4, 9]
    assert max(holding_error(p, q, qd, qdd, 1)["largest"]) < 1e-12
    rms = [max(holding_error(p, q, qd, qdd, k)["rms"]) for k in (2, 4, 8)]
    assert 0 < rms[0] < rms[1] < rms[2]


def test_operations_and_values_passed_between_processors():
    p = emdeg.program(emdeg.load("planar3r"), "inverse_dynamics")
    alone = split(p, 1)
    assert alone.span == count(p).total == sum(alone.load)
    assert not alone.passed
    for processors in (2, 3):
        many = split(p, processors)
        assert sum(many.load) == count(p).total
        assert many.span >= max(many.critical, math.ceil(count(p).total / processors))
        assert many.span < alone.span
        for value, origin, target in many.passed:
            assert many.of[value] == origin != target
    assert multirate(p).passed > 0
