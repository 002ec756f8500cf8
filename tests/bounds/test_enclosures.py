"""Enclosures hold every value, grow narrow with the square of a box's width, and say where there is no value."""

import operator
from fractions import Fraction

import numpy as np
import pytest

from emdeg.bounds import Boxes

FUNCTIONS = {
    "polynomial": (lambda x, y, n: x * x * y - y * n(Fraction(1, 3)) + x, lambda x, y: x * x * y - y / 3 + x),
    "quotient": (lambda x, y, n: (x - y) / (n(Fraction(3)) + x * y), lambda x, y: (x - y) / (3 + x * y)),
    "root": (lambda x, y, n: (n(Fraction(4)) - x * y).sqrt() * y, lambda x, y: np.sqrt(4 - x * y) * y),
    "waves": (
        lambda x, y, n: x.sine() * y.cosine() - (x + y).sine(),
        lambda x, y: np.sin(x) * np.cos(y) - np.sin(x + y),
    ),
    "inverse": (lambda x, y, n: x / (y * y + n(Fraction(1, 10))), lambda x, y: x / (y * y + 0.1)),
}


def boxes(half, count=200, seed=0):
    random = np.random.default_rng(seed)
    return Boxes(random.uniform(-1.2, 1.2, (2, count)), random.uniform(0.2, 1, (2, count)) * half)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("half", [0.5, 0.02])
def test_every_value_and_slope_lies_between_the_ends(name, half):
    of, plain = FUNCTIONS[name]
    over = boxes(half)
    with np.errstate(all="ignore"):
        found = of(over.variable(0), over.variable(1), over.number)
    for shift in np.random.default_rng(1).uniform(-1, 1, (60, 2, 1)):
        x, y = over.centre + shift * over.half
        value = plain(x, y)
        assert (found.ends[0] <= value).all()
        assert (value <= found.ends[1]).all()
        step = 1e-6
        slopes = [
            (plain(x + step, y) - plain(x - step, y)) / (2 * step),
            (plain(x, y + step) - plain(x, y - step)) / (2 * step),
        ]
        assert (found.slopes[0] - 1e-6 <= slopes).all()
        assert (slopes <= found.slopes[1] + 1e-6).all()
    assert np.abs(found.middle - plain(*over.centre)).max() < 1e-13


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_excess_falls_with_the_square_of_the_width(name):
    of, plain = FUNCTIONS[name]
    excess = []
    for half in (0.04, 0.01):
        over = boxes(half)
        with np.errstate(all="ignore"):
            found = of(over.variable(0), over.variable(1), over.number)
        shifts = np.linspace(-1, 1, 9)
        values = [plain(*(over.centre + np.array([[a], [b]]) * over.half)) for a in shifts for b in shifts]
        excess.append((found.ends[1] - np.max(values, axis=0)).mean())
    assert excess[1] < excess[0] / 12


def test_a_divisor_that_may_be_zero_has_no_bounds_and_a_radicand_below_zero_no_value():
    over = Boxes(np.array([[0.0, 1.0, -1.0]]), np.array([[0.5, 0.5, 0.5]]))
    with np.errstate(all="ignore"):
        x = over.variable(0)
        inverse = over.number(Fraction(1)) / x
        root = x.sqrt()
    assert np.isinf(inverse.ends[:, 0]).all()
    assert inverse.ends[:, 1] == pytest.approx([1 / 1.5, 2.0])
    assert over.empty.tolist() == [False, False, True]
    assert root.ends[0, 0] == 0
    assert root.ends[1, 0] == pytest.approx(np.sqrt(0.5))


def test_a_number_that_is_no_double_lies_between_two():
    third = boxes(0.1, 1).number(Fraction(1, 3))
    assert Fraction(third.ends[0, 0]) < Fraction(1, 3) < Fraction(third.ends[1, 0])


@pytest.mark.parametrize("kind", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_constants_alone_stay_constants(kind):
    over = boxes(0.1)
    found = kind(over.number(Fraction(1, 3)), over.number(Fraction(1, 7)))
    assert found.slopes is None
    assert found.ends[0, 0] <= float(kind(Fraction(1, 3), Fraction(1, 7))) <= found.ends[1, 0]
