"""Branches followed: over-constrained linkages against their closed forms, full turns, poses far from the start."""

from __future__ import annotations

import numpy as np
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.errors import ClosureError
from emdeg.loops.closing import ready
from tests.loops.kkt import constrained_accelerations
from tests.loops.linkages import CARRIED, FOLDING, HOOKE, SLIDER_CRANK, TOO_MANY, built
from tests.loops.overconstrained import BENNETT, LOCOMOTIVE, SARRUS, SPHERICAL, bricard, chain, ring

SIN = {degrees: float(np.sin(np.radians(degrees))) for degrees in (25, 35, 40, 70)}
ROUND = np.linspace(0.05, 2 * np.pi - 0.05, 28)[:, None]
"""All round, exact multiples of a right angle left out."""


def wrapped(angle):
    return np.remainder(np.asarray(angle) + np.pi, 2 * np.pi) - np.pi


def joints(robot, q):
    found = emdeg.loops.joint_positions(robot, q)
    assert np.max(emdeg.loops.closure_error(robot, found)) < 1e-12
    return {joint.name: found[..., k] for k, joint in enumerate(robot.joints)}


def test_a_locomotives_wheels_stay_parallel_all_round(tmp_path):
    robot = built(LOCOMOTIVE, tmp_path)
    found = joints(robot, ROUND)
    for name, sign in (("q2", 1), ("q3", 1), ("p", -1)):
        np.testing.assert_allclose(wrapped(found[name] - sign * ROUND[:, 0]), 0, atol=1e-12)


def test_a_locomotives_weight_is_that_of_its_parts(tmp_path):
    """The rod shifts without turning: tau of rest is what wheels and rod weigh, at every angle of the cranks."""
    robot = built(LOCOMOTIVE, tmp_path)
    q, g = ROUND[:, 0], 9.81
    wheels = 3 * 1.0 * (0.1 * np.cos(q) - 0.02 * np.sin(q))
    expected = g * (wheels + 3.0 * 0.2 * np.cos(q))
    zero = np.zeros_like(ROUND)
    np.testing.assert_allclose(emdeg.inverse_dynamics(robot, ROUND, zero, zero)[:, 0], expected, atol=1e-9)
    compiled = emdeg.compile(emdeg.program(robot, "inverse_dynamics"))
    np.testing.assert_allclose(compiled(ROUND, zero, zero)[:, 0], expected, atol=1e-9)


def test_a_crank_against_the_others_is_refused(tmp_path):
    with pytest.raises(emdeg.RobotError, match="leave it one way to close"):
        ready(emdeg.loops.with_modes(built(LOCOMOTIVE, tmp_path), {"pin2": -1}))


@pytest.mark.parametrize("cranks", [2, 3])
def test_parallelograms_on_each_other_stay_parallelograms(cranks, tmp_path):
    robot = built(chain(cranks), tmp_path)
    found = joints(robot, np.concatenate([ROUND, ROUND[::-1] + 0.3], 1))
    np.testing.assert_allclose(wrapped(found["p1"] + found["q11"]), 0, atol=1e-12)
    np.testing.assert_allclose(wrapped(found["q22"] - found["q21"]), 0, atol=1e-12)


def test_a_crossed_parallelogram_is_another_mode_and_stays_crossed(tmp_path):
    """The tangents of its cranks' half angles are in one ratio, or their product is one number, all round."""
    robot = emdeg.loops.with_modes(built(chain(2), tmp_path), {"pin12": -1})
    found = joints(robot, np.concatenate([ROUND, 0 * ROUND + 0.8], 1))
    ratio = np.tan(found["q12"] / 2) / np.tan(found["q11"] / 2)
    product = np.tan(found["q12"] / 2) * np.tan(found["q11"] / 2)
    spread = min(np.ptp(ratio) / np.abs(ratio).max(), np.ptp(product) / np.abs(product).max())
    assert spread < 1e-9


def test_bennetts_linkage_keeps_its_half_angles_tied(tmp_path):
    """tan(t1 / 2) tan(t2 / 2) = sin((b + a) / 2) / sin((b - a) / 2), t3 = -t1 (Bennett 1903)."""
    found = joints(built(BENNETT, tmp_path), ROUND)
    ratio = np.sin(np.radians(60)) / np.sin(np.radians(30))
    np.testing.assert_allclose(np.tan(ROUND[:, 0] / 2) * np.tan(found["t2"] / 2), ratio, rtol=1e-9)
    np.testing.assert_allclose(wrapped(found["t3"] + ROUND[:, 0]), 0, atol=1e-9)


