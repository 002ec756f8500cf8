"""Extraction: equal to the sums it started from, and as short as algebra by hand."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from emdeg.algebra.factoring import Extraction

ONE = Fraction(1)


def value(terms, at):
    return sum(float(c) * np.prod([at[letter] for letter in key]) for key, c in terms.items())


def random_sums(seed):
    random = np.random.default_rng(seed)
    keys = [tuple(sorted(random.integers(1, 7, random.integers(1, 5)))) for _ in range(14)]
    chosen = [{keys[k]: Fraction(int(random.integers(1, 4))) for k in random.choice(14, 8, False)} for _ in range(3)]
    return [{tuple(int(x) for x in key): c for key, c in terms.items()} for terms in chosen]


def assert_same_values(found, sums):
    """Letter 1 is a number, 3/2."""
    at = dict(enumerate(np.random.default_rng(9).uniform(1, 2, 7)))
    at[1] = 1.5
    values = found.values(3, lambda letter: at[letter], lambda letter: Fraction(3, 2))
    assert [float(v) for v in values] == pytest.approx([value(terms, at) for terms in sums])


@pytest.mark.parametrize(("seed", "noise"), list(product(range(4), (0.0, 1.5))))
def test_the_sums_are_what_they_were_and_cost_no_more(seed, noise):
    sums = random_sums(seed)
    before = Extraction(sums, fixed=[1]).cost
    found = Extraction(sums, fixed=[1], seed=seed, noise=noise).run()
    assert_same_values(found, sums)
    assert found.cost <= before


def test_a_common_factor_and_a_common_bracket_are_used_once():
    """a b + a c and d b + d c are a (b + c) and d (b + c): 1 addition, 2 multiplications."""
    a, b, c, d = 1, 2, 3, 4
    sums = [{(a, b): ONE, (a, c): ONE}, {(b, d): ONE, (c, d): ONE}]
    assert Extraction(sums, fixed=[], noise=0.0).run().cost == 3


def test_brackets_are_found_up_to_a_factor():
    """2 a b + 6 a c and b d + 3 c d hold the same bracket b + 3 c: 1 addition, 1 + 2 + 1 multiplications."""
    a, b, c, d = 1, 2, 3, 4
    sums = [{(a, b): Fraction(2), (a, c): Fraction(6)}, {(b, d): ONE, (c, d): Fraction(3)}]
    assert Extraction(sums, fixed=[], noise=0.0).run().cost == 5


@pytest.mark.parametrize("seed", range(4))
def test_parts_put_back_and_taken_anew_leave_the_sums_and_never_lengthen_them(seed):
    sums = random_sums(seed)
    found = Extraction(sums, fixed=[1], seed=seed).run()
    before = found.cost
    left = iter(range(200))
    found.improve(lambda: next(left, None) is None)
    assert_same_values(found, sums)
    assert found.cost <= before


def test_improving_finds_what_greed_misses():
    """(a + b)(c + d)(e + f) + (a + b) g, expanded: (a + b) ((c + d)(e + f) + g) has 4 additions and 2 products."""
    a, b, c, d, e, f, g = range(1, 8)
    whole = {tuple(sorted(key)): ONE for key in product((a, b), (c, d), (e, f))} | {(a, g): ONE, (b, g): ONE}
    left = iter(range(300))
    assert Extraction([whole], fixed=[], seed=1).run().improve(lambda: next(left, None) is None).cost == 6


def test_a_number_common_to_a_whole_sum_multiplies_once():
    """2 a b + 2 c d is 2 (a b + c d)."""
    sums = [{(1, 2): Fraction(2), (3, 4): Fraction(2)}]
    assert Extraction(sums, fixed=[], noise=0.0).run().cost == 4
