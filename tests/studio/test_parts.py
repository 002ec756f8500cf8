"""Parts of the equations that a page shows when asked: a Jacobian's terms add up, Kane's equations are mathematics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.errors import BadRequest
from emdeg.reports import HtmlReportWriter
from emdeg.robot import Robot
from emdeg.studio.parts import JACOBIAN, KANE, offered, shown_part
from emdeg.studio.shading import terms_of

ROBOTS = Path(__file__).parents[1] / "data" / "robots"


def quiet(text: str) -> None:
    pass


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", str(ROBOTS / "odd_arm.urdf")])
def test_the_terms_of_a_jacobian_add_up_to_it(name: str) -> None:
    robot = emdeg.load(name)
    found = shown_part(robot, JACOBIAN, quiet)
    assert found.values is not None
    terms = terms_of(found.sections)
    values = emdeg.compile(found.values)
    q = np.random.default_rng(8).uniform(-1, 1, robot.n)
    J = np.zeros((6, robot.n))
    for one, value in zip(terms, np.asarray(values(q)).reshape(-1)):
        i, j = map(int, one.entry.name.removeprefix("J"))
        J[i - 1, j - 1] += value
    np.testing.assert_allclose(J, emdeg.jacobian(robot, q), atol=1e-12)


def test_kanes_steps_are_mathml_and_not_text() -> None:
    shown = HtmlReportWriter().sections(shown_part(emdeg.load("planar2r"), KANE, quiet).sections)
    assert "<msub><mi>X</mi><mn>11</mn></msub>" in shown
    assert "<msub><mi>Z</mi><mn>2</mn></msub>" in shown
    assert "<mtext>Z" not in shown


@pytest.mark.parametrize("name", ["planar2r", "fourbar"])
def test_every_part_that_is_offered_is_there(name: str) -> None:
    robot: Robot = emdeg.load(name)
    for part in offered(robot):
        assert shown_part(robot, part, quiet).sections, part
    with pytest.raises(BadRequest, match="no part 'nonsense'"):
        shown_part(robot, "nonsense", quiet)
