"""Nested bounds: against points of the box and against branch and bound."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.bounds import family, largest_magnitude, nested_supremum
from tests.bounds.test_bounds import TURN, random_formula

BOXES = (
    {1: TURN, 2: TURN, 3: (-0.5, 1.5), 4: TURN},
    {1: TURN, 2: (-1.0, 2.0), 3: (0.0, 1.0), 4: (0.3, 2.0)},
    {1: (0.0, 2.0), 2: (-1.0, 2.0), 3: (0.0, 1.0), 4: (0.3, 2.0)},
)
WEIGHTS = np.array([1.0, 0.5])


def reach(values, floor):
    return np.abs(values) @ WEIGHTS


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("seed", range(2))
def test_no_point_of_the_box_lies_above_the_bound_and_it_is_near(seed, box):
    formulas = [random_formula(seed), random_formula(seed + 10)]
    rng = np.random.default_rng(seed)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    found = float((np.abs(np.stack([f.evaluate(q) for f in formulas], axis=1)) @ WEIGHTS).max())
    bound = nested_supremum(family(formulas, box), reach, WEIGHTS, found=found, goal=1.3 * found).bound
    assert found <= bound <= 1.5 * found


def test_one_formula_is_bounded_as_branch_and_bound_does():
    f = random_formula(3)
    known = largest_magnitude(f, BOXES[1], gap=0.01)
    bound = nested_supremum(
        family([f], BOXES[1]), lambda v, floor: np.abs(v[:, 0]), np.ones(1), found=known.value, goal=1.1 * known.value
    ).bound
    assert known.value <= bound <= 1.2 * known.bound
