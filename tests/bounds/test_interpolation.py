"""Formulas from values at nodes against the formulas themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from emdeg.bounds import formula_vector, interpolated, joint_variable, node_states, trimmed
from tests.bounds.test_bounds import ALGEBRA, TURN, random_formula

BOX = {1: TURN, 2: TURN, 3: (-0.5, 1.5), 4: (0.2, 2.0)}
REVOLUTE = (True, True, False, True)


def degrees(formulas):
    known = formula_vector(formulas, BOX)
    numbers = [v.letter.of for v in known.variables]
    return dict(zip(numbers, known.degrees))


def from_values(formulas):
    mine = degrees(formulas)
    variables = [joint_variable(j, REVOLUTE[j - 1], BOX[j]) for j in mine]
    each = list(mine.values())
    q = node_states(variables, each, np.zeros(4))
    sizes = [2 * d + 1 if v.is_angle else d + 1 for v, d in zip(variables, each)]
    values = np.stack([f.evaluate(q) for f in formulas], axis=-1).reshape(*sizes, len(formulas))
    return interpolated(variables, each, values, np.full(len(formulas), 1e-12))


def states(found, count=60):
    x = np.random.default_rng(1).uniform(-1, 1, (count, found.dimension))
    x = np.array([v.middle for v in found.variables]) + x * np.array([v.half for v in found.variables])
    return x, np.array([[found.positions(p).get(j, 0.0) for j in (1, 2, 3, 4)] for p in x])


@pytest.mark.parametrize("seed", range(3))
def test_values_at_nodes_give_the_formulas_everywhere(seed):
    formulas = [random_formula(seed), random_formula(seed + 20, terms=3), ALGEBRA.joint_sincos(2)[0]]
    found = from_values(formulas)
    x, q = states(found)
    np.testing.assert_allclose(found.values(x), np.stack([f.evaluate(q) for f in formulas], axis=1), atol=1e-8)


def test_what_is_trimmed_stays_within_the_rounding():
    formulas = [random_formula(4), random_formula(5)]
    found = from_values(formulas)
    weights = np.array([1.0, 2.0])
    allowed = 0.3 * float(np.abs(found.coefficients).sum(axis=tuple(range(found.dimension))) @ weights)
    less = trimmed(found, weights, allowed)
    assert math.prod(less.coefficients.shape) < math.prod(found.coefficients.shape)
    assert (less.rounding - found.rounding) @ weights <= allowed * (1 + 1e-12)
    x, _ = states(found, 400)
    kept = [found.variables.index(v) for v in less.variables]
    assert (np.abs(found.values(x) - less.values(x[:, kept])) <= less.rounding + 1e-12).all()
