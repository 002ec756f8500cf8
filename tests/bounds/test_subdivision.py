"""Largest values of functions that are no formulas: certified, near, and honest where there is no bound."""

from fractions import Fraction

import numpy as np

from emdeg.bounds import Boxes, BoxValues, SearchLimits, largest_values


def looked(*functions):
    """What is known of some functions over boxes; they take the boxes' variables and `number`."""

    def look(boxes: Boxes) -> BoxValues:
        count = len(boxes.empty)
        found = [f([boxes.variable(k) for k in range(len(boxes.half))], boxes.number) for f in functions]
        upper = np.stack([np.broadcast_to(one.magnitude, count) for one in found])
        value = np.stack([np.broadcast_to(np.abs(one.middle).min(axis=0), count) for one in found])
        value = np.where(np.isfinite(value), value, -np.inf)
        return BoxValues(upper, value, ~boxes.empty, sum(one.change for one in found).T)

    return look


def test_the_largest_of_two_functions_within_their_gaps():
    first = looked(
        lambda x, n: x[0] / (n(Fraction(2)) + x[1]),
        lambda x, n: (n(Fraction(3)) - x[0] * x[1]).sqrt() - x[0],
    )
    a, b = largest_values(first, [(-1, 2), (-1, 1)], [1e-3, 1e-2])
    assert 2 <= a.bound <= 2.002
    assert a.value <= 2
    x, y = np.meshgrid(np.linspace(-1, 2, 901), np.linspace(-1, 1, 901))
    best = np.abs(np.sqrt(3 - x * y) - x).max()
    assert best <= b.bound <= 1.011 * best


def test_where_there_is_no_state_nothing_counts():
    """A root of x - 1 is taken: only x >= 1 holds states, and 3 - x is at most 2 there."""
    (found,) = largest_values(
        looked(lambda x, n: n(Fraction(3)) - x[0] + n(Fraction(0)) * (x[0] - n(Fraction(1))).sqrt()),
        [(-5, 3)],
        [1e-2],
        SearchLimits(seconds=2),
    )
    assert 1.99 < found.value <= 2 <= found.bound < 2.03


def test_an_unbounded_function_is_said_to_be_with_its_place():
    (found,) = largest_values(looked(lambda x, n: n(Fraction(1)) / x[0]), [(-1, 2)], [0.1], SearchLimits(boxes=4000))
    assert np.isinf(found.bound)
    assert abs(found.at[1]) < 1e-2


def test_however_short_the_time_bounds_hold():
    look = looked(lambda x, n: x[0] * x[1] - x[1].sine())
    (found,) = largest_values(look, [(-1, 1), (-2, 2)], [1e-3], SearchLimits(seconds=0.0))
    x, y = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(-2, 2, 201))
    assert np.abs(x * y - np.sin(y)).max() <= found.bound
