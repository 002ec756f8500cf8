"""Mechanics as theorems: what must hold for every robot at every state."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.algebra import Angle, Dual, Exact, Floats, derivative
from emdeg.dynamics.formulations import composite_body, differentiation, energy
from emdeg.dynamics.functions import evaluate, functions_of
from emdeg.dynamics.mechanism import frames, mechanism_of, seed_duals
from emdeg.robot import Body, Draft, Inertia, Placement, Pose, Robot, assemble
from tests.random_robots import random_robot, random_state, robots

anything = settings(deadline=None, derandomize=True)
seeds = st.integers(0, 2**31)
trees = st.one_of(robots(), robots(tree=True))


def moving(robot: Robot, q, qd, qdd):
    """The mechanism with its positions and rates as functions of time, by dual numbers."""
    mech = mechanism_of(robot, Floats())
    position = []
    for k, revolute in enumerate(mech.revolute):
        if revolute:
            s, c = np.sin(q[k]), np.cos(q[k])
            position.append((Dual(s, {0: c * qd[k]}), Dual(c, {0: -s * qd[k]})))
        else:
            position.append(Dual(q[k], {0: qd[k]}))
    return mech, frames(mech, position), [Dual(v, {0: a}) for v, a in zip(qd, qdd)]


@anything
@given(trees, seeds)
def test_power_of_the_joints_is_the_rate_of_energy(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    mech, frame, rates = moving(robot, q, qd, qdd)
    T, V = energy.kinetic_energy(mech, frame, rates), energy.potential_energy(mech, frame)
    power = emdeg.inverse_dynamics(robot, q, qd, qdd) @ qd
    scale = 1 + abs(power) + abs(derivative(V, 0, 0.0))
    assert derivative(T, 0, 0.0) + derivative(V, 0, 0.0) == pytest.approx(power, abs=1e-10 * scale)


@anything
@given(trees, seeds)
def test_mass_matrix_is_symmetric_positive_definite(robot, seed):
    q, _, _ = random_state(robot, seed)
    M = emdeg.mass_matrix(robot, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0


@anything
@given(trees, seeds)
def test_kinetic_energy_is_half_the_mass_matrix_form(robot, seed):
    q, qd, _ = random_state(robot, seed)
    assert emdeg.kinetic_energy(robot, q, qd) == pytest.approx(qd @ emdeg.mass_matrix(robot, q) @ qd / 2, rel=1e-11)


@anything
@given(trees, seeds)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(robot, seed):
    q, qd, _ = random_state(robot, seed)
    mech, frame, _ = moving(robot, q, qd, qd)
    M = composite_body.mass_matrix(mech, frame)
    Md = np.array([[derivative(entry, 0, 0.0) for entry in row] for row in M])
    N = Md - 2 * emdeg.coriolis_matrix(robot, q, qd)
    assert np.abs(N + N.T).max() <= 1e-11 * (1 + np.abs(N).max())


@anything
@given(trees, seeds)
def test_coriolis_matrix_is_made_of_christoffel_symbols(robot, seed):
    q, qd, _ = random_state(robot, seed)
    mech = mechanism_of(robot, Floats())
    position = [(np.sin(v), np.cos(v)) if r else v for v, r in zip(q, mech.revolute)]
    beta = differentiation.christoffel_symbols(mech, position, composite_body.mass_matrix)
    expected = np.array(differentiation.matrix_of_symbols(beta, qd))
    C = emdeg.coriolis_matrix(robot, q, qd)
    assert np.abs(C - expected).max() <= 1e-11 * (1 + np.abs(C).max())


@anything
@given(trees, seeds)
def test_the_equation_of_motion_adds_up_from_its_parts(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    M, C = emdeg.mass_matrix(robot, q), emdeg.coriolis_matrix(robot, q, qd)
    g, h = emdeg.gravity(robot, q), emdeg.bias(robot, q, qd)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    scale = 1 + np.abs(tau).max() + np.abs(h).max()
    assert np.abs(C @ qd + g - h).max() <= 1e-11 * scale
    assert np.abs(M @ qdd + h - tau).max() <= 1e-11 * scale


@anything
@given(trees, seeds)
def test_elements_give_the_torque_of_equation_one(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    n = robot.n
    M_upper, b, c, g = emdeg.elements(robot, q)
    M = np.zeros((n, n))
    M[np.triu_indices(n)] = M_upper
    M = M + np.triu(M, 1).T
    j, k = np.triu_indices(n, 1)
    tau = M @ qdd + b.reshape(n, -1) @ (qd[j] * qd[k]) + c.reshape(n, n) @ qd**2 + g
    expected = emdeg.inverse_dynamics(robot, q, qd, qdd)
    assert np.abs(tau - expected).max() <= 1e-11 * (1 + np.abs(expected).max())


@anything
@given(trees, seeds)
def test_forward_dynamics_undoes_inverse_dynamics(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    condition = np.linalg.cond(emdeg.mass_matrix(robot, q))
    assert np.abs(emdeg.forward_dynamics(robot, q, qd, tau) - qdd).max() <= 1e-13 * condition * (1 + np.abs(tau).max())


@anything
@given(trees, seeds)
def test_gravity_is_the_gradient_of_potential_energy(robot, seed):
    q, _, _ = random_state(robot, seed)
    mech = mechanism_of(robot, Floats())
    position = [(np.sin(v), np.cos(v)) if r else v for v, r in zip(q, mech.revolute)]
    V = energy.potential_energy(mech, frames(mech, seed_duals(mech, position)))
    gradient = np.array([derivative(V, k, 0.0) for k in range(robot.n)])
    assert np.abs(gradient - emdeg.gravity(robot, q)).max() <= 1e-11 * (1 + np.abs(gradient).max())


@anything
@given(trees, seeds)
def test_regressor_times_parameters_is_the_torque(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    parameters = [float(v) for link in robot.links for v in (*link.inertia.parameters, link.joint.drive.inertia)]
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    assert np.abs(emdeg.regressor(robot, q, qd, qdd) @ parameters - tau).max() <= 1e-11 * (1 + np.abs(tau).max())


@anything
@given(trees, seeds)
def test_jacobian_maps_rates_to_the_tools_velocity(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    mech, frame, _ = moving(robot, q, qd, qdd)
    from emdeg.dynamics.formulations.kinematics import jacobian, tool_pose

    R, p = tool_pose(mech, frame)
    v = np.array([derivative(x, 0, 0.0) for x in p])
    Rd = np.array([[derivative(x, 0, 0.0) for x in row] for row in R])
    R0 = emdeg.forward_kinematics(robot, q)[:3, :3]
    W = Rd @ R0.T
    twist = np.concatenate([v, [W[2, 1], W[0, 2], W[1, 0]]])
    assert np.abs(emdeg.jacobian(robot, q) @ qd - twist).max() <= 1e-11 * (1 + np.abs(twist).max())
    Jd = np.array([[derivative(x, 0, 0.0) for x in row] for row in jacobian(mech, frame)])
    assert np.abs(Jd - emdeg.jacobian_rate(robot, q, qd)).max() <= 1e-11 * (1 + np.abs(Jd).max())


@anything
@given(trees, seeds)
def test_virtual_work_of_gravity_at_the_tool(robot, seed):
    """A weight at the tool loads the joints by J^T f: the payload's gravity is its weight through the Jacobian."""
    q, _, _ = random_state(robot, seed)
    mass = Fraction(3, 2)
    tip = robot.links[robot.tool.link].name
    loaded = replace(robot, payloads=(emdeg.robot.Payload(tip, Exact.of(mass)),))
    extra = emdeg.gravity(loaded, q) - emdeg.gravity(robot, q)
    force = float(mass) * np.array([float(g) for g in robot.gravity])
    expected = -emdeg.jacobian(robot, q)[:3].T @ force
    slack = 1 + np.abs(expected).max() + np.abs(emdeg.gravity(robot, q)).max()
    assert np.abs(extra - expected).max() <= 1e-10 * slack


