"""The library's robots: the published numbers, and the checked torques, inertias and loads that follow from them."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Angle
from emdeg.robot.loading import check, library_names

DATA = Path(__file__).parents[1] / "data"
CUBE = "0.00174074878592820038945281390507708740407"
"""kg m^2: m s^2 / 6 of the homogeneous cube of 1.8 kg and 442 cm^3."""


def data(name):
    return json.loads((DATA / f"{name}.json").read_text())


def near(actual, expected, tolerance=1e-12):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def test_the_library_holds_the_promised_robots():
    promised = {"puma560", "puma560_symbolic", "puma560_emdeg", "stanford_arm", "jpl_rrp", "rx90", "panda", "iiwa14"}
    assert promised | {"ur5e", "planar2r", "planar3r", "scara"} <= set(library_names())


@pytest.mark.parametrize("name", library_names())
def test_every_robot_loads_says_its_source_and_passes_its_checks(name):
    found = check(name)
    assert found.passes
    assert found.robot.name == name
    assert len(found.robot.source) > 40
    assert found.robot.title


@pytest.mark.parametrize("state", data("puma560")["states"])
def test_puma560_agrees_with_first_principles(state):
    robot = emdeg.load("puma560")
    q, qd, qdd = state["q"], state["qd"], state["qdd"]
    near(emdeg.inverse_dynamics(robot, q, qd, qdd), state["tau"])
    near(emdeg.mass_matrix(robot, q), state["mass_matrix"])
    near(emdeg.gravity(robot, q), state["gravity"])
    near(emdeg.coriolis_matrix(robot, q, qd) @ qd, state["coriolis_centrifugal"])


def test_puma560_carries_the_papers_tolerances_drives_and_reasons():
    robot = emdeg.load("puma560")
    tolerance = robot.tolerances
    assert tolerance["link2.mass"] == Fraction("0.184")
    assert tolerance["link4.mass"] == Fraction("0.205")
    assert tolerance["link3.com.y"] == Fraction("0.003")
    assert tolerance["link6.com.z"] == Fraction("0.008")
    assert tolerance["link2.Iyy"] == Fraction("0.0262")
    assert tolerance["link5.Izz"] == Fraction("0.0002")
    assert tolerance["q1.drive.inertia"] == Fraction("0.27")
    assert "link1.Izz" not in tolerance
    assert robot.sources["link2.mass"] == "Table 4"
    drives = [joint.drive for joint in robot.joints]
    assert [float(d.gear_ratio) for d in drives] == [62.61, 107.36, 53.69, 76.01, 71.91, 76.73]
    assert [float(d.max_torque) for d in drives] == [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]
    assert [float(d.friction.break_away) for d in drives] == [6.3, 5.5, 2.6, 1.3, 1.0, 1.2]
    assert {d.resolution_bits for d in drives} == {12}
    assert "triangle" in robot.nonphysical
    broken = {finding.body for finding in check("puma560").findings}
    assert broken == {"link1", "link3"}


def test_puma560_symbolic_has_five_lengths_and_sixty_inertial_parameters():
    robot = emdeg.load("puma560_symbolic")
    assert robot.symbols >= {"d2", "a2", "d3", "a3", "d4"}
    assert len(robot.symbols) == 65
    assert emdeg.load("rx90").symbols >= {"D3", "RL4", "XX1", "M6"}
    assert len(emdeg.load("rx90").symbols) == 62


def test_puma560_symbolic_with_puma560s_numbers_is_puma560_without_its_drives():
    numbers = emdeg.load("puma560")
    values = {"d2": numbers.joints[1].placement.d, "a2": numbers.joints[2].placement.a}
    values |= {"d3": numbers.joints[2].placement.d, "a3": numbers.joints[3].placement.a}
    values["d4"] = numbers.joints[3].placement.d
    keys = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
    for i, link in enumerate(numbers.links, start=1):
        values |= {f"{key}{i}": value for key, value in zip(keys, link.inertia.parameters)}
    filled = emdeg.substitute(emdeg.load("puma560_symbolic"), values)
    drives = np.diag([float(joint.drive.inertia) for joint in numbers.joints])
    q = [0.3, -0.5, 0.7, 1.1, -0.4, 0.2]
    near(emdeg.mass_matrix(filled, q), emdeg.mass_matrix(numbers, q) - drives)


def test_puma560_emdeg_has_the_papers_zeros():
    robot = emdeg.load("puma560_emdeg")
    second = robot.links[1].inertia
    assert str(second.tensor[5]) == "Izz2 + m2*rx2^2"
    assert str(second.first_moment[0]) == "m2*rx2"
    assert not second.first_moment[1]
    assert robot.links[4].stated.tensor[0] == robot.links[4].stated.tensor[3]
    lengths = {"d2", "a2", "d3", "a3", "d4", "ry1", "rx2", "ry3", "ry5", "rz6"}
    full = {f"I{axes}{i}" for axes in ("xx", "xy", "xz", "yy", "yz", "zz") for i in (1, 2, 3)}
    wrist = {"Ixx4", "Iyy4", "Izz4", "Ixx5", "Izz5", "Ixx6", "Izz6"}
    assert robot.symbols == lengths | full | wrist | {f"m{i}" for i in range(1, 7)}


def test_stanford_arm_has_the_papers_torques_along_its_motion():
    """Kane and Levinson's Eq. 127; tau2..tau5 and sigma of the paper act on the inner body."""
    robot, reference = emdeg.load("stanford_arm"), data("stanford_arm")
    assert [joint.name for joint in robot.joints] == ["q1", "q2", "q6", "q3", "q4", "q5"]
    chain = [0, 1, 5, 2, 3, 4]
    start = np.array([0, math.pi / 2, 0, 0, 0, 0])
    rate = (np.array([math.pi / 3] * 5 + [0.1]) - start) / 10
    w = 2 * math.pi / 10
    for t, expected in zip(reference["times"], reference["inverse_dynamics_eq127"]):
        q = start + rate * (t - math.sin(w * t) / w)
        qd, qdd = rate * (1 - math.cos(w * t)), rate * w * math.sin(w * t)
        tau = np.empty(6)
        tau[chain] = emdeg.inverse_dynamics(robot, q[chain], qd[chain], qdd[chain])
        near(tau * [1, -1, -1, -1, -1, -1], expected)


