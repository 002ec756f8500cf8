"""Grids that bound: families of formulas against exact maxima, points of the box, and branch and bound."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from emdeg.bounds import formula_vector, largest_magnitude, supremum
from emdeg.bounds.grids import grid, on_grid
from tests.bounds.test_bounds import ALGEBRA, TURN, random_formula

BOXES = (
    {1: TURN, 2: TURN, 3: (-0.5, 1.5), 4: TURN},
    {1: TURN, 2: (-1.0, 2.0), 3: (0.0, 1.0), 4: (0.3, 2.0)},
)


def magnitude(values, floor):
    return np.abs(values).max(axis=1)


def bound(formulas, box, seconds=0.3):
    return supremum(formula_vector(formulas, box), magnitude, seconds=seconds, clock=time.thread_time).bound


def test_a_sine_and_a_cosine_reach_the_root_of_their_squares():
    s, c = ALGEBRA.joint_sincos(1)
    assert 5 <= bound([3 * s + 4 * c], {1: TURN}) <= 5.01
    assert 4 <= bound([3 * s + 4 * c], {1: (-math.pi / 4, 0.0)}) <= 4.01


def test_values_are_those_of_the_formulas():
    formulas = [random_formula(1), random_formula(2, terms=3), ALGEBRA.joint_sincos(2)[0]]
    stacked = formula_vector(formulas, BOXES[0])
    x = np.random.default_rng(0).uniform(-1, 1, (40, stacked.dimension))
    q = np.array([[stacked.positions(p).get(j, 0.0) for j in (1, 2, 3, 4)] for p in x])
    expected = np.stack([f.evaluate(q) for f in formulas], axis=1)
    np.testing.assert_allclose(stacked.values(x), expected, atol=1e-9)
    nodes = grid(stacked, 1.5).nodes
    parts = np.concatenate([values for _, values in on_grid(stacked, nodes)])
    points = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, stacked.dimension)
    np.testing.assert_allclose(parts, stacked.values(points), atol=1e-9)


@pytest.mark.parametrize("box", [BOXES[0], *(pytest.param(box, marks=pytest.mark.slow) for box in BOXES[1:])])
@pytest.mark.parametrize("seed", [0])
def test_the_grid_agrees_with_branch_and_bound_and_no_point_lies_outside(seed, box):
    formulas = [random_formula(seed), random_formula(seed + 10)]
    found = bound(formulas, box)
    rng = np.random.default_rng(seed)
    q = np.column_stack([rng.uniform(*box[k], 50_000) for k in (1, 2, 3, 4)])
    assert max(np.abs(f.evaluate(q)).max() for f in formulas) <= found
    other = [largest_magnitude(f, box, gap=0.02) for f in formulas]
    assert max(b.value for b in other) <= found <= 1.4 * max(b.bound for b in other)


@pytest.mark.parametrize("fineness", [1.5, 0.9, 0.4])
def test_the_coarsest_grid_bounds_too(fineness):
    f = random_formula(5)
    stacked = formula_vector([f], BOXES[0])
    on = grid(stacked, fineness)
    largest = max(float(magnitude(values, 0.0).max()) for _, values in on_grid(stacked, on.nodes))
    assert on.factor * largest >= largest_magnitude(f, BOXES[0], gap=0.01).value