@anything
@given(robots(5), seeds)
def test_turning_and_moving_the_base_with_gravity_changes_nothing(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    turned = replace(
        robot,
        base=Pose((Exact.of(0.3), Exact.of(-1.2), Exact.of(0.7)), (Angle(), Angle(), Angle(Fraction(1, 2)))),
        gravity=(-robot.gravity[1], robot.gravity[0], robot.gravity[2]),
    )
    tau, other = (emdeg.inverse_dynamics(r, q, qd, qdd) for r in (robot, turned))
    assert np.abs(tau - other).max() <= 1e-11 * (1 + np.abs(tau).max())


@anything
@given(trees, seeds)
def test_derivatives_of_inverse_dynamics_match_differences(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    by_q, by_qd = emdeg.inverse_dynamics_derivatives(robot, q, qd, qdd)
    h = 1e-5
    for k in range(robot.n):
        e = np.eye(robot.n)[k] * h
        dq = emdeg.inverse_dynamics(robot, q + e, qd, qdd) - emdeg.inverse_dynamics(robot, q - e, qd, qdd)
        dqd = emdeg.inverse_dynamics(robot, q, qd + e, qdd) - emdeg.inverse_dynamics(robot, q, qd - e, qdd)
        scale = 1 + np.abs(by_q).max() + np.abs(by_qd).max()
        assert np.abs(dq / (2 * h) - by_q[:, k]).max() <= 1e-5 * scale
        assert np.abs(dqd / (2 * h) - by_qd[:, k]).max() <= 1e-5 * scale


@anything
@given(robots(6), seeds)
def test_rotors_couple_symmetrically_and_balance_power(robot, seed):
    q, qd, _ = random_state(robot, seed)
    M = emdeg.mass_matrix(robot, q, gyroscopic=True)
    assert np.abs(M - M.T).max() <= 1e-12 * (1 + np.abs(M).max())
    C = emdeg.coriolis_matrix(robot, q, qd, gyroscopic=True)
    h = emdeg.bias(robot, q, qd, gyroscopic=True)
    assert np.abs(C @ qd + emdeg.gravity(robot, q) - h).max() <= 1e-10 * (1 + np.abs(h).max())


def test_a_spinning_rotor_on_a_turning_link_is_a_gyroscope():
    """A rotor spun across a turning axis presses on it by momentum times turning speed, no more."""
    disc = Inertia(mass=Exact.of(1))
    link = random_robot(5, 1).links[0]
    rows = [Placement(), Placement(alpha=Angle(Fraction(1, 2)))]
    drive = emdeg.robot.Drive(motor_inertia=Exact.of(0.01), gear_ratio=Exact.of(100), inertia=Exact.of(100))
    bodies = tuple(
        Body(
            f"b{i}",
            None if i == 0 else "b0",
            f"j{i}",
            "revolute",
            link.inertia if i == 0 else disc,
            row=row,
            drive=drive if i == 1 else emdeg.robot.Drive(),
        )
        for i, row in enumerate(rows)
    )
    arm = assemble(Draft("gyro", bodies, gravity=(Exact(),) * 3))
    plain = emdeg.inverse_dynamics(arm, [0.2, 0.4], [3.0, 5.0], [0.0, 0.0])
    spun = emdeg.inverse_dynamics(arm, [0.2, 0.4], [3.0, 5.0], [0.0, 0.0], gyroscopic=True)
    # The rotor's axis is across joint 1: its gyroscopic couple is borne by the bearings, not by the motors.
    assert spun == pytest.approx(plain, abs=1e-12)
    # Accelerating joint 1 about an axis parallel to the rotor's does couple: momentum times acceleration.
    parallel = replace(
        arm, links=(arm.links[0], replace(arm.links[1], joint=replace(arm.links[1].joint, placement=Placement())))
    )
    coupled = emdeg.mass_matrix(parallel, [0.0, 0.0], gyroscopic=True) - emdeg.mass_matrix(parallel, [0.0, 0.0])
    assert coupled[0, 1] == pytest.approx(1.0)


def test_a_free_joint_keeps_its_momentum():
    """With no effort about a vertical first axis the angular momentum about it stays, whatever the others do."""
    robot = random_robot(11, 3)
    first = replace(robot.links[0].joint, kind="revolute", placement=Placement(), drive=emdeg.robot.Drive())
    robot = replace(
        robot,
        links=(replace(robot.links[0], joint=first), *robot.links[1:]),
        base=Pose(),
        gravity=(Exact(), Exact(), Exact.of(-9.81)),
    )

    def step(y, h):
        def rate(y):
            q, qd = y[:3], y[3:]
            effort = np.array([0.0, np.sin(q[1]), -0.3 * qd[2]])
            return np.concatenate([qd, emdeg.forward_dynamics(robot, q, qd, effort)])

        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        return y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))

    y = np.array([0.1, 0.2, 0.3, 0.5, -0.4, 0.2])
    before = emdeg.momentum(robot, y[:3], y[3:])[5]
    for _ in range(200):
        y = step(y, 1e-3)
    assert emdeg.momentum(robot, y[:3], y[3:])[5] == pytest.approx(before, rel=1e-9)


