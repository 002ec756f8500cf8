"""Gyroscopic terms against first principles: every rotor a body of its own, geared to its joint."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle, Exact
from emdeg.errors import RobotError
from emdeg.robot import BASE, Drive, Inertia, Joint, Link, Placement, Robot, to_toml
from tests.random_robots import random_robot


def with_motors(robot: Robot, rng: np.random.Generator) -> tuple[Robot, list[tuple[int, Placement, Fraction, int]]]:
    """The robot with a motor for every joint on some link, and (carrier, place, inertia, gear) of each."""
    links, motors = [], []
    for link in robot.links:
        carrier = int(rng.integers(-1, robot.n))
        place = Placement(gamma=Angle(radians=Fraction(int(rng.integers(1, 30)), 10)), alpha=Angle(Fraction(1, 3)))
        (s, c), (sa, ca) = place.gamma.sincos(), place.alpha.sincos()
        axis = tuple(Exact.of(value) for value in (s * sa, -c * sa, ca))
        inertia, gear = Fraction(int(rng.integers(1, 9)), 100), int(rng.integers(-20, 20)) or 7
        drive = Drive(
            inertia=Exact.of(inertia * gear**2),
            motor_inertia=Exact.of(inertia),
            gear_ratio=Exact.of(gear),
            motor_axis=axis,
            motor_link="base" if carrier == BASE else robot.links[carrier].name,
        )
        links.append(replace(link, joint=replace(link.joint, drive=drive)))
        motors.append((carrier, place, inertia, gear))
    return replace(robot, links=tuple(links)), motors


def with_rotors_as_bodies(robot: Robot, motors: list[tuple[int, Placement, Fraction, int]]) -> Robot:
    """A tree in which every rotor turns on its carrier, whose inertia is less by the rotor's about its axis."""
    inertias = [link.inertia for link in robot.links]
    rotors = []
    for k, (carrier, place, inertia, _) in enumerate(motors):
        (s, c), (sa, ca) = place.gamma.sincos(), place.alpha.sincos()
        x, y, z = s * sa, -c * sa, ca
        if carrier != BASE:
            part = tuple(Exact.of(-inertia * u * v) for u, v in ((x, x), (x, y), (x, z), (y, y), (y, z), (z, z)))
            inertias[carrier] = inertias[carrier] + Inertia(tensor=part)
        own = Inertia(tensor=(*(Exact(),) * 5, Exact.of(inertia)))
        rotors.append(Link(f"rotor{k}", carrier, Joint(f"spin{k}", "revolute", place), own))
    bare = [
        replace(link, inertia=inertia, stated=None, joint=replace(link.joint, drive=Drive()))
        for link, inertia in zip(robot.links, inertias)
    ]
    return replace(robot, links=(*bare, *rotors), nonphysical="rotors without transverse inertia")


@pytest.mark.parametrize(("seed", "tree"), [*((seed, False) for seed in range(4)), (2, True), (3, True), (12, True)])
def test_gyroscopic_terms_are_those_of_rotors_as_bodies(seed, tree):
    rng = np.random.default_rng(seed)
    robot, motors = with_motors(random_robot(seed, 4, tree=tree), rng)
    bodies = with_rotors_as_bodies(robot, motors)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, robot.n))
    gears = np.array([gear for *_, gear in motors], float)
    state = [np.concatenate([x, gears * x], axis=-1) for x in (q, qd, qdd)]
    tau = emdeg.inverse_dynamics(bodies, *state)
    expected = tau[:, : robot.n] + gears * tau[:, robot.n :]
    found = emdeg.inverse_dynamics(robot, q, qd, qdd, gyroscopic=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.abs(found - emdeg.inverse_dynamics(robot, q, qd, qdd)).max() > 1e-3
    back = emdeg.forward_dynamics(robot, q, qd, found, gyroscopic=True)
    np.testing.assert_allclose(back, qdd, rtol=1e-7, atol=1e-7)


ARM = """schema = 1
name = "arm"
convention = "{convention}"
[[link]]
name = "upper"
joint = {{ name = "q1", type = "revolute", alpha = "90 deg", a = 0.3 }}
inertia = {{ about = "com", mass = 2, com = [0.1, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }}
[[link]]
name = "elbow"
joint = {{ name = "q2", type = "{kind}", alpha = "90 deg", a = 0.2, theta = "30 deg" }}
inertia = {{ about = "com", mass = 1, com = [0.1, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }}
[[link]]
name = "fore"
joint = {{ name = "q3", type = "revolute", alpha = "-90 deg", a = 0.1 }}
inertia = {{ about = "com", mass = 1, com = [0.1, 0, 0], Ixx = 0.1, Iyy = 0.1, Izz = 0.1 }}
drive = {{ motor_inertia = 0.001, gear_ratio = 50, motor_link = "{carrier}", motor_axis = {axis} }}
"""


def arm(tmp_path, **values: str) -> Robot:
    given = {"convention": "modified", "kind": "revolute", "carrier": "upper", "axis": "[0, 0, 2]"} | values
    file = tmp_path / "arm.toml"
    file.write_text(ARM.format(**given))
    return emdeg.load(file)


def test_a_file_names_the_motors_link_and_is_written_back(tmp_path):
    robot = arm(tmp_path, axis="[1, 1, 0.3]")
    (tmp_path / "again.toml").write_text(to_toml(robot))
    assert emdeg.load(tmp_path / "again.toml") == robot
    robot = arm(tmp_path)
    drive = robot.links[2].joint.drive
    assert (drive.motor_link, [float(v) for v in drive.motor_axis]) == ("upper", [0, 0, 1])
    again = tmp_path / "again.toml"
    again.write_text(to_toml(robot))
    assert emdeg.load(again) == robot
    assert arm(tmp_path, carrier="elbow").links[2].joint.drive.motor_link is None
    assert arm(tmp_path, carrier="base").links[2].joint.drive.motor_link == "base"
    with pytest.raises(RobotError, match="motor_link 'wrist' does not exist; there are: base, upper, elbow, fore"):
        arm(tmp_path, carrier="wrist")
    with pytest.raises(RobotError, match="motor_axis must not be zero"):
        arm(tmp_path, axis="[0, 0, 0]")


@pytest.mark.parametrize("axis", ["[1, 0, 0]", "[0, 0.6, 0.8]"])
def test_a_motor_on_a_locked_link_turns_with_the_link_that_this_became_part_of(axis, tmp_path):
    """A fixed elbow and one locked at zero are the same machine; the axis is stated in the elbow's frame in both."""
    state = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    fixed = arm(tmp_path, kind="fixed", carrier="elbow", axis=axis)
    free = arm(tmp_path, carrier="elbow", axis=axis)
    still = [np.array([x[0], 0, x[1]]) for x in state]
    expected = emdeg.inverse_dynamics(free, *still, gyroscopic=True)[[0, 2]]
    np.testing.assert_allclose(emdeg.inverse_dynamics(fixed, *state, gyroscopic=True), expected, rtol=1e-12)


def test_the_standard_conventions_axis_is_in_the_frame_past_the_twist(tmp_path):
    """Frame 1 of the standard convention is the modified one's turned by alpha1 about x."""
    robot = arm(tmp_path, convention="standard", axis="[0, 1, 0]")
    assert [float(v) for v in robot.links[2].joint.drive.motor_axis] == [0, 0, 1]


def test_the_pumas_wrist_motors_sit_on_link_3():
    robot = emdeg.load("puma560")
    assert [link.joint.drive.motor_link for link in robot.links[4:]] == ["link3", "link3"]
