"""Every formulation that the papers add computes the function: compared with its reference modulo a prime."""

import pytest

import emdeg
from emdeg.dynamics.functions import FUNCTIONS
from emdeg.papers.implementations import FORMULATIONS
from emdeg.programs import compared_formulations

ADDED = [(one.function, one.name) for one in FORMULATIONS]


@pytest.mark.parametrize(("function", "name"), ADDED)
def test_the_formulation_is_listed_and_equals_the_reference(function, name):
    assert name in FUNCTIONS[function].ways["tree"].formulations
    (row,) = compared_formulations(emdeg.load("scara"), function, [name])
    assert row.certificate is not None


def test_the_order_of_listings_is_that_of_the_literature():
    assert list(FUNCTIONS["elements"].ways["tree"].formulations) == ["Lagrange", "extended bodies", "body by body"]
    assert FUNCTIONS["elements"].ways["tree"].plain == ("Lagrange", "extended bodies")
