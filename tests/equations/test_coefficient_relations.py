"""Relations found by exact comparison: the counts of the PUMA, and the general rules for every arm."""

from __future__ import annotations

from fractions import Fraction

import pytest

import emdeg
from emdeg.equations import derive, relations
from emdeg.equations.coefficient_relations import general_rules
from tests.random_robots import random_robot


def test_the_puma_has_35_unique_christoffel_symbols_and_48_derivatives():
    """The paper says 39 and 46; a numeric check said 35 and 48, and exact comparison agrees with it."""
    found = relations(derive(emdeg.load("puma560")))
    symbols, derivatives = found.christoffel, found.derivatives
    assert (symbols.possible, symbols.after_general_rules, symbols.nonzero) == (126, 70, 84)
    assert (symbols.distinct, symbols.up_to_sign, symbols.up_to_multiple) == (57, 35, 35)
    assert (derivatives.possible, derivatives.after_general_rules, derivatives.nonzero) == (126, 70, 48)
    assert (derivatives.distinct, derivatives.up_to_sign, derivatives.up_to_multiple) == (43, 43, 42)
    assert len(found.independent) == 35


def test_the_counts_of_the_puma_do_not_depend_on_its_numbers():
    numeric = relations(derive(emdeg.load("puma560")))
    symbolic = relations(derive(emdeg.load("puma560"), symbolic=True))
    assert symbolic.christoffel == numeric.christoffel
    assert symbolic.derivatives == numeric.derivatives


def test_equation_10_of_the_paper_as_corrected():
    found = {str(relation) for relation in relations(derive(emdeg.load("puma560"))).equal_derivatives}
    assert {"dM13/dq2 = dM12/dq3", "dM13/dq3 = dM12/dq3"} <= found


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "jpl_rrp", "panda", "scara"])
def test_every_relation_holds_and_nothing_independent_is_missing(name):
    model = derive(emdeg.load(name))
    found = relations(model)
    entries = model.entries(["b", "c"])
    for relation in found.coefficients:
        value = entries[relation.name]
        assert value == (0 if relation.of is None else entries[relation.of] * relation.factor), str(relation)
        if relation.of is not None:
            assert relation.rule in ("general", "geometry")
    assert {r.name for r in found.coefficients} | set(found.independent) == set(entries)
    assert len(found.independent) == found.christoffel.up_to_multiple


@pytest.mark.parametrize("seed", range(4))
def test_the_general_rules_hold_for_random_trees(seed):
    robot = random_robot(seed, 4, tree=True)
    model = derive(robot)
    for (i, j, k), (of, factor, _) in general_rules([link.parent for link in robot.links]).items():
        value = model.c(i, j) if j == k else model.b(i, j, k)
        if of is None:
            assert value == 0
        else:
            other = model.c(*of[:2]) if of[1] == of[2] else model.b(*of)
            assert value == other * factor


def test_the_general_rules_of_a_chain_are_burdicks():
    rules = general_rules([-1, 0, 1, 2, 3, 4])
    for i in range(1, 7):
        assert rules[i, i, i][0] is None  # (27)
        for j in range(1, i):
            assert rules[i, j, i][0] is None  # (28): b_iji = 0
            assert rules[i, j, j][:2] == ((j, j, i), Fraction(-1, 2))  # (28): b_jji = -2 c_ij
            for k in range(j + 1, i):
                assert rules[i, j, k][:2] == ((k, j, i), Fraction(-1))  # (28): b_ijk = -b_kji
    assert len(rules) == 56
