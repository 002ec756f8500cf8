"""Trajectories keep what they promise: ends, derivatives, limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, Exact
from emdeg.errors import ScenarioError
from emdeg.robot import Body, Draft, Placement, assemble
from emdeg.simulation import (
    all_positions,
    circle,
    cycloidal,
    fourier,
    line,
    quintic,
    read_trajectory,
    through,
    trapezoidal,
)
from emdeg.simulation.trajectories.limits import need_within_limits
from tests.random_robots import random_inertia

START, GOAL = [0.0, 1.0], [1.0, -1.0]
ELBOW = [0.0, -0.5, 0.8, 0.3, 0.6, 0.2]

EXAMPLES = {
    "cycloidal": cycloidal(START, GOAL, 2.0),
    "quintic": quintic(START, GOAL, 2.0),
    "trapezoidal": trapezoidal(START, GOAL, 2.0),
    "fastest": trapezoidal(START, GOAL, max_speed=[1.0, 1.5], max_acceleration=[2.0, 3.0]),
    "spline": through([0, 1, 2.5], [START, [0.3, 0.2], GOAL]),
    "cubic": through([0, 1, 2.5], [START, [0.3, 0.2], GOAL], degree=3),
    "fourier": fourier(START, [[0.3, 0.1], [0.2, 0.2]], [[0.1, 0.0], [0.0, 0.4]], 3.0),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_speeds_and_accelerations_are_the_derivatives(name):
    move, h = EXAMPLES[name], 1e-5
    t = np.linspace(0.013, move.duration - 0.017, 37)
    before, at, after = move(t - h), move(t), move(t + h)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), at[1], atol=2e-8)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), at[2], atol=2e-7)


@pytest.mark.parametrize("name", ["cycloidal", "quintic", "trapezoidal", "fastest", "spline", "cubic"])
def test_it_starts_and_ends_at_rest_where_it_should(name):
    move = EXAMPLES[name]
    for t, q in ((0.0, START), (move.duration, GOAL), (-1.0, START), (move.duration + 1, GOAL)):
        at = move(t)
        np.testing.assert_allclose(at[0], q, atol=1e-12)
        np.testing.assert_allclose(at[1], 0, atol=1e-9)


def test_the_fastest_trapezoid_uses_its_limits_and_keeps_them():
    move = EXAMPLES["fastest"]
    _, qd, qdd = move(np.linspace(0, move.duration, 5001))
    assert np.max(np.abs(qd) / [1.0, 1.5]) == pytest.approx(1, abs=1e-6)
    assert np.max(np.abs(qdd) / [2.0, 3.0]) == pytest.approx(1, abs=1e-9)


def test_a_periodic_trajectory_repeats_itself():
    move = EXAMPLES["fourier"]
    for now, later in zip(move([0.3, 1.1]), move([3.3, 4.1])):
        np.testing.assert_allclose(now, later, atol=1e-12)


def test_a_line_of_the_tool_is_a_line():
    robot = emdeg.load("puma560")
    goal = [0.5, 0.3, 0.3]
    move = line(robot, goal, 2.0, near=ELBOW)
    T = emdeg.forward_kinematics(robot, move(np.linspace(0, 2, 101))[0])
    first = emdeg.forward_kinematics(robot, ELBOW)
    p, way = T[:, :3, 3] - first[:3, 3], np.array(goal) - first[:3, 3]
    off = p - np.outer(p @ way / (way @ way), way)
    assert np.max(np.abs(off)) < 1e-6
    np.testing.assert_allclose(T[-1, :3, 3], goal, atol=1e-8)
    np.testing.assert_allclose(T[:, :3, :3], np.broadcast_to(first[:3, :3], (101, 3, 3)), atol=1e-6)


def test_a_circle_of_the_tool_is_a_circle_and_closes():
    robot = emdeg.load("puma560")
    first = emdeg.forward_kinematics(robot, ELBOW)
    centre = first[:3, 3] - [0, 0, 0.1]
    move = circle(robot, centre, [1, 0, 0], 3.0, near=ELBOW)
    p = emdeg.forward_kinematics(robot, move(np.linspace(0, 3, 101))[0])[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(p - centre, axis=1), 0.1, atol=1e-6)
    np.testing.assert_allclose(p[:, 0], centre[0], atol=1e-6)
    np.testing.assert_allclose(p[-1], p[0], atol=1e-8)


@pytest.mark.parametrize("name", ["puma560", "panda", "stanford_arm", "ur5e"])
def test_inverse_kinematics_finds_the_pose_again(name):
    robot = emdeg.load(name)
    rng = np.random.default_rng(5)
    low = np.array([-1.0 if j.limits.lower is None else float(j.limits.lower) for j in robot.joints])
    high = np.array([1.0 if j.limits.upper is None else float(j.limits.upper) for j in robot.joints])
    for _ in range(3):
        q = low + (high - low) * rng.uniform(0.3, 0.7, robot.n)
        pose = emdeg.forward_kinematics(robot, q)
        found = emdeg.inverse_kinematics(robot, pose)
        np.testing.assert_allclose(emdeg.forward_kinematics(robot, found), pose, atol=1e-9)


def skew_arm(third: str) -> emdeg.Robot:
    """Three skew axes at odd angles, then a wrist whose axes meet: the general case, a polynomial of fourth degree."""
    rows = [
        ("30 deg", 0.1, 0.2),
        ("50 deg", 0.4, 0.1),
        ("-70 deg", 0.3, 0.15),
        ("80 deg", 0.2, 0.4),
        ("-90 deg", 0, 0),
        ("90 deg", 0, 0),
    ]
    kinds = ["revolute", "revolute", third, *["revolute"] * 3]
    bodies = [
        Body(
            name=f"l{i}",
            parent=f"l{i - 1}" if i else None,
            joint=f"j{i}",
            kind=kind,  # type: ignore[arg-type]
            inertia=random_inertia(np.random.default_rng(i)),
            row=Placement(alpha=Angle.parse(alpha), a=Exact.of(float(a)), d=Exact.of(float(d))),
        )
        for i, (kind, (alpha, a, d)) in enumerate(zip(kinds, rows))
    ]
    return assemble(Draft("skew", tuple(bodies)))


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "jpl_rrp", "revolute", "prismatic"])
def test_the_closed_form_finds_every_position_of_a_wristed_arm(name):
    robot = skew_arm(name) if name in ("revolute", "prismatic") else emdeg.load(name)
    rng = np.random.default_rng(2)
    for _ in range(20):
        q = rng.uniform(-2.5, 2.5, 6)
        if robot.joints[2].kind == "prismatic":
            q[2] = rng.uniform(0.2, 0.9)
        pose = emdeg.forward_kinematics(robot, q)
        found = all_positions(robot, pose)
        np.testing.assert_allclose(
            emdeg.forward_kinematics(robot, found), np.broadcast_to(pose, (len(found), 4, 4)), atol=1e-7
        )
        assert np.min(np.max(np.abs(found - q), axis=1)) < 1e-6
        assert len(found) % 2 == 0


def test_of_many_positions_the_nearest_is_taken():
    robot = emdeg.load("puma560")
    q = np.array([0.4, -0.8, 0.9, 7.0, 0.5, -0.3])
    pose = emdeg.forward_kinematics(robot, q)
    np.testing.assert_allclose(emdeg.inverse_kinematics(robot, pose, q + 0.05), q, atol=1e-8)


def test_without_a_spherical_wrist_there_is_no_closed_form():
    for name in ("ur5e", "panda", "planar3r"):
        assert all_positions(emdeg.load(name), np.eye(4)) is None


def test_a_csv_file_is_read_by_its_header(tmp_path):
    robot = emdeg.load("planar2r")
    names = [joint.name for joint in robot.joints]
    t = np.linspace(0, 1, 9)
    rows = [f"{math.degrees(math.cos(a))!r},{a!r},{math.degrees(math.sin(a))!r}" for a in t.tolist()]
    file = tmp_path / "move.csv"
    file.write_text(f"{names[1]},t,{names[0]}\n" + "\n".join(rows) + "\n")
    move = read_trajectory(file, robot, deg=True)
    q, qd, _ = move(0.55)
    np.testing.assert_allclose(q, [np.sin(0.55), np.cos(0.55)], atol=1e-7)
    np.testing.assert_allclose(qd, [np.cos(0.55), -np.sin(0.55)], atol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cycloidal([0], [0, 1], 1.0), "start has 1 joints and goal 2"),
        (lambda: quintic([0], [1], 0.0), "a duration must be positive"),
        (lambda: trapezoidal([0], [1], 1.0, ramp=0.7), r"ramp must lie in \(0, 0.5\]"),
        (lambda: trapezoidal([0], [1]), "needs a duration or both"),
        (lambda: trapezoidal([0], [1], 1.0, max_speed=0.1), "needs a duration or both"),
        (lambda: trapezoidal([0], [1], max_acceleration=0.1), "needs a duration or both"),
        (lambda: through([0, 0], [[0], [1]]), "times must increase"),
        (lambda: fourier([0, 0], [[1]], [[1]], 1.0), r"must be \(harmonics, 2\)"),
        (
            lambda: need_within_limits(emdeg.load("scara"), cycloidal(np.zeros(4), [9.0, 0, 0, 0], 1.0)),
            "scara: the trajectory leaves the robot's limits: q1: position 9 at t = 1 s is beyond the limit",
        ),
        (
            lambda: line(emdeg.load("puma560"), [1.5, 0.3, 0.3], 2.0, near=ELBOW),
            "cannot be followed at .* of its time: out of reach",
        ),
        (
            lambda: emdeg.inverse_kinematics(emdeg.load("planar2r"), np.eye(4) + np.eye(4, k=3) * 9),
            "its tool does not reach the pose",
        ),
        (lambda: emdeg.inverse_kinematics(emdeg.load("puma560"), 5 * np.eye(4)), "a pose is a rotation matrix"),
        (lambda: emdeg.inverse_kinematics(emdeg.load("puma560"), np.diag([1, 1, -1, 1])), "a pose is a rotation"),
        (lambda: line(emdeg.load("puma560"), np.zeros((4, 4)), 2.0, near=ELBOW), "a pose is a rotation matrix"),
        (lambda: circle(emdeg.load("puma560"), [0, 0, 0], [1, 0, 0], 1.0, near=ELBOW), "off the circle's plane"),
    ],
)
def test_what_cannot_be_done_is_said(make, message):
    with pytest.raises(ScenarioError, match=message):
        make()
