"""EMDEG's hierarchical form: it computes the same model, each definition from those before it, in fewer operations."""

import re
from functools import lru_cache

import numpy as np
import pytest

import emdeg
from emdeg.algebra.expression import atoms_of
from emdeg.equations import hierarchy, write
from tests.equations.test_compact_form import reference
from tests.equations.test_lumped import ARMS, lumped


@lru_cache
def form(name):
    return hierarchy(lumped(name)[2])


@pytest.mark.parametrize("name", ARMS)
def test_it_equals_the_numeric_mechanics(name):
    arm, entries, found = lumped(name)
    q = np.random.default_rng(3).uniform(-3, 3, (100, arm.robot.n))
    expected = reference(arm, entries, q)
    values = form(name).evaluate(q, {c.name: c.value for c in found.constants})
    for entry in entries:
        assert values[entry] == pytest.approx(expected[entry], rel=1e-12, abs=1e-12), entry


@pytest.mark.parametrize("name", ARMS)
def test_every_definition_uses_earlier_ones_only(name):
    found = form(name)
    known = set(found.constants)
    for symbol, expression in (*found.products.items(), *found.steps.items()):
        assert {a.kind for a in atoms_of(expression) if not a.angle} <= known
        known.add(symbol)


def test_the_puma_takes_fewer_operations_than_appendix_ii():
    """Burdick claims 291 multiplications and 131 additions; as printed and mended it is 278 + 140."""
    assert form("puma560").count.total < 278 + 140


def test_the_puma_of_the_paper_is_as_short_as_free_sines_make_it():
    assert emdeg.derive("puma560_emdeg").hierarchy().count.total <= 370


@pytest.mark.parametrize("name", ARMS)
def test_names_are_numbered_without_gaps_and_constants_as_they_are_met(name):
    found = form(name)
    for letter, names in (("K", found.constants), ("T", found.products), ("V", found.brackets)):
        assert list(names) == [f"{letter}{k}" for k in range(1, len(names) + 1)]
    met = list(dict.fromkeys(re.findall(r"\bK[0-9]+", found.text.partition("\nK1 = ")[0])))
    assert met == list(found.constants)


def test_every_name_of_the_hierarchy_is_defined_in_its_section():
    text = write(emdeg.derive("puma560_emdeg"), parts=["hierarchy"])
    defined = set(re.findall(r"^([KTVIG][a-z]?[0-9]+) = ", text, re.MULTILINE))
    used = set(re.findall(r"\b[KTVIG][0-9]+\b", text))
    assert used <= defined


def test_products_hold_sines_and_cosines_only():
    for expression in form("puma560").products.values():
        assert all(a.angle or a.kind.startswith("T") for a in atoms_of(expression))


def test_the_text_lists_entries_brackets_products_and_constants():
    blocks = form("puma560").text.split("\n\n")
    assert [block[0] for block in blocks] == ["M", "V", "T", "K"]