def test_a_sarrus_table_goes_straight_up(tmp_path):
    robot = built(SARRUS, tmp_path)
    q = np.concatenate([np.linspace(0.1, 1.5, 8), [2.0, 4.0, 8.0, -3.0]])[:, None]
    T = emdeg.forward_kinematics(robot, q)
    np.testing.assert_allclose(T[:, :2, 3], [[0, -0.3]] * len(q), atol=1e-11)
    np.testing.assert_allclose(T[:, 2, 3], 0.8 * np.sin(q[:, 0]), atol=1e-11)


def test_bricards_linkage_closes_as_published(tmp_path):
    """cos t1 + cos t2 + cos t1 cos t2 = 0 for twists of a right angle (Chen, You, Tarnai 2005), up to 120 degrees."""
    robot = built(bricard(), tmp_path)
    q = np.array([-1.9, -1.0, 0.2, 0.9, 1.5, 2.05, 2.05 + 2 * np.pi])[:, None]
    found = joints(robot, q)
    a, b = np.cos(found["t1"]), np.cos(found["t2"])
    np.testing.assert_allclose(a + b + a * b, 0, atol=1e-10)
    np.testing.assert_allclose(wrapped(found["t3"] - found["t1"]), 0, atol=1e-9)
    with pytest.raises(ClosureError, match="cannot be reached"):
        emdeg.loops.joint_positions(robot, [2.5])


PARADOXICAL = {
    "trihedral": ((0.3, 0.35, 0.4, 0.45, 0.5, 0.175**0.5), (90, 270, 90, 270, 90, 270), (1.9, 0.73, 1.76, 0.95, 2.25)),
    "myard": ((0.5 * SIN[40], 0.5, 0, 0.5, 0.5 * SIN[40]), (40, 90, 100, 90, 140), (1, 1.81, 1.07, -2.07)),
    "goldberg": (
        (0.4 * SIN[70], 0.4 * SIN[25], 0.4 * SIN[35], 0.4 * SIN[70], 0.4 * SIN[25] + 0.4 * SIN[35]),
        (70, 25, 35, 70, 60),
        (1, -2.59, -0.79, -0.55),
    ),
}
"""Single loops of hinges that move against the count of their equations: lengths [m], twists [degrees], a start."""


@pytest.mark.parametrize("name", [pytest.param("trihedral", marks=pytest.mark.slow), "myard", "goldberg"])
def test_paradoxical_linkages_move_as_free_bodies_or_ask_for_digits(name, tmp_path):
    lengths, twists, start = PARADOXICAL[name]
    robot = built(ring(name, lengths, twists, start), tmp_path)
    assert ready(robot).mobility.freedoms == 1
    q = ready(robot).home + np.array([0.05, 0.3])[:, None]
    expected = [constrained_accelerations(robot, at, [0.7], [0.4]) for at in q]
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, [0.7], [0.4]), expected, rtol=1e-9)
    for digits in (5, 8):
        rounded = ring(name, [round(a, digits) for a in lengths], twists, start)
        with pytest.raises((emdeg.RobotError, ClosureError), match=r"13 digits or more|cannot close there"):
            ready(built(rounded, tmp_path))


