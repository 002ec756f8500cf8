"""Nested bounds: against points of the box and against branch and bound."""

from __future__ import annotations

import numpy as np
import pytest

from emdeg.bounds import FormulaVector, NestedSupremum, formula_vector, joint_variable, largest_magnitude
from emdeg.bounds.extrema import Combination
from emdeg.bounds.grids import on_grid
from emdeg.bounds.nested import DOUBLE, SINGLE
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
        self.fixed = len(weights)

    def each(self, values, spread):
        raise AssertionError("there is one combination, of all columns")

    def above(self, values, spread):
        return (np.abs(values) + spread).sum(axis=1)


class Largest:
    """The largest magnitude of any formula: each is a combination by itself."""

    def __init__(self, formulas):
        self.columns, self.fixed = np.eye(formulas), 0

    def each(self, values, spread):
        return np.abs(values) + spread

    def above(self, values, spread):
        return self.each(values, spread).max(axis=1)


RANGES = (TURN, (-2.9, 2.9), (0.4, 2.1), (-0.6, -0.2), (3.0, 3.0001))
DEGREES = (2, 3, 1)


def random_family(seed, formulas=5):
    """Formulas in three angles, some of all products of waves; half of them with a small part of what they could have
    left: on a small range large coefficients cancel.
    """
    rng = np.random.default_rng(seed)
    ranges = [RANGES[k] for k in rng.integers(0, len(RANGES), len(DEGREES))]
    variables = tuple(joint_variable(k + 1, True, r) for k, r in enumerate(ranges))
    shape = [2 * degree + 1 for degree in DEGREES]
    coefficients = rng.normal(size=(*shape, formulas)) * (rng.random((*shape, 1)) < rng.choice([0.2, 0.6, 1.0]))
    return FormulaVector(variables, DEGREES, coefficients, np.zeros(formulas))


@pytest.mark.parametrize("reach", [Weighted(np.full(5, 0.5)), Largest(5)], ids=["sum", "largest"])
@pytest.mark.parametrize("seed", range(12))
def test_any_products_of_waves_on_any_ranges_are_bounded_and_no_goal_below_a_value_is_shown(seed, reach):
    waves = random_family(seed)
    nodes = [np.linspace(v.low, v.high, 41) for v in waves.variables]
    values = np.concatenate([values for _, values in on_grid(waves, nodes)])
    found = float(reach.above(values @ reach.columns, 0.0).max())
    goals = [found * k for k in (0.5, 0.9, 0.97, 0.99, 0.999, 1.3, 1.5)]
    bound = NestedSupremum(waves, reach).bound(goals, found=0.0)
    assert found <= bound <= 1.5 * found


@pytest.mark.parametrize("magnitude", [False, True], ids=["as it is", "magnitude"])
@pytest.mark.parametrize("precision", [SINGLE, DOUBLE], ids=["single", "double"])
@pytest.mark.parametrize("seed", range(12))
def test_sums_with_their_signs_are_bounded_closely_and_no_goal_below_a_value_is_shown(seed, precision, magnitude):
    """The first formula as it is or its magnitude, less the others; maxima may be negative."""
    waves = random_family(seed, formulas=3)
    columns = np.diag([1.0, -0.5, -2.0])
    nodes = [np.linspace(v.low, v.high, 61) for v in waves.variables]
    values = np.concatenate([values for _, values in on_grid(waves, nodes)]) @ columns
    first = np.abs(values[:, 0]) if magnitude else values[:, 0]
    found = float((first + values[:, 1:].sum(axis=1)).max())
    scale = float(np.abs(values).sum(axis=1).max())
    search = NestedSupremum(waves, Combination(columns, magnitude), signed=True, precision=precision, halvings=12)
    for below in (0.3, 0.03, 1e-3, 1e-4, 1e-6):
        goal = found - below * scale
        assert search.bound([goal], found=goal - 0.1 * scale) > goal
    assert found <= search.bound([found + k * scale for k in (0.03, 0.3)], found=found) <= found + 0.3 * scale


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("seed", range(2))
def test_no_point_of_the_box_lies_above_the_bound_and_it_is_near(seed, box):
    formulas = [random_formula(seed), random_formula(seed + 10)]
    rng = np.random.default_rng(seed)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    found = float((np.abs(np.stack([f.evaluate(q) for f in formulas], axis=1)) @ WEIGHTS).max())
    bound = NestedSupremum(formula_vector(formulas, box), Weighted(WEIGHTS)).bound((1.3 * found,), found=found)
    assert found <= bound == 1.3 * found


def test_one_formula_is_bounded_as_branch_and_bound_does():
    f = random_formula(3)
    known = largest_magnitude(f, BOXES[1], gap=0.01)
    reach = Weighted(np.ones(1))
    bound = NestedSupremum(formula_vector([f], BOXES[1]), reach).bound((1.1 * known.value,), found=known.value)
    assert known.value <= bound == 1.1 * known.value


@pytest.mark.parametrize("box", BOXES)
def test_no_goal_below_a_value_of_the_box_is_shown_although_nothing_is_said_of_it(box):
    formulas = [random_formula(5), random_formula(15)]
    rng = np.random.default_rng(0)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    found = float((np.abs(np.stack([f.evaluate(q) for f in formulas], axis=1)) @ WEIGHTS).max())
    goals = [found * k for k in (0.5, 0.8, 0.9, 0.95, 0.98, 0.999, 1.2, 1.4)]
    bound = NestedSupremum(formula_vector(formulas, box), Weighted(WEIGHTS)).bound(goals, found=0.0)
    assert found <= bound <= 1.4 * found


def test_a_largest_value_at_the_end_of_a_range_is_not_missed():
    """A slope does not vanish there: sin x on a part of the circle, far from its top."""
    s, _ = ALGEBRA.joint_sincos(1)
    top = float(np.sin(0.4))
    wave = formula_vector([s], {1: (-0.2, 0.4)})
    assert NestedSupremum(wave, Weighted(np.ones(1))).bound((0.999 * top, 1.0001 * top), found=0.0) > top
