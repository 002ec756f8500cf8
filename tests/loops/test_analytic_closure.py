"""Universal and prismatic closing joints: textbook kinematics, free bodies with multipliers."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.errors import ClosureError, RobotError
from emdeg.loops.closing import ready
from tests.loops.invented import INVENTED, crane, welded_coupler
from tests.loops.kkt import Bodies, constrained_accelerations, openings
from tests.loops.linkages import HOOKE, SLIDER_CRANK, UPU3, built


def test_hookes_joint_turns_as_the_textbooks_say(tmp_path):
    """w2 / w1 = cos b / (1 - sin^2 b sin^2 q1), q1 from where the driving fork lies across the shafts' plane."""
    robot = built(HOOKE, tmp_path)
    assert str(ready(robot).mobility).startswith("2 joints, 4 closure equations of rank 1: mobility 1")
    q = np.linspace(-1.2, 1.2, 9)[:, None]
    joints = emdeg.loops.joint_positions(robot, q)
    beta = np.pi / 6
    np.testing.assert_allclose(np.tan(joints[:, 1]), np.tan(q[:, 0]) * np.cos(beta), atol=1e-12)
    ratio = np.cos(beta) / (1 - (np.sin(beta) * np.sin(q[:, 0])) ** 2)
    step = 1e-6
    later = emdeg.loops.joint_positions(robot, q + step)[:, 1] - emdeg.loops.joint_positions(robot, q - step)[:, 1]
    np.testing.assert_allclose(later / (2 * step), ratio, atol=1e-9)


def test_a_slider_crank_slides_as_the_textbooks_say(tmp_path):
    robot = built(SLIDER_CRANK, tmp_path)
    assert ready(robot).mobility.freedoms == 1
    q = np.linspace(0.2, 2.8, 9)[:, None]
    x = 0.1 * np.cos(q[:, 0]) + np.sqrt(0.3**2 - (0.1 * np.sin(q[:, 0])) ** 2)
    T = emdeg.forward_kinematics(robot, q)
    np.testing.assert_allclose(T[:, 0, 3], x, atol=1e-12)
    np.testing.assert_allclose(T[:, 1:3, 3], 0, atol=1e-12)


@pytest.mark.long
def test_a_3_upu_platform_does_not_turn(tmp_path):
    """Tsai's condition: each leg's outer axes parallel; then only shifts are left, three of them."""
    robot = built(UPU3, tmp_path)
    found = ready(robot).mobility
    assert (found.joints, found.equations, found.freedoms) == (15, 12, 3)
    q = np.array([0, 0, 0.6]) + np.random.default_rng(0).uniform(-0.1, 0.1, (4, 3))
    T = emdeg.forward_kinematics(robot, q)
    np.testing.assert_allclose(T[:, :3, :3], np.broadcast_to(np.eye(3), (4, 3, 3)), atol=1e-10)
    lengths = emdeg.loops.joint_positions(robot, q)[:, [k for k, j in enumerate(robot.joints) if j in robot.driven]]
    for k in range(3):
        angle = 2 * np.pi / 3 * k
        way = q + np.array([-0.2 * np.cos(angle), -0.2 * np.sin(angle), 0])
        np.testing.assert_allclose(lengths[:, k], np.linalg.norm(way, axis=1), atol=1e-10)


PLACES = {"hooke": (HOOKE, [0.3], 0.8), "slider_crank": (SLIDER_CRANK, [1.0], 0.8), "upu3": (UPU3, [0, 0, 0.6], 0.1)}


@pytest.mark.parametrize("name", PLACES)
def test_accelerations_equal_those_of_free_bodies_with_multipliers(name, tmp_path):
    text, centre, reach = PLACES[name]
    robot = built(text, tmp_path)
    rng = np.random.default_rng(5)
    n = len(centre)
    q = np.array(centre) + rng.uniform(-reach, reach, (5, n))
    qd, tau = rng.normal(size=(5, n)), rng.normal(size=(5, n))
    expected = np.array([constrained_accelerations(robot, *state) for state in zip(q, qd, tau)])
    found = emdeg.forward_dynamics(robot, q, qd, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))
    np.testing.assert_allclose(emdeg.inverse_dynamics(robot, q, qd, found), tau, rtol=1e-9, atol=1e-9)
    compiled, closure = emdeg.compile(emdeg.program(robot, "forward_dynamics+closure"))(q, qd, tau)
    np.testing.assert_allclose(compiled, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))
    assert (closure > 0).all()
    one, other = (emdeg.loops.reduced_model(robot, q, qd, route=route) for route in ("reduction", "virtual_work"))
    np.testing.assert_allclose(one["M"], other["M"], atol=1e-12)
    force = [np.einsum("kij,kj->ki", model["C"], qd) for model in (one, other)]
    np.testing.assert_allclose(*force, atol=1e-11)