def test_a_spherical_crank_comes_back_after_a_turn(tmp_path):
    """cos of the coupler's arc holds all round (Freudenstein), and a pose is the same after any number of turns."""
    robot = built(SPHERICAL, tmp_path)
    found = joints(robot, ROUND)
    for turns in (1, -1, 7):
        again = joints(robot, ROUND + 2 * np.pi * turns)
        np.testing.assert_allclose(wrapped(again["t4"] - found["t4"]), 0, atol=1e-10)
    # The crank's and the rocker's far axes, by rotations multiplied here, stay 75 degrees apart.
    t1, t4 = ROUND[:, 0], found["t4"]
    a = np.stack([np.sin(t1) * 0.5, -np.cos(t1) * 0.5, 0 * t1 + np.cos(np.pi / 6)], -1)
    g, al, r = np.radians([20, 80, 60])
    local = np.stack([np.sin(t4) * np.sin(r), -np.cos(t4) * np.sin(r), 0 * t4 + np.cos(r)], -1)
    Rx = np.array([[1, 0, 0], [0, np.cos(al), -np.sin(al)], [0, np.sin(al), np.cos(al)]])
    Rz = np.array([[np.cos(g), -np.sin(g), 0], [np.sin(g), np.cos(g), 0], [0, 0, 1]])
    b = local @ (Rz @ Rx).T
    np.testing.assert_allclose(np.einsum("ki,ki->k", a, b), np.cos(np.radians(75)), atol=1e-12)
    jumps = wrapped(np.diff(t4))
    assert np.abs(jumps).max() < 0.5


def test_a_numeric_closure_is_the_same_after_a_turn(tmp_path):
    robot = built(HOOKE, tmp_path)
    q = ROUND
    near, far = (joints(robot, q + 2 * np.pi * k)["q2"] for k in (0, 3))
    np.testing.assert_allclose(wrapped(far - near), 0, atol=1e-9)
    np.testing.assert_allclose(np.tan(near), np.tan(q[:, 0]) * np.cos(np.pi / 6), rtol=1e-9)
    assert np.all(np.cos(near) * np.cos(q[:, 0]) > 0)  # and never half a turn off


@pytest.mark.parametrize("scale", ["0.001", "1000"])
def test_reach_is_judged_by_the_mechanisms_size(scale, tmp_path):
    """A four-bar a thousand times smaller or larger ends its reach at the same angle."""
    text = (
        'schema = 1\nname = "small"\nconvention = "modified"\n'
        '[[link]]\nname = "a"\nparent = "base"\njoint = { name = "q", type = "revolute" }\n'
        'inertia = { about = "com", mass = 1, Izz = 1, Ixx = 1, Iyy = 1 }\n'
        f'[[link]]\nname = "b"\nparent = "base"\njoint = {{ name = "p", type = "revolute", a = {4 * float(scale)} }}\n'
        'inertia = { about = "com", mass = 1, Izz = 1, Ixx = 1, Iyy = 1 }\n'
        f'[[rod]]\nname = "r"\nlength = {2 * float(scale)}\n'
        f'from = {{ link = "a", xyz = [{3 * float(scale)}, 0, 0] }}\n'
        f'to = {{ link = "b", xyz = [{2 * float(scale)}, 0, 0] }}\n'
        '[loops]\ncoordinates = ["q"]\ndriven = ["q"]\nstart = { q = 0.8, p = 2.2 }\n'
    )
    robot = built(text, tmp_path)
    edge = np.arccos((9 + 16 - 16) / 24)  # crank and rods stretched: 4 from the other pivot
    emdeg.loops.joint_positions(robot, [edge - 1e-6])
    with pytest.raises(ClosureError, match="cannot be reached"):
        emdeg.loops.joint_positions(robot, [edge + 1e-3])


MECHANISMS = {
    "locomotive": (LOCOMOTIVE, [2.0], 4.0),
    "parallelograms": (chain(2), [2.0, 1.0], 0.7),
    "parallelograms of three": (chain(3), [4.0, 1.0], 0.7),
    "bennett": (BENNETT, [2.0], 1.5),
    "sarrus": (SARRUS, [0.8], 0.5),
    "bricard": (bricard(), [0.5], 1.2),
    "spherical": (SPHERICAL, [2.0], 3.0),
    "hooke": (HOOKE, [2.0], 3.0),
    "slider crank": (SLIDER_CRANK, [2.0], 3.0),
    "fivebar": ("fivebar", [2.1, 1.05], 0.3),
    "fourbar": ("fourbar", [1.0], 3.0),
    "delta": ("delta", [0, 0, -0.45], 0.12),
    "rrr3": ("rrr3", [0, 0, 0], 0.05),
    "palletiser": ("palletiser", [0, 1.57, 3.14], 0.4),
}


