"""Certified ranges: theorems about simple waves, and random formulas against points, exact values and derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb

from emdeg.algebra import Generator, TrigAlgebra
from emdeg.bounds import SearchLimits, extremes, formula_vector, largest, largest_magnitude, largest_ratio
from emdeg.errors import EmptyBox

TURN = (-math.pi, math.pi)
ALGEBRA = TrigAlgebra(revolute=[1, 2, 4], prismatic=[3], parameters=["m"], rates=True)


def random_formula(seed: int, terms: int = 12):
    rng = np.random.default_rng(seed)
    total = ALGEBRA.zero
    for _ in range(terms):
        term = ALGEBRA.number(int(rng.integers(-9, 10)))
        for joint in (1, 2, 4):
            s, c = ALGEBRA.joint_sincos(joint)
            term = term * (s ** int(rng.integers(0, 2))) * (c ** int(rng.integers(0, 3)))
        total = total + term * ALGEBRA.displacement(3) ** int(rng.integers(0, 3)) / 7
    return total


def test_a_sine_and_a_cosine_reach_the_root_of_their_squares():
    s, c = ALGEBRA.joint_sincos(1)
    found = extremes(3 * s + 4 * c, {1: TURN})
    assert found.high.value == pytest.approx(5, abs=1e-9)
    assert found.low.value == pytest.approx(-5, abs=1e-9)
    assert found.high.bound >= 5 >= found.high.value
    assert found.high.gap <= 1e-3
    assert math.tan(found.high.at[1]) == pytest.approx(3 / 4, abs=1e-4)


def test_a_short_range_has_its_extremes_at_its_ends():
    s, _ = ALGEBRA.joint_sincos(2)
    found = extremes(s, {2: (0.2, 0.5)})
    assert found.low.value == pytest.approx(math.sin(0.2), abs=1e-9)
    assert found.high.value == pytest.approx(math.sin(0.5), abs=1e-9)
    assert found.high.at[2] == 0.5


def test_a_parabola_has_its_minimum_at_its_vertex():
    d = ALGEBRA.displacement(3)
    found = extremes(d * d - 2 * d + 5, {3: (-1.0, 4.0)})
    assert found.low.value == pytest.approx(4, abs=1e-9)
    assert found.low.at[3] == pytest.approx(1, abs=1e-4)
    assert found.high.value == pytest.approx(13, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_no_point_of_the_box_lies_outside_the_bounds_and_the_gap_is_kept(seed):
    formula = random_formula(seed)
    box = {1: TURN, 2: (-1.0, 2.0), 3: (-0.5, 1.5), 4: (0.3, 6.0)}
    found = extremes(formula, box, gap=1e-3)
    rng = np.random.default_rng(100 + seed)
    q = np.column_stack([rng.uniform(*box[k], 100_000) for k in (1, 2, 3, 4)])
    values = formula.evaluate(q)
    assert values.max() <= found.high.bound
    assert values.min() >= found.low.bound
    assert found.high.value >= values.max() - 1e-3 * abs(found.high.bound)
    assert max(found.high.gap, found.low.gap) <= 1e-3
    assert largest_magnitude(formula, box).bound >= np.abs(values).max()


@pytest.mark.parametrize("seed", range(3))
def test_the_attained_value_is_attained_in_ball_arithmetic(seed):
    formula = random_formula(seed)
    box = {1: TURN, 2: TURN, 3: (0.0, 1.0), 4: TURN}
    found = largest(formula, box, limits=SearchLimits(seconds=5))

    def letter(g: Generator) -> arb:
        x = arb(found.at[g.of])
        return {"sine": x.sin(), "cosine": x.cos(), "displacement": x}[g.kind]

    exact = formula.map(letter, lambda c: arb(c.numerator) / c.denominator)
    assert exact > found.value
    assert exact < found.bound


@pytest.mark.parametrize("seed", range(4))
def test_values_and_slopes_are_those_of_the_formula(seed):
    formula = random_formula(seed)
    box = {1: TURN, 2: (-1.0, 2.0), 3: (0.25, 1.25), 4: TURN}
    f = formula_vector([formula], box)
    keys = [v.letter.of for v in f.variables]
    x = np.random.default_rng(seed).uniform(-1, 1, (50, f.dimension))
    q = np.zeros((50, 4))
    q[:, [keys.index(k) for k in keys]] = 0.0
    for k, key in enumerate(keys):
        q[:, (1, 2, 3, 4).index(key)] = f.outside(x)[:, k]
    value, slope, curvature = (part[..., 0] for part in f.derivatives(x))
    inside = np.all((f.outside(x) - x == 0) | np.array([not v.is_angle for v in f.variables]), axis=1)
    np.testing.assert_allclose(value[inside], formula.evaluate(q)[inside], atol=1e-9)
    for k, key in enumerate(keys):
        scale = 0.5 if key == 3 else 1.0  # displacements are scaled to [-1, 1]
        np.testing.assert_allclose(slope[inside, k], scale * formula.derivative(key).evaluate(q)[inside], atol=1e-9)
        second = scale**2 * formula.derivative(key).derivative(key).evaluate(q)
        np.testing.assert_allclose(curvature[inside, k, k], second[inside], atol=1e-9)


def test_an_angle_of_one_harmonic_is_maximised_over_in_closed_form():
    s1, c1 = ALGEBRA.joint_sincos(1)
    s2, c2 = ALGEBRA.joint_sincos(2)
    first, second = 3 + c2, 2 * s2 + c2
    formula = first * (c1 * c1 - s1 * s1) + 2 * second * s1 * c1
    found = largest(formula, {1: (0.5, 0.5 + math.pi), 2: (-1.0, 2.0)})
    x = np.linspace(-1, 2, 200_001)
    expected = np.hypot(3 + np.cos(x), 2 * np.sin(x) + np.cos(x)).max()
    assert found.value <= expected + 1e-9
    assert expected <= found.bound <= expected * 1.001
    assert 0.5 <= found.at[1] <= 0.5 + math.pi


def test_rates_are_variables_of_a_box_too():
    s, _ = ALGEBRA.joint_sincos(1)
    formula = s * ALGEBRA.rate(1) * ALGEBRA.rate(2)
    box = {1: TURN, Generator("rate", 1): (-2.0, 2.0), Generator("rate", 2): (-3.0, 1.0)}
    assert largest_magnitude(formula, box).value == pytest.approx(6, rel=1e-3)


def test_the_largest_ratio_is_found_and_bounded():
    s, c = ALGEBRA.joint_sincos(1)
    found = largest_ratio(s, 2 + c, {1: TURN})  # sin x / (2 + cos x) <= 1/sqrt 3
    assert found.value == pytest.approx(1 / math.sqrt(3), rel=1e-6)
    assert found.value <= 1 / math.sqrt(3) <= found.bound
    assert found.gap <= 1e-3
    with pytest.raises(ValueError, match="denominator"):
        largest_ratio(s, c, {1: TURN})


def test_a_ratio_whose_denominator_nearly_vanishes_is_bounded_closely():
    """sin^2 / (b + cos) is largest where its derivative vanishes: cos x = sqrt(b^2 - 1) - b."""
    s, c = ALGEBRA.joint_sincos(1)
    found = largest_ratio(s * s, 1000 * c + 1001, {1: TURN})
    cosine = math.sqrt(1.001**2 - 1) - 1.001
    assert found.value <= (1 - cosine**2) / (1001 + 1000 * cosine) + 1e-12 <= found.bound + 1e-12
    assert found.gap <= 1e-3


def test_a_box_without_a_variable_or_without_a_value_is_refused():
    s, _ = ALGEBRA.joint_sincos(1)
    with pytest.raises(EmptyBox, match="s1 has no range"):
        extremes(s, {2: TURN})
    with pytest.raises(EmptyBox, match="empty: from 1 to 0"):
        extremes(s, {1: (1.0, 0.0)})
    with pytest.raises(EmptyBox, match="the symbol m has no number"):
        extremes(s * ALGEBRA.symbol("m"), {1: TURN})
    assert extremes(s * ALGEBRA.symbol("m"), {1: TURN}, parameters={"m": 2.0}).high.value == pytest.approx(2)


def test_bounds_hold_when_the_effort_runs_out():
    formula = random_formula(3)
    box = {1: TURN, 2: TURN, 3: (0.0, 1.0), 4: TURN}
    short = extremes(formula, box, limits=SearchLimits(boxes=1))
    full = extremes(formula, box)
    assert short.high.bound >= full.high.value
    assert short.low.bound <= full.low.value
    assert short.high.gap > full.high.gap
