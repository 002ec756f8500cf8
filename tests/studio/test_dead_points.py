"""Dead points are where a loop is stretched or folded: known lengths say where that is."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.loops import reachable, singularity_figures
from emdeg.studio.dead_points import dead_points


def test_a_delta_on_its_axis_is_stretched_and_folded_at_the_sum_and_difference_of_its_lengths() -> None:
    # Arms of 0.2 m, forearms of 0.52 m, platform and base of one size: straight below, a leg is a plane two-bar.
    found = dead_points(emdeg.load("delta"), [0.0, 0.0, -0.45], [(-0.01, 0.01), (-0.01, 0.01), (-0.9, -0.2)])
    assert [one.coordinate for one in found] == [2, 2]
    assert [one.at for one in found] == pytest.approx([-0.72, -0.32], abs=1e-7)
    assert all(one.loop.startswith("forearm") for one in found)


def test_a_platform_that_moves_though_its_motors_stand_is_of_the_second_kind() -> None:
    robot = emdeg.load("rrr3")
    (found,) = dead_points(robot, [0.0, 0.0, 0.0], [(-0.01, 0.01), (-0.01, 0.01), (0.0, 1.0)])
    assert (found.coordinate, found.kind) == (2, "second")
    _, second, _, det = singularity_figures(robot, np.array([[0, 0, found.at - 1e-3], [0, 0, found.at + 1e-3]]))
    assert det[0] * det[1] < 0
    assert (second < 0.01).all()
    assert reachable(robot, [0.0, 0.0, found.at]).all()


def test_a_crank_that_goes_round_has_none() -> None:
    assert dead_points(emdeg.load("fourbar"), [1.0], [(-3.14, 3.14)]) == []
