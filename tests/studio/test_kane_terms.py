"""The terms of Kane's equations add up to what other formulations give, in units that fit, and know their numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import emdeg
from emdeg.programs import evaluate
from emdeg.studio.kane_terms import KaneTerms, kane_terms
from emdeg.studio.shading import terms_of


@cache
def with_rates(name: str) -> KaneTerms:
    return kane_terms(emdeg.load(name), False, lambda text: None)


def sums(found: KaneTerms, **state: np.ndarray) -> dict[str, float]:
    """{entry: the sum of its terms}."""
    values: dict[str, float] = {}
    for one, value in zip(terms_of(found.sections), evaluate(found.values, state)["T"]):
        values[one.entry.name] = values.get(one.entry.name, 0.0) + float(value)
    return values


def vector(values: dict[str, float], letter: str, n: int) -> np.ndarray:
    return np.array([values.get(f"{letter}{k}", 0.0) for k in range(1, n + 1)])


@pytest.mark.parametrize("name", ["stanford_arm", "scara"])
def test_terms_with_the_joints_rates_add_up_to_the_equations_of_motion(name: str) -> None:
    robot = emdeg.load(name)
    n = robot.n
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, n))
    found = sums(with_rates(name), q=q, qd=qd, qdd=qdd)
    X = np.array([[found.get(f"X{min(r, s)}{max(r, s)}", 0.0) for s in range(1, n + 1)] for r in range(1, n + 1)])
    np.testing.assert_allclose(X, emdeg.mass_matrix(robot, q), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(vector(found, "G", n), -emdeg.gravity(robot, q), rtol=1e-9, atol=1e-12)
    coriolis = emdeg.bias(robot, q, qd) - emdeg.gravity(robot, q)
    np.testing.assert_allclose(vector(found, "H", n), coriolis, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(vector(found, "R", n), X @ qdd, rtol=1e-9, atol=1e-10)


def test_terms_with_the_shortest_speeds_fulfil_kanes_equations() -> None:
    robot = emdeg.load("planar2r")
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 2))
    kane = kane_terms(robot, True, lambda text: None)
    found, step = sums(kane, q=q, qd=qd, qdd=qdd), 1e-6
    later = sums(kane, q=q + step * qd, qd=qd + step * qdd, qdd=qdd)
    before = sums(kane, q=q - step * qd, qd=qd - step * qdd, qdd=qdd)
    ud = (vector(later, "u", 2) - vector(before, "u", 2)) / (2 * step)
    X = np.array([[found["X11"], found["X12"]], [found["X12"], found["X22"]]])
    np.testing.assert_allclose(X @ ud, vector(found, "R", 2), rtol=1e-6)
    np.testing.assert_allclose(vector(found, "qd", 2), qd, rtol=1e-12)


def test_every_term_has_the_unit_of_its_entry_and_leads_to_the_numbers_it_stands_on() -> None:
    found = with_rates("stanford_arm")  # its third joint slides
    units: dict[str, set[str]] = {}
    for one, unit in zip(terms_of(found.sections), found.units):
        if one.entry.name[0] in "XRZ":
            units.setdefault(one.entry.name, set()).add(unit)
    assert all(len(some) == 1 for some in units.values())
    assert [units[name] for name in ("X11", "X33", "R1", "R3")] == [{"kg m²"}, {"kg"}, {"N m"}, {"N"}]
    assert set(found.words["m6"].letters) == {"m6"}
    named = {name: word for name, word in found.words.items() if name.startswith("Z")}
    first = named["Z1"]
    assert first.value == pytest.approx(np.prod([float(found.numbers[letter]) for letter in first.letters]))
    assert all(word.letters for word in named.values() if word.value is not None)
