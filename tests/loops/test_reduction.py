"""What the reduction to independent coordinates hands to the motors: shares, friction, loads, derivatives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import emdeg
from emdeg.algebra import Exact
from emdeg.errors import RobotError, StateError
from emdeg.loops import drive_jacobian, joint_positions, with_allocation, with_coordinates, with_driven
from emdeg.programs.build import plain_program
from emdeg.programs.values import evaluate
from emdeg.programs.verification import verify_program
from emdeg.robot.assembly import loaded_inertias
from emdeg.robot.model import Friction
from emdeg.robot.toml_writer import to_toml
from tests.loops.kkt import Bodies, constrained_accelerations
from tests.loops.test_loops import robot_of, states

REDUNDANT = {"fivebar": ["q1", "q2", "p1"], "rrr3": ["q1", "q2", "q3", "p1"], "fourbar": ["q1", "p2"]}
"""Mechanisms, and more driven joints than they have freedoms."""


def slopes(function, x, h=1e-3):
    """The derivatives of a function of (n,) by differences of fourth order, one column an entry."""
    columns = []
    for e in np.eye(len(x)):
        near, far = (function(x + h * e) - function(x - h * e)), (function(x + 2 * h * e) - function(x - 2 * h * e))
        columns.append((8 * near - far) / (12 * h))
    return np.stack(columns, -1)


def drives_by_differences(robot, q):
    """The driven joints' rates per coordinate's, by differences of where the joints are."""
    driven = list(robot.loops.driven)
    return slopes(lambda x: joint_positions(robot, x)[driven], q, 1e-4)


@pytest.mark.parametrize("name", REDUNDANT)
def test_more_motors_than_freedoms_share_the_least_efforts_that_do_the_motion(name):
    robot, plain = with_driven(robot_of(name), REDUNDANT[name]), robot_of(name)
    for q, qd, qdd in zip(*states(name, 3)):
        tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
        np.testing.assert_allclose(constrained_accelerations(robot, q, qd, tau), qdd, rtol=1e-6, atol=1e-6)
        force = drives_by_differences(plain, q).T @ emdeg.inverse_dynamics(plain, q, qd, qdd)
        least = np.linalg.lstsq(drives_by_differences(robot, q).T, force, rcond=None)[0]
        np.testing.assert_allclose(tau, least, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), qdd, rtol=1e-9, atol=1e-9)


def test_a_motor_without_a_share_gives_nothing_and_a_large_share_takes_the_most():
    robot, plain = with_driven(robot_of("fivebar"), ["q1", "q2", "p1"]), robot_of("fivebar")
    q, qd, qdd = (x[0] for x in states("fivebar", 1))
    off = emdeg.inverse_dynamics(with_allocation(robot, {"p1": 0}), q, qd, qdd)
    np.testing.assert_allclose(off, [*emdeg.inverse_dynamics(plain, q, qd, qdd), 0], atol=1e-12)
    shares = np.array([1.0, 2.0, 0.5])
    tau = emdeg.inverse_dynamics(with_allocation(robot, dict(zip(("q1", "q2", "p1"), shares))), q, qd, qdd)
    J = drive_jacobian(robot, q)
    np.testing.assert_allclose(J.T @ tau, drive_jacobian(plain, q).T @ emdeg.inverse_dynamics(plain, q, qd, qdd))
    idle = np.linalg.svd(J.T)[2][-1]  # efforts that do nothing: no step along them lessens the sum
    assert abs(idle @ (tau / shares)) < 1e-12


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "regressor"])
def test_programs_of_more_motors_than_freedoms_are_proved(function):
    robot = with_allocation(with_driven(robot_of("fivebar"), ["q1", "q2", "p1"]), {"q2": 3})
    program = plain_program(robot, function)
    verify_program(program, robot, function)
    sizes = {group.name: group.size for group in program.inputs}
    assert sizes.get("tau", 3) == 3
    rng = np.random.default_rng(0)
    inputs = {group.name: rng.normal(size=(1, group.size)) for group in program.inputs} | {"q": np.array([[2.0, 1.0]])}
    found = next(iter(evaluate(program, inputs).values()))
    expected = getattr(emdeg, function)(robot, *(inputs[group.name] for group in program.inputs))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_allocated_is_named():
    robot = with_driven(robot_of("fivebar"), ["q1", "q2", "p1"])
    with pytest.raises(RobotError, match="p2 is not driven"):
        with_allocation(robot, {"p2": 1})
    with pytest.raises(RobotError, match="not 0 or more"):
        with_allocation(robot, {"p1": -1})
    with pytest.raises(RobotError, match="leaves 1 driven joints for 2 freedoms"):
        emdeg.gravity(with_allocation(robot, {"p1": 0, "q2": 0}), [2.0, 1.0])
    with pytest.raises(StateError, match=r"tau has shape \(2,\); its last axis must have 3"):
        emdeg.forward_dynamics(robot, [2.0, 1.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(RobotError, match="more motors than freedoms"):
        emdeg.loops.motor_inertias(robot, [2.0, 1.0])


def test_shares_stand_in_the_file_and_are_written_back(tmp_path):
    text = to_toml(with_driven(robot_of("fivebar"), ["q1", "q2", "p1"]))
    file = tmp_path / "shared.toml"
    file.write_text(text.replace('"p1"]\nstart', '"p1"]\nallocation = { q1 = 4 }\nstart'))
    robot = emdeg.load(file)
    assert robot.loops.allocation == (4, 1, 1)
    again = tmp_path / "again.toml"
    again.write_text(to_toml(robot))
    assert emdeg.load(again).loops == robot.loops
    for wrong, rule in (("{ p2 = 1 }", "'p2' is no driven joint"), ("{ q1 = -1 }", "is not negative")):
        file.write_text(
            text.replace('driven = ["q1", "q2", "p1"]', f'driven = ["q1", "q2", "p1"]\nallocation = {wrong}')
        )
        with pytest.raises(RobotError, match=rule):
            emdeg.load(file)


def test_friction_of_undriven_joints_takes_power_from_the_motors():
    plain = robot_of("fivebar")
    links = list(plain.links)
    rough = replace(links[1].joint.drive, friction=Friction(Exact.of(0.3), Exact.of(0.2)))
    links[1] = replace(links[1], joint=replace(links[1].joint, drive=rough))
    robot = replace(plain, links=tuple(links))
    for q, qd, _ in zip(*states("fivebar", 3)):
        rates = slopes(lambda x: joint_positions(robot, x), q, 1e-4) @ qd
        own = emdeg.loops.drive_friction(robot_of("fivebar"), q, qd)
        all_joints = emdeg.loops.drive_friction(robot, q, qd)
        power = (all_joints - own) @ rates[list(robot.loops.driven)]
        assert power == pytest.approx(0.3 * rates[1] ** 2 + 0.2 * abs(rates[1]), rel=1e-8)


@pytest.mark.parametrize("name", ["delta", "fivebar"])
def test_a_payload_moves_as_free_bodies_with_multipliers_say(name):
    robot = emdeg.load(name, payload="mass=0.8,com=0.01:0.02:-0.03,inertia=0.001:0.002:0.003")
    q, qd, tau = (x[0] for x in states(name, 1, seed=3))
    expected = constrained_accelerations(robot, q, qd, tau)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), expected, rtol=1e-7, atol=1e-7)


def test_forward_dynamics_of_the_delta_in_its_motors_coordinates_is_that_of_its_platform():
    platform, motors = robot_of("delta"), with_coordinates(robot_of("delta"), ["q1", "q2", "q3"])
    for X, Xd, tau in zip(*states("delta", 3)):
        Xdd = emdeg.forward_dynamics(platform, X, Xd, tau)
        model = emdeg.loops.reduced_model(platform, X, Xd)
        q = joint_positions(platform, X)[:3]
        qdd = emdeg.forward_dynamics(motors, q, model["J"] @ Xd, tau)
        np.testing.assert_allclose(qdd, model["J"] @ Xdd + model["J_rate"] @ Xd, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["fivebar", "fourbar", pytest.param("delta", marks=pytest.mark.slow)])
def test_derivatives_of_accelerations_are_slopes_of_the_free_bodies_with_multipliers(name):
    robot = robot_of(name)
    q, qd, tau = (x[0] for x in states(name, 1, seed=5))
    qdd, by_q, by_qd, by_tau = emdeg.forward_dynamics_derivatives(robot, q, qd, tau)
    size = 1e-6 * (1 + max(np.abs(x).max() for x in (qdd, by_q, by_qd, by_tau)))
    np.testing.assert_allclose(qdd, constrained_accelerations(robot, q, qd, tau), atol=size)
    for found, slope in (
        (by_q, slopes(lambda x: constrained_accelerations(robot, x, qd, tau), q)),
        (by_qd, slopes(lambda x: constrained_accelerations(robot, q, x, tau), qd)),
        (by_tau, slopes(lambda x: constrained_accelerations(robot, q, qd, x), tau)),
    ):
        np.testing.assert_allclose(found, slope, atol=10 * size)


@pytest.mark.parametrize("name", ["delta", "rrr3", pytest.param("stewart", marks=pytest.mark.slow)])
def test_derivatives_of_efforts_are_slopes_of_the_efforts(name):
    robot = robot_of(name)
    q, qd, qdd = (x[0] for x in states(name, 1, seed=6))
    by_q, by_qd = emdeg.inverse_dynamics_derivatives(robot, q, qd, qdd)
    for found, slope in (
        (by_q, slopes(lambda x: emdeg.inverse_dynamics(robot, x, qd, qdd), q)),
        (by_qd, slopes(lambda x: emdeg.inverse_dynamics(robot, q, x, qdd), qd)),
    ):
        np.testing.assert_allclose(found, slope, atol=1e-6 * (1 + np.abs(slope).max()))


@pytest.mark.parametrize("function", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("name", ["fourbar", pytest.param("delta", marks=pytest.mark.slow)])
def test_programs_of_derivatives_are_proved_through_the_closure(name, function):
    robot = robot_of(name)
    program = plain_program(robot, function)
    verify_program(program, robot, function)
    inputs = dict(zip((group.name for group in program.inputs), states(name, 4)))
    found = evaluate(program, inputs)
    expected = getattr(emdeg, function)(robot, *inputs.values())
    for name_, value in zip(found, expected):
        np.testing.assert_allclose(found[name_], value, rtol=1e-8, atol=1e-8)


def test_momentum_is_the_rate_of_the_mass_centre_and_its_rate_the_outer_force():
    """Linear momentum against differences of first moments of mass: links, and the rods' three points."""
    robot = robot_of("delta")
    q, qd, _ = (x[0] for x in states("delta", 1))

    def first_moment(x):
        bodies = Bodies(robot, joint_positions(robot, x))
        found = np.zeros(3)
        for inertia, T in zip(loaded_inertias(robot), bodies.T):
            moment = np.array([float(v) for v in inertia.first_moment])
            found += T[:3, :3] @ moment + float(inertia.mass) * T[:3, 3]
        for rod in robot.loops.rods:
            ends, r = (bodies.point(rod.first), bodies.point(rod.second)), float(rod.com)
            m1, m2, m3 = (float(m) for m in rod.three_masses)
            found += m1 * ends[0] + m2 * ends[1] + m3 * ((1 - r) * ends[0] + r * ends[1])
        return found

    P = emdeg.momentum(robot, q, qd)
    np.testing.assert_allclose(P[:3], slopes(first_moment, q) @ qd, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["fivebar", "fourbar"])
def test_programs_of_the_momentum_are_proved(name):
    program = plain_program(robot_of(name), "momentum")
    verify_program(program, robot_of(name), "momentum")
