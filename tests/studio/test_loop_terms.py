"""A mechanism's terms add up to its M, C, G and J, in named blocks and in the coordinates alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

import emdeg
from emdeg.documents import Section
from emdeg.dynamics.functions import numeric
from emdeg.loops import ready
from emdeg.loops.equations import LoopModel
from emdeg.programs import Program
from emdeg.reports import Subject, equations
from emdeg.robot import Robot
from emdeg.studio.loop_terms import loop_term_program
from emdeg.studio.parts import EXPANDED, shown_part
from emdeg.studio.shading import PlacedTerm, terms_of, with_terms


def entries(model: LoopModel, section: Section, q: np.ndarray, qd: np.ndarray) -> dict[str, float]:
    """{entry: the sum of its terms}."""
    terms = terms_of([section])
    return added(terms, loop_term_program(model, terms), q, qd)


def added(terms: Sequence[PlacedTerm], program: Program, q: np.ndarray, qd: np.ndarray) -> dict[str, float]:
    values = np.asarray(emdeg.compile(program)(q, qd)).reshape(-1)
    found: dict[str, float] = {}
    for one, value in zip(terms, values):
        if not one.below:
            found[one.entry.name] = found.get(one.entry.name, 0.0) + value
    return found


def matrix(found: dict[str, float], letter: str, rows: int, columns: int) -> np.ndarray:
    """The entries with a letter; what is not listed is zero."""
    values = np.zeros((rows, columns))
    for name, value in found.items():
        if match := re.fullmatch(rf"{letter}(\d)(\d)", name):
            values[int(match[1]) - 1, int(match[2]) - 1] = value
    return values


def state(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    start = ready(robot).start[list(ready(robot).link.coordinates)]
    random = np.random.default_rng(3)
    return start + random.uniform(-0.01, 0.01, len(start)), random.uniform(-1, 1, len(start))


@pytest.mark.parametrize("name", ["fourbar", "delta", "palletiser"])
def test_terms_of_named_blocks_add_up(name: str) -> None:
    robot = emdeg.load(name)
    found = equations(Subject(robot), name, levels=False)
    assert found.loops is not None
    q, qd = state(robot)
    n = len(q)
    sums = entries(found.loops, with_terms(found.section), q, qd)
    np.testing.assert_allclose(matrix(sums, "M", n, n), emdeg.mass_matrix(robot, q), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(matrix(sums, "J", n, n), numeric.drive_jacobian(robot, q), rtol=1e-9, atol=1e-10)
    C, G = matrix(sums, "C", n, n), np.array([sums.get(f"G{i}", 0.0) for i in range(1, n + 1)])
    J = numeric.drive_jacobian(robot, q)
    bias = emdeg.inverse_dynamics(robot, q, qd, np.zeros(n))
    np.testing.assert_allclose(C @ qd + G, J.T @ bias, rtol=1e-9, atol=1e-10)
    closed = [value for name, value in sums.items() if name.startswith("phi")]
    np.testing.assert_allclose(closed, 0, atol=1e-9)


def test_terms_in_the_coordinates_alone_add_up() -> None:
    robot = emdeg.load("delta")
    q, qd = state(robot)
    for letter, whole in (("M", emdeg.mass_matrix(robot, q)), ("J", numeric.drive_jacobian(robot, q))):
        found = shown_part(robot, EXPANDED + letter, lambda text: None)
        assert found.values is not None
        sums = added(terms_of(found.sections), found.values, q, qd)
        np.testing.assert_allclose(matrix(sums, letter, 3, 3), whole, rtol=1e-9, atol=1e-10)
