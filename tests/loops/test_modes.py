"""Ways of closing by name: listed, isolated, switched; closed paths return, or say what they exchanged."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import emdeg
from emdeg.errors import ClosureError
from tests.loops.kkt import Bodies
from tests.loops.linkages import CUSPIDAL, SLIDER_CRANK, built
from tests.loops.overconstrained import SPHERICAL, chain


def test_every_label_stands_for_one_way(tmp_path):
    for robot, q, count in (
        (emdeg.load("delta"), [0.05, -0.08, -0.45], 8),
        (emdeg.load("fivebar"), [2.1, 1.05], 2),
        (emdeg.load("rrr3"), [0.0, 0.0, 0.0], 8),
        (built(SPHERICAL, tmp_path), [1.0], 2),
    ):
        ways = emdeg.loops.branches(robot, q)
        assert len(ways) == count
        assert len({way.label for way in ways}) == count
        assert len({tuple(np.round(way.joints, 9)) for way in ways}) == count
        for way in ways[:: max(1, count - 1)]:
            assert emdeg.loops.closure_error(robot, way.joints) < 1e-12
            there = emdeg.loops.with_branch(robot, way)
            np.testing.assert_allclose(emdeg.loops.joint_positions(there, q), way.joints, atol=1e-10)
            assert emdeg.loops.mode(there, q).label == way.label


def test_a_leg_may_run_backwards_and_its_label_says_so():
    """A universal joint and a slide reach a point in four ways: either side, forwards or backwards."""
    robot = emdeg.load("stewart")
    q = [0.01, 0.02, 0.6, 0.0, 0.1, 0.0]
    here = emdeg.loops.mode(robot, q)
    back = {name: -1 for name in here.modes if name.endswith(":along")}
    assert len(back) == 6
    other = emdeg.loops.with_modes(robot, back)
    legs = [k for k, joint in enumerate(robot.joints) if joint in robot.driven]
    one, two = (emdeg.loops.joint_positions(r, q)[legs] for r in (robot, other))
    np.testing.assert_allclose(one - one[0], two[0] - two, atol=1e-12)
    assert emdeg.loops.mode(other, q).label != here.label


def test_every_way_of_a_piston_is_found_and_switched_to(tmp_path):
    """The slider-crank's piston is in front of the crank or behind it, and may stand the other way round."""
    robot = built(SLIDER_CRANK, tmp_path)
    ways = emdeg.loops.branches(robot, [1.0])
    x = [emdeg.forward_kinematics(emdeg.loops.with_branch(robot, way), [1.0])[0, 3] for way in ways]
    far = np.sqrt(0.3**2 - (0.1 * np.sin(1.0)) ** 2)
    assert len({way.label for way in ways}) == len(ways)
    np.testing.assert_allclose(sorted(set(np.round(x, 9))), 0.1 * np.cos(1.0) + far * np.array([-1, 1]), atol=1e-9)
    for way in ways:
        asked = emdeg.loops.with_mode(robot, way.label)
        here = emdeg.loops.joint_positions(asked, emdeg.dynamics.kind_of(asked).home(asked))
        assert emdeg.loops.closure_error(robot, here) < 1e-12


def test_ways_that_close_numerically_are_not_asked_for_by_signs():
    motors = emdeg.loops.with_coordinates("rrr3", ["q1", "q2", "q3"])
    loop = motors.loops.names[0]
    with pytest.raises(emdeg.RobotError, match="close numerically"):
        emdeg.loops.joint_positions(emdeg.loops.with_modes(motors, {loop: -1}), [0.1, 0.1, 0.1])


def test_the_papers_literal_pose_says_on_which_side_its_knees_are():
    robot = emdeg.load("delta")
    assert set(emdeg.loops.mode(robot, [0, 0, -0.45]).sides.values()) == {"out"}
    assert set(emdeg.loops.mode(robot, [0, 0, 0.45]).sides.values()) == {"in"}
    out = emdeg.loops.with_modes(robot, {f"forearm{k}": -1 for k in (1, 2, 3)})
    assert set(emdeg.loops.mode(out, [0, 0, 0.45]).sides.values()) == {"out"}
    q = emdeg.loops.joint_positions(out, [0, 0, 0.45])[:3]
    mirrored = emdeg.loops.joint_positions(robot, [0, 0, -0.45])[:3]
    np.testing.assert_allclose(q, -mirrored, atol=1e-12)


def test_a_closed_path_returns(tmp_path):
    turn = np.linspace(0.3, 0.3 + 2 * np.pi, 41)[:, None]
    found = emdeg.loops.follow_path(built(SPHERICAL, tmp_path), turn)
    assert found.closed
    assert found.returned
    assert not found.meetings
    assert found.begin == found.end


def test_a_parallelogram_passes_its_flat_places_and_says_so(tmp_path):
    robot = built(chain(2), tmp_path)
    turn = np.linspace(0.3, 0.3 + 2 * np.pi, 40)
    found = emdeg.loops.follow_path(robot, np.stack([turn, 0 * turn + 0.8], -1))
    assert found.closed
    assert found.returned
    places = [float(one.q[0]) for one in found.meetings]
    np.testing.assert_allclose(places, [np.pi, 2 * np.pi], atol=2e-3)


def test_a_path_beyond_the_reach_says_where_it_ends():
    robot = emdeg.load("delta")
    with pytest.raises(ClosureError, match=r"from pose 1 to pose 2: it ends at \(0, 0, -0\.[67]"):
        emdeg.loops.follow_path(robot, [[0, 0, -0.45], [0, 0, -0.5], [0, 0, -0.9]])


def test_a_closed_path_that_exchanges_modes_says_so(tmp_path):
    """Wenger's cuspidal arm: from one posture to another of the same hand, its determinant never zero on the way."""
    robot = built(CUSPIDAL, tmp_path)

    def hand(q):
        T = Bodies(robot, [*q, 0, 0, 0]).T[2]
        return T[:3, :3] @ [1.5, 0, 0] + T[:3, 3]

    def posture(degrees):
        return root(lambda q: hand(q) - [2.5, 0, 0.5], np.radians(degrees), tol=1e-13).x

    first, second = posture([-49.5, -38.7, 143.1]), posture([-165.3, -171.7, -14.1])
    path = [hand(first + share * (second - first)) for share in np.linspace(0, 1, 20)]
    robot = emdeg.loops.with_start(robot, dict(zip(("q1", "q2", "q3"), first)))
    found = emdeg.loops.follow_path(robot, path)
    np.testing.assert_allclose(found.joints[-1, :3], second, atol=1e-8)
    assert found.closed
    assert not found.returned
    assert not found.meetings
    assert found.begin != found.end
    assert found.begin[0] == found.end[0]  # one sign: the determinant keeps it
    assert {found.begin, found.end} <= {one.label for one in emdeg.loops.branches(robot, path[0])}
