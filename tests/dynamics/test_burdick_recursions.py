"""Burdick's equations (17)-(35): those listed as misprints fail as printed and hold as corrected; the others hold."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from emdeg.algebra import Floats
from emdeg.dynamics.formulations.coefficients import newton_euler_coefficients
from emdeg.dynamics.mechanism import frames, mechanism_of
from tests.dynamics import burdick_claims_inertia, burdick_claims_rates  # noqa: F401
from tests.dynamics.burdick import Arm
from tests.dynamics.burdick_registry import CORRECTED, PRINTED, Claim
from tests.dynamics.chains import elbow_arm, planar_arm, random_chain

ERRATA = Path(__file__).parents[2] / "docs" / "errata"
TABLE = json.loads((ERRATA / "burdick_recursions.json").read_text(encoding="utf-8"))["equations"]
WRONG = [row["id"] for row in TABLE if row["verdict"] == "misprint"]
RIGHT = [row["id"] for row in TABLE if row["verdict"] == "right"]
# Kinds of joints, and which of them (counted from 0) are parallel to the next.
ARMS = [
    ("rrrrrr", [2]),
    ("rrrrrr", [1, 2]),
    ("rrrrr", [2]),
    ("rrrrrr", [0]),
    ("rprrpr", [2]),
    ("prrrrp", [2]),
    ("rrrprr", []),
]


@lru_cache
def arms() -> list[Arm]:
    found = []
    for seed, (kinds, parallel) in enumerate(ARMS):
        robot = random_chain(900 + seed, kinds, parallel, drives=False)
        found.append(Arm(robot, np.random.default_rng(seed).uniform(-3, 3, robot.n)))
    return found


def error(claim: Claim) -> float:
    """The largest difference of the two sides, relative to the left one's size."""
    worst = []
    for arm in arms():
        for left, right in claim(arm):
            worst.append(np.max(np.abs(np.subtract(left, right))) / max(1.0, np.max(np.abs(left))))
    assert len(worst) >= 5, "too few cases to say anything"
    return max(worst)


def test_every_claim_is_in_the_table_and_every_row_is_tested():
    assert set(PRINTED) == {row["id"] for row in TABLE}
    assert set(CORRECTED) == set(WRONG)


def test_the_page_shows_the_table():
    page = (ERRATA / "burdick_recursions.md").read_text(encoding="utf-8")
    for row in TABLE:
        assert f"| {row['id']} | {row['verdict']} | `{row['printed']}` |" in page
        assert row["verdict"] == "right" or f"`{row['correct']}`" in page


@pytest.mark.parametrize("equation", RIGHT)
def test_equation_holds_as_printed(equation):
    for claim in PRINTED[equation]:
        assert error(claim) < 1e-10


@pytest.mark.parametrize("equation", WRONG)
def test_misprinted_equation_fails_as_printed_and_holds_as_corrected(equation):
    for claim in PRINTED[equation]:
        assert error(claim) > 0.1
    assert error(CORRECTED[equation]) < 1e-10


def test_35_second_line_holds_where_the_axis_is_normal_to_the_parallel_pair_and_fails_in_the_plane():
    values = []
    for robot in (elbow_arm(), planar_arm()):
        mech = mechanism_of(robot, Floats())
        q = np.linspace(0.3, 1.9, robot.n)
        found = newton_euler_coefficients(mech, frames(mech, list(zip(np.sin(q), np.cos(q)))))
        values.append(2 * found.beta[1][0][2])
    assert abs(values[0]) < 1e-14
    assert abs(values[1]) > 0.01