def test_jpl_rrp_has_the_reports_inertias_and_gravity_loads():
    robot = emdeg.load("jpl_rrp")
    loaded = emdeg.load("jpl_rrp", payload=f"mass=1.8,com=0:0:0,inertia={CUBE}:{CUBE}:{CUBE}@link6")
    for key, entry in data("jpl_rrp")["tables"].items():
        arm, i = loaded if "load" in key else robot, int(key.strip("|")[1]) - 1
        load = abs(emdeg.gravity(arm, entry["q"])[i])
        near(load if key[0] == "|" else emdeg.mass_matrix(arm, entry["q"])[i, i], entry["value"])
    state = data("jpl_rrp")["state"]
    drives = np.diag([float(joint.drive.inertia) for joint in robot.joints])
    near(emdeg.mass_matrix(robot, state["q"]) - drives, state["D_noload"])
    near(emdeg.mass_matrix(loaded, state["q"]) - drives, state["D_load"])
    near(-emdeg.gravity(robot, state["q"]), state["Dg_printed_sign_noload"])
    near(-emdeg.gravity(loaded, state["q"]), state["Dg_printed_sign_load"])


def test_jpl_rrp_has_the_reports_drives_and_boom():
    robot = emdeg.load("jpl_rrp")
    assert [joint.name for joint in robot.joints] == ["t1", "t2", "r3", "t4", "t5", "t6"]
    assert robot.joints[2].placement.theta == Angle.parse("-90 deg")
    assert (robot.joints[2].limits.lower, robot.joints[2].limits.upper) == (0, Fraction("1.1176"))
    assert [float(j.drive.max_torque) for j in robot.joints] == [91.8, 303.6, 98.7, 10.152, 10.152, 6.862]


@pytest.mark.parametrize("name", ["panda", "iiwa14", "ur5e"])
def test_arms_agree_with_their_reference_torques(name):
    robot = emdeg.load(name)
    for state in data(name)["states"]:
        near(emdeg.inverse_dynamics(robot, state["q"], state["qd"], state["qdd"]), state["tau"])
        near(np.triu(emdeg.mass_matrix(robot, state["q"])), np.triu(state["M"]))


def test_planar2r_has_the_textbooks_mass_matrix():
    """Two rods of 1 m and 1 kg: M22 = 1/3, M12 = 1/3 + c2/2, M11 = 5/3 + c2; g from half and whole lengths."""
    robot = emdeg.load("planar2r")
    q1, q2 = 0.4, 0.9
    m12 = 1 / 3 + math.cos(q2) / 2
    near(emdeg.mass_matrix(robot, [q1, q2]), [[5 / 3 + math.cos(q2), m12], [m12, 1 / 3]])
    far = 9.81 * 0.5 * math.cos(q1 + q2)
    near(emdeg.gravity(robot, [q1, q2]), [1.5 * 9.81 * math.cos(q1) + far, far])
    tool = emdeg.forward_kinematics(robot, [q1, q2])[:3, 3]
    near(tool, [math.cos(q1) + math.cos(q1 + q2), 0, math.sin(q1) + math.sin(q1 + q2)])


def test_planar3r_with_its_last_joint_locked_is_a_two_link_arm():
    robot = emdeg.load("planar3r", lock={"q3": "90 deg"})
    assert [joint.name for joint in robot.joints] == ["q1", "q2"]
    whole = emdeg.mass_matrix(emdeg.load("planar3r"), [0.4, 0.9, math.pi / 2])
    near(emdeg.mass_matrix(robot, [0.4, 0.9]), whole[:2, :2])


def test_scara_slides_downwards_and_its_motor_side_values_reach_the_joint():
    robot = emdeg.load("scara")
    height = [emdeg.forward_kinematics(robot, [0.3, 0.2, z, 0.1])[2, 3] for z in (0, 0.1)]
    near(height, [0.35, 0.25])
    assert robot.joints[0].drive.inertia.number == Fraction("0.2")
    assert robot.joints[0].drive.max_torque.number == 60
    near(emdeg.gravity(robot, [0.3, 0.2, 0.1, 0.5]), [0, 0, -1.5 * 9.81, 0])