@pytest.mark.parametrize("name", INVENTED)
@pytest.mark.long
def test_invented_mechanisms_move_as_free_bodies_with_multipliers_do(name, tmp_path):
    """Any tilt, any gravity, slides without motors, skew axes: closed by steps, in every equation, and right."""
    make, reach = INVENTED[name]
    robot, rng, reached = built(make(7), tmp_path), np.random.default_rng(3), 0
    home = kind_of(robot).home(robot)
    assert kind_of(robot).has_programs(robot)
    compiled = emdeg.compile(emdeg.program(robot, "forward_dynamics"))
    for place in rng.uniform(-reach, reach, (12, robot.freedoms)):
        q, qd, tau = home + 2 * place, rng.normal(size=robot.freedoms), rng.normal(size=len(robot.driven))
        try:
            joints = emdeg.loops.joint_positions(robot, q)
        except ClosureError:
            assert np.isnan(compiled(q, qd, tau)).all()
            continue
        np.testing.assert_allclose(openings(robot, joints), 0, atol=1e-14)
        expected = constrained_accelerations(robot, q, qd, tau)
        scale = max(1.0, np.abs(expected).max())
        for found in (emdeg.forward_dynamics(robot, q, qd, tau), compiled(q, qd, tau)):
            np.testing.assert_allclose(found, expected, atol=1e-10 * scale)
        reached += 1
    assert reached >= 4


def test_a_seam_that_nothing_moves_in_closes_a_loop_as_well(tmp_path):
    """Seven joints and a weld, followed numerically: no equation is left open and the free bodies agree."""
    robot, rng = built(welded_coupler(7), tmp_path), np.random.default_rng(3)
    home = kind_of(robot).home(robot)
    for place in rng.uniform(-0.05, 0.05, (3, 1)):
        q, qd, tau = home + place, rng.normal(size=1), rng.normal(size=1)
        np.testing.assert_allclose(openings(robot, emdeg.loops.joint_positions(robot, q)), 0, atol=1e-13)
        expected = constrained_accelerations(robot, q, qd, tau)
        np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), expected, rtol=1e-9)
    for way in emdeg.loops.branches(robot, home):  # none with the halves turned, as the equations allow
        bodies, seam = Bodies(robot, way.joints), robot.loops.closures[0]
        np.testing.assert_allclose(bodies.axes(seam.first), bodies.axes(seam.second), atol=1e-9)


@pytest.mark.parametrize(
    ("lock", "coordinates", "driven"),
    [({"hand": "30 deg"}, ["turn", "lift"], ["turn", "stroke"]), ({"turn": 0.3}, ["lift", "hand"], ["stroke", "hand"])],
)
def test_a_locked_joint_is_no_coordinate_and_has_no_motor(lock, coordinates, driven, tmp_path):
    (tmp_path / "crane.toml").write_text(crane(3))
    robot = emdeg.load(tmp_path / "crane.toml", lock=lock)
    assert [joint.name for joint in robot.coordinates] == coordinates
    assert [joint.name for joint in robot.driven] == driven
    whole = emdeg.load(tmp_path / "crane.toml")
    (name,) = lock
    place = [joint.name for joint in whole.coordinates].index(name)
    q, qd, tau = np.array([0.7, 0.5]), np.array([0.3, -0.4]), np.array([1.0, 2.0])
    expected = constrained_accelerations(robot, q, qd, tau)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), expected, rtol=1e-10)
    held = [np.insert(array, place, value) for array, value in ((q, np.radians(30) if place else 0.3), (qd, 0.0))]
    efforts = emdeg.inverse_dynamics(whole, *held, np.insert(expected, place, 0.0))
    np.testing.assert_allclose(np.delete(efforts, [joint.name for joint in whole.driven].index(name)), tau, rtol=1e-9)


@pytest.mark.parametrize(
    ("lock", "word"), [({"x": 0, "y": 0, "z": -0.45}, "every coordinate is locked"), ({"q1": 0}, "mobility is 2")]
)
def test_locks_that_leave_no_description_are_refused(lock, word):
    with pytest.raises(RobotError, match=word):
        emdeg.mass_matrix(emdeg.load("delta", lock=lock), [0, 0, -0.45])


def test_a_load_on_any_link_of_a_loop_is_carried(tmp_path):
    (tmp_path / "crane.toml").write_text(crane(3))
    for link in ("hand", "piston", "cylinder"):
        robot = emdeg.load(tmp_path / "crane.toml", payload=f"mass=1.8,com=0.1:0.05:0.02@{link}")
        state = np.array([0.3, 0.8, 0.4]), np.array([0.3, -0.4, 0.5]), np.array([1.0, 2.0, -1.0])
        np.testing.assert_allclose(
            emdeg.forward_dynamics(robot, *state), constrained_accelerations(robot, *state), rtol=1e-10
        )