@pytest.mark.parametrize(
    ("name", "one_more"), [*((name, False) for name in MECHANISMS), ("locomotive", True), ("fivebar", True)]
)
def test_multipliers_of_free_bodies_give_the_same_motion_and_power_is_the_rate_of_energy(name, one_more, tmp_path):
    """`one_more`: with one motor more than there are freedoms; the efforts found are then the least."""
    text, centre, reach = MECHANISMS[name]
    robot = emdeg.load(text) if "\n" not in text else built(text, tmp_path)
    if one_more:
        extra = next(joint for joint in robot.joints if joint not in robot.driven)
        robot = emdeg.loops.with_driven(robot, [*(joint.name for joint in robot.driven), extra.name])
    rng = np.random.default_rng(11)
    n, motors = robot.freedoms, len(robot.driven)
    q = np.array(centre) + rng.uniform(-reach, reach, (3, n))
    qd, tau = rng.normal(size=(3, n)), rng.normal(size=(3, motors))
    expected = np.array([constrained_accelerations(robot, *state) for state in zip(q, qd, tau)])
    found = emdeg.forward_dynamics(robot, q, qd, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(expected).max()))
    assert kind_of(robot).has_programs(robot)
    if name in ("bennett", "sarrus", "bricard", "hooke", "slider crank"):
        compiled = emdeg.compile(emdeg.program(robot, "forward_dynamics"))(q, qd, tau)
        np.testing.assert_allclose(compiled, expected, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(expected).max()))
    M, h = emdeg.mass_matrix(robot, q), emdeg.bias(robot, q, qd)
    assert np.linalg.eigvalsh(M).min() > 0
    J = emdeg.loops.drive_jacobian(robot, q)
    needed = emdeg.inverse_dynamics(robot, q, qd, found)
    force = np.einsum("kji,kj->ki", J, tau)
    np.testing.assert_allclose(np.einsum("kji,kj->ki", J, needed), force, atol=1e-9 * max(1.0, np.abs(force).max()))
    assert np.all(np.linalg.norm(needed, axis=-1) <= np.linalg.norm(tau, axis=-1) * (1 + 1e-9))
    # Power: d/dt (qd.M qd / 2) = qd.(M qdd + Mdot qd / 2), and qd.(Mdot - 2 C) qd = 0.
    power = np.einsum("ki,ki->k", qd, force)
    change = np.einsum("ki,ki->k", qd, np.einsum("kij,kj->ki", M, found) + h)
    np.testing.assert_allclose(change, power, atol=1e-9 * max(1.0, np.abs(power).max()))


def test_a_pose_past_the_fold_of_a_branch_is_refused_though_another_assembly_is_there(tmp_path):
    """The other one has the start's sign, and no other has: it is no way to get there."""
    robot = built(FOLDING, tmp_path)
    np.testing.assert_array_equal(emdeg.loops.reachable(robot, [[0.62], [0.626]]), [True, False])
    assert np.isfinite(emdeg.gravity(robot, [0.62]))
    with pytest.raises(ClosureError, match="not reached from the start"):
        emdeg.gravity(robot, [0.626])
    with pytest.raises(ClosureError, match="not reached from the start"):
        emdeg.inverse_dynamics(robot, *np.array([[[0.62], [0.626]], [[0.1], [0.1]], [[0.2], [0.2]]]))


@pytest.mark.parametrize("coordinate", ["q0", "q1", "q3", "q4"])
def test_a_loop_may_be_carried_by_a_joint_that_the_loop_itself_determines(coordinate, tmp_path):
    robot = built(CARRIED.replace('["q3"]', f'["{coordinate}"]'), tmp_path)
    start = [float(robot.loops.start[k]) for k in robot.loops.coordinates]
    u, ud, tau = np.array(start) - 0.005, np.array([0.7]), np.array([0.4])
    expected = constrained_accelerations(robot, u, ud, tau)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, u, ud, tau), expected, rtol=1e-8)


def test_a_coordinate_too_many_is_said_at_once(tmp_path):
    """Formulas for the others, which there are none of, would grow for minutes."""
    with pytest.raises(emdeg.RobotError, match="its mobility is 1 but its coordinates are 2"):
        ready(built(CARRIED.replace('coordinates = ["q3"]', 'coordinates = ["q3", "q1"]'), tmp_path))
    with pytest.raises(emdeg.RobotError, match="its mobility is 3 but its coordinates are 4"):
        ready(built(TOO_MANY, tmp_path))