def test_energy_stays_without_efforts():
    robot = random_robot(3, 3, drives=True)
    y = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])

    def rate(y):
        return np.concatenate([y[3:], emdeg.forward_dynamics(robot, y[:3], y[3:], np.zeros(3))])

    def total(y):
        return float(emdeg.kinetic_energy(robot, y[:3], y[3:]) + emdeg.potential_energy(robot, y[:3]))

    before, h = total(y), 5e-4
    for _ in range(200):
        a = rate(y)
        b = rate(y + h / 2 * a)
        c = rate(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + rate(y + h * c))
    assert total(y) == pytest.approx(before, rel=1e-8, abs=1e-8)


@anything
@given(trees, seeds)
def test_a_batch_is_the_states_one_by_one(robot, seed):
    states = [random_state(robot, seed + k) for k in range(6)]
    q, qd, qdd = (np.array([s[i] for s in states]).reshape(2, 3, robot.n) for i in range(3))
    for name, entry in functions_of(robot).items():
        values = {"q": q, "qd": qd, "qdd": qdd, "tau": qdd, "p": qdd}
        batch = evaluate(name, robot, {a: values[a] for a in entry.inputs})
        single = evaluate(name, robot, {a: values[a][1, 2] for a in entry.inputs})
        for whole, one in zip(*((x if isinstance(x, tuple) else (x,)) for x in (batch, single))):
            assert whole.shape == (2, 3, *one.shape), name
            assert np.allclose(whole[1, 2], one, rtol=1e-9, atol=1e-9), name


def test_wrong_shapes_are_named():
    robot = random_robot(1, 3)
    with pytest.raises(emdeg.StateError, match=r"qd has shape \(2,\); its last axis must have 3 entries"):
        emdeg.inverse_dynamics(robot, [0, 0, 0], [0, 0], [0, 0, 0])
    with pytest.raises(emdeg.StateError, match="the states do not fit together"):
        emdeg.bias(robot, np.zeros((2, 3)), np.zeros((4, 3)))
    with pytest.raises(emdeg.StateError, match="q is not an array of numbers"):
        emdeg.gravity(robot, [[0, 0, 0], [0]])
    with pytest.raises(emdeg.StateError, match="q has dtype <U1, expected float64"):
        emdeg.gravity(robot, ["a", "b", "c"])
