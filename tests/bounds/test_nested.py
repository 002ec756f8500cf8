"""Nested bounds: against points of the box and against branch and bound."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.bounds import family, largest_magnitude, nested_supremum
from tests.bounds.test_bounds import ALGEBRA, TURN, random_formula

BOXES = (
    {1: TURN, 2: TURN, 3: (-0.5, 1.5), 4: TURN},
    {1: TURN, 2: (-1.0, 2.0), 3: (0.0, 1.0), 4: (0.3, 2.0)},
    {1: (0.0, 2.0), 2: (-1.0, 2.0), 3: (0.0, 1.0), 4: (0.3, 2.0)},
)
WEIGHTS = np.array([1.0, 0.5])


class Weighted:
    """The sum of the formulas' magnitudes, each with its weight."""

    def __init__(self, weights):
        self.columns = np.diag(weights)

    def above(self, values, spread):
        return (np.abs(values) + spread).sum(axis=1)


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("seed", range(2))
def test_no_point_of_the_box_lies_above_the_bound_and_it_is_near(seed, box):
    formulas = [random_formula(seed), random_formula(seed + 10)]
    rng = np.random.default_rng(seed)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    found = float((np.abs(np.stack([f.evaluate(q) for f in formulas], axis=1)) @ WEIGHTS).max())
    bound = nested_supremum(family(formulas, box), Weighted(WEIGHTS), found=found, goals=(1.3 * found,)).bound
    assert found <= bound == 1.3 * found


def test_one_formula_is_bounded_as_branch_and_bound_does():
    f = random_formula(3)
    known = largest_magnitude(f, BOXES[1], gap=0.01)
    reach = Weighted(np.ones(1))
    bound = nested_supremum(family([f], BOXES[1]), reach, found=known.value, goals=(1.1 * known.value,)).bound
    assert known.value <= bound == 1.1 * known.value


@pytest.mark.parametrize("box", BOXES)
def test_no_goal_below_a_value_of_the_box_is_shown_although_nothing_is_said_of_it(box):
    formulas = [random_formula(5), random_formula(15)]
    rng = np.random.default_rng(0)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    found = float((np.abs(np.stack([f.evaluate(q) for f in formulas], axis=1)) @ WEIGHTS).max())
    goals = [found * k for k in (0.5, 0.8, 0.9, 0.95, 0.98, 0.999, 1.2, 1.4)]
    bound = nested_supremum(family(formulas, box), Weighted(WEIGHTS), found=0.0, goals=goals).bound
    assert found <= bound <= 1.4 * found


def test_a_largest_value_at_the_end_of_a_range_is_not_missed():
    """A slope does not vanish there: sin x on a part of the circle, far from its top."""
    s, _ = ALGEBRA.joint_sincos(1)
    top = float(np.sin(0.4))
    wave = family([s], {1: (-0.2, 0.4)})
    assert nested_supremum(wave, Weighted(np.ones(1)), found=0.0, goals=(0.999 * top, 1.0001 * top)).bound > top
