"""Errors of models of terms: certified, within a time on a clock that the test turns."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.approximation.programs import program
from emdeg.approximation.row_error import RowObjective, largest_error, row
from emdeg.approximation.short_model import full_model
from emdeg.approximation.significance import significant
from emdeg.programs import Effort, count
from emdeg.robot import workspace


class Turned:
    """A clock that goes on by a step each time it is looked at; `looks` counts how often that was."""

    def __init__(self, step: float) -> None:
        self.step, self.looks = step, 0

    def __call__(self) -> float:
        self.looks += 1
        return self.step * self.looks


def test_a_budget_is_shared_and_ends_on_its_clock():
    now = [5.0]
    whole = Effort(10.0, lambda: now[0])
    over = whole.until(1.0)
    first = whole.part(0.5)
    assert first.seconds == pytest.approx(5.0)
    now[0] += 6.0
    assert first.left() == 0.0
    assert first.until(1.0)()
    assert whole.left() == pytest.approx(9.5 - 6.0)  # proving takes what is kept back
    assert not over()
    now[0] += 4.0
    assert over()
    assert Effort(10.0, lambda: now[0], start=0.0).left() == 0.0


@pytest.fixture(scope="module")
def arm():
    robot = emdeg.load("planar3r")
    return full_model(robot), workspace(robot)


@pytest.mark.parametrize("step", [0.02, 0.2])
def test_search_and_certification_look_at_the_clock_and_end_by_it(arm, step):
    full, where = arm
    clock = Turned(step)
    emdeg.abbreviate(full.robot, effort=Effort(4.0, clock))
    short, _ = significant(full, where)
    program(short, effort=Effort(4.0, clock))
    assert step * clock.looks <= 1.2 * 8.0 + 20 * step


def test_the_bound_that_needs_no_search_holds(arm):
    full, where = arm
    short, _ = significant(full, where, significance=0.1)
    part = row(1, short.row_difference(1), where)
    assert part is not None
    at_once = largest_error(part, seconds=0.0, clock=Turned(1.0))
    searched = largest_error(part, seconds=2.0, clock=Turned(1e-3))
    assert at_once.bound == RowObjective(part).at_once
    assert searched.value <= searched.bound <= at_once.bound
    points = np.random.default_rng(1).uniform(*np.array(where.ranges).T, (500, 3))
    names = [v.letter.of for v in part.formulas.variables]
    reached = RowObjective(part).reached(points[:, [n - 1 for n in names]])
    assert reached.max() <= at_once.bound


def test_a_program_of_no_time_is_still_the_model_s(arm):
    full, where = arm
    short, _ = significant(full, where)
    hurried, unhurried = program(short, effort=Effort(0.1, Turned(1.0))), program(short)
    assert count(unhurried).total <= count(hurried).total
    call, other = emdeg.compile(hurried), emdeg.compile(unhurried)
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 20, 3))
    np.testing.assert_allclose(call(q, qd, qdd), other(q, qd, qdd), rtol=1e-9, atol=1e-9)
