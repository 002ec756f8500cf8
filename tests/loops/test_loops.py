"""Mechanisms with closed loops: the Delta's checked values, theorems, an independent solution with multipliers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import emdeg
from emdeg.algebra import PrimeField
from emdeg.algebra.linear import times
from emdeg.dynamics.functions.numeric import drive_jacobian
from emdeg.errors import ClosureError
from emdeg.loops import reduction as closed_loop
from emdeg.loops.choose import with_coordinates, with_driven, with_modes, with_start
from emdeg.loops.closing import ready
from emdeg.loops.modes import branches
from emdeg.loops.views import (
    closure_error,
    coordinates_of,
    drive_friction,
    joint_positions,
    named_jacobians,
    reduced_model,
    singularity,
    singularity_map,
    state_rate,
)
from emdeg.loops.virtual_work import equations_by_virtual_work
from emdeg.programs.verification import field_state
from tests.loops.kkt import constrained_accelerations

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "delta_reference.json").read_text())
PLACES = {
    "delta": ([0, 0, -0.45], 0.12),
    "delta_lumped": ([0, 0, -0.45], 0.12),
    "fivebar": ([2.1, 1.05], 0.3),
    "stewart": ([0, 0, 0.6, 0, 0, 0], 0.12),
    "fourbar": ([1.0], 3.0),
    "palletiser": ([0, 1.57, 3.14], 0.4),
    "rrr3": ([0, 0, 0], 0.05),
}
ROBOTS = list(PLACES)


@cache
def robot_of(name):
    return emdeg.load(name)


def states(name, count, seed=0):
    centre, reach = PLACES[name]
    rng = np.random.default_rng(seed)
    n = len(centre)
    q = np.array(centre) + rng.uniform(-reach, reach, (count, n))
    return q, rng.normal(size=(count, n)), rng.normal(size=(count, n))


@pytest.mark.parametrize("state", REFERENCE["states"]["values"], ids=lambda s: str(s["X"]))
def test_delta_model_equals_the_checked_values(state):
    robot = robot_of("delta")
    X, Xd, Xdd = state["X"], state["Xd"], state["Xdd"]
    for route in ("reduction", "virtual_work"):
        model = reduced_model(robot, X, Xd, route=route)
        np.testing.assert_allclose(model["J"], state["J"], atol=1e-9)
        np.testing.assert_allclose(model["J_rate"], state["Jdot"], atol=1e-9)
        np.testing.assert_allclose(model["M"], state["M"], atol=1e-9)
        np.testing.assert_allclose(model["C"] @ Xd, state["C_times_Xd"], atol=1e-9)
        np.testing.assert_allclose(model["G"], state["G"], atol=1e-9)
    np.testing.assert_allclose(joint_positions(robot, X)[:3], state["q"], atol=1e-9)
    np.testing.assert_allclose(emdeg.inverse_dynamics(robot, X, Xd, Xdd), state["tau"], atol=1e-9)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, X, Xd, state["tau"]), Xdd, atol=1e-9)


def circle(times):
    """The paper's trajectory, 0.25 m about the axis in the plane z = -0.45 m (its z points down)."""
    t = np.asarray(times)
    zero = np.zeros_like(t)
    X = np.stack([0.25 * np.cos(t), 0.25 * np.sin(t), zero - 0.45], -1)
    Xd = np.stack([-0.25 * np.sin(t), 0.25 * np.cos(t), zero], -1)
    return X, Xd, np.stack([-0.25 * np.cos(t), -0.25 * np.sin(t), zero], -1)


def test_delta_torques_along_the_papers_circle():
    tau = emdeg.inverse_dynamics(robot_of("delta"), *circle(REFERENCE["times"]))
    np.testing.assert_allclose(tau, REFERENCE["tau_z-0.45_g-z"], atol=1e-9)


def test_rod_as_three_points_has_its_mass_mass_centre_and_inertia():
    for rod in robot_of("delta").loops.rods:
        (m_C, m_A, m_K), r, l = rod.three_masses, rod.com.number, rod.length.number
        assert m_C + m_A + m_K == rod.mass
        assert m_C * r == m_A * (1 - r)
        assert m_C * (r * l) ** 2 + m_A * ((1 - r) * l) ** 2 == rod.inertia
        m11, m12, m22 = rod.end_masses
        assert (m11, m12, m22) == (m_C + m_K * (1 - r) ** 2, m_K * (r * (1 - r)), m_A + m_K * r**2)


def test_named_jacobians_are_the_papers():
    """J_L, J_K and J_C of Asadi and Heydari (19)-(21), turned from the arm's axes into the base's."""
    robot, X = robot_of("delta"), np.array([0.05, -0.08, -0.45])
    blocks, q = named_jacobians(robot, X), joint_positions(robot, X)
    for i, phi in enumerate((np.pi, -np.pi / 3, np.pi / 3)):
        R = np.array([[np.cos(phi), -np.sin(phi), 0], [np.sin(phi), np.cos(phi), 0], [0, 0, 1]])
        c, s = np.cos(q[i]), np.sin(q[i])
        O = R @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        row = np.vstack([np.zeros((2, 3)), blocks["J"][i]])
        np.testing.assert_allclose(O.T @ blocks[f"J_L:arm{i + 1}"], 0.3933 * 0.2 * row, atol=1e-12)
        np.testing.assert_allclose(O.T @ blocks[f"J_C:forearm{i + 1}"], 0.2 * row, atol=1e-12)
        np.testing.assert_allclose(O.T @ blocks[f"J_K:forearm{i + 1}"], 0.5 * 0.2 * row + 0.5 * O.T, atol=1e-12)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "stewart" else name for name in ROBOTS]
)
def test_both_routes_agree_in_doubles(name):
    q, qd, _ = states(name, 20)
    one, other = (reduced_model(robot_of(name), q, qd, route=r) for r in ("reduction", "virtual_work"))
    for key in ("M", "G"):
        np.testing.assert_allclose(one[key], other[key], rtol=1e-12, atol=1e-12 * np.abs(one[key]).max())
    force = [np.einsum("kij,kj->ki", model["C"], qd) for model in (one, other)]
    np.testing.assert_allclose(*force, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(one["M"]).max()))


@pytest.mark.parametrize("name", ["delta", "delta_lumped", "fivebar", "fourbar", "palletiser", "rrr3"])
def test_both_routes_agree_exactly_on_the_constraint_variety(name):
    found = 0
    for seed in range(400):
        try:
            s = field_state(robot_of(name), PrimeField(seed), ["bias"])
            move = s.motion(s.qd)
            one, other = (
                closed_loop.model(s.link, s.position, move),
                equations_by_virtual_work(s.link, s.position, move),
            )
        except ZeroDivisionError:
            continue
        assert one.M == other.M
        assert one.G == other.G
        zero = s.link.tree.zero
        assert times(one.C, s.qd, zero) == times(other.C, s.qd, zero)
        found += 1
        if found == 3:
            return
    pytest.fail("no three points of the variety were found")


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix_rate_minus_twice_coriolis_is_skew(name):
    robot = robot_of(name)
    q, qd, _ = states(name, 3)
    h = 1e-4
    M = [emdeg.mass_matrix(robot, q + k * h * qd) for k in (-2, -1, 1, 2)]
    rate = (M[0] - 8 * M[1] + 8 * M[2] - M[3]) / (12 * h)
    S = rate - 2 * emdeg.coriolis_matrix(robot, q, qd)
    scale = np.abs(rate).max() + 1
    assert np.abs(S + S.swapaxes(-1, -2)).max() < 1e-6 * scale


def test_papers_own_coriolis_matrix_is_that_of_christoffel_symbols_for_the_delta():
    """Its bodies are point masses and arms that turn about fixed axes: (41) differs in its derivation alone."""
    q, qd, _ = states("delta", 20)
    one, other = (reduced_model(robot_of("delta"), q, qd, route=r)["C"] for r in ("reduction", "virtual_work"))
    np.testing.assert_allclose(one, other, atol=1e-11)


def test_coriolis_matrix_of_virtual_work_is_not_skew_for_a_platform_that_turns():
    q, qd, _ = states("stewart", 5)
    one, other = (reduced_model(robot_of("stewart"), q, qd, route=r)["C"] for r in ("reduction", "virtual_work"))
    assert np.abs(one - other).max() > 0.1


@pytest.mark.parametrize("name", ROBOTS)
def test_gravity_is_the_gradient_of_the_potential(name):
    robot = robot_of(name)
    q = states(name, 1)[0][0]
    h = 1e-3
    slope = [
        sum(c * emdeg.potential_energy(robot, q + k * h * e) for k, c in ((-2, 1), (-1, -8), (1, 8), (2, -1)))
        / (12 * h)
        for e in np.eye(len(q))
    ]
    np.testing.assert_allclose(slope, emdeg.gravity(robot, q), rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("delta", 100),
        ("fivebar", 100),
        pytest.param("stewart", 100, marks=pytest.mark.slow),
        ("stewart", 2),
        ("rrr3", 5),
        ("palletiser", 5),
        ("fourbar", 5),
    ],
)
def test_accelerations_equal_those_of_free_bodies_with_multipliers(name, count):
    robot = robot_of(name)
    q, qd, tau = states(name, count, seed=7)
    expected = np.array([constrained_accelerations(robot, *s) for s in zip(q, qd, tau)])
    found = emdeg.forward_dynamics(robot, q, qd, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_dynamics_undoes_inverse_dynamics(name):
    robot = robot_of(name)
    q, qd, qdd = states(name, 20)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), qdd, rtol=1e-10, atol=1e-10)
    M, h, J = emdeg.mass_matrix(robot, q), emdeg.bias(robot, q, qd), drive_jacobian(robot, q)
    force = np.einsum("kij,kj->ki", M, qdd) + h
    np.testing.assert_allclose(np.einsum("kji,kj->ki", J, tau), force, rtol=1e-9, atol=1e-9)


def test_a_force_on_the_platform_is_carried_by_the_motors():
    """Virtual work: J^T tau changes by -F."""
    robot = robot_of("delta")
    q, qd, qdd = states("delta", 5)
    F = np.array([3.0, -2.0, 5.0, 0, 0, 0])
    change = emdeg.inverse_dynamics(robot, q, qd, qdd, wrench=F) - emdeg.inverse_dynamics(robot, q, qd, qdd)
    J = drive_jacobian(robot, q)
    np.testing.assert_allclose(np.einsum("kji,kj->ki", J, change), np.broadcast_to(-F[:3], (5, 3)), atol=1e-11)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd, wrench=F)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau, wrench=F), qdd, atol=1e-11)


def test_state_space_form_with_friction():
    robot = robot_of("fivebar")
    q, qd, qdd = states("fivebar", 3)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd) + drive_friction(robot, q, qd)
    rate = state_rate(robot, np.concatenate([q, qd], -1), tau, friction=True)
    np.testing.assert_allclose(rate, np.concatenate([qd, qdd], -1), atol=1e-10)
    assert drive_friction(robot, q[0], [1e-9, 0.0])[0] == pytest.approx(0.15, rel=1e-6)  # Stribeck's peak


def test_delta_inverse_kinematics_has_two_branches_a_leg_and_forward_two_in_all():
    robot, X = robot_of("delta"), [0.05, -0.08, -0.45]
    ways = branches(robot, X)
    assert len(ways) == 8
    assert len({tuple(np.round(way.joints, 9)) for way in ways}) == 8
    for way in ways:
        assert closure_error(robot, way.joints) < 1e-14
        other = with_modes(robot, way.modes)
        np.testing.assert_allclose(joint_positions(other, X), way.joints, atol=1e-12)
    q = joint_positions(robot, X)[:3]
    forward = with_coordinates(robot, ["q1", "q2", "q3"])
    both = branches(forward, q)
    assert len(both) == 2
    assert sorted(round(way.joints[5], 6) for way in both) == [-0.45, 0.490445]
    np.testing.assert_allclose(joint_positions(forward, q)[3:], X, atol=1e-12)


def test_a_model_in_joint_coordinates_is_the_same_mechanism():
    """tau = J^-T (...) in platform coordinates is M qdd + C qd + g in those of the motors."""
    robot = robot_of("delta")
    X, Xd, Xdd = states("delta", 10)
    joints = with_coordinates(robot, ["q1", "q2", "q3"])
    model = reduced_model(robot, X, Xd)
    q = joint_positions(robot, X)[:, :3]
    qd = np.einsum("kij,kj->ki", model["J"], Xd)
    qdd = np.einsum("kij,kj->ki", model["J"], Xdd) + np.einsum("kij,kj->ki", model["J_rate"], Xd)
    np.testing.assert_allclose(
        emdeg.inverse_dynamics(joints, q, qd, qdd), emdeg.inverse_dynamics(robot, X, Xd, Xdd), rtol=1e-9, atol=1e-9
    )
    J = np.linalg.inv(model["J"])
    np.testing.assert_allclose(emdeg.mass_matrix(joints, q), J.swapaxes(-1, -2) @ model["M"] @ J, rtol=1e-9, atol=1e-12)


def test_numeric_closure_converges_where_there_is_no_analytic_one():
    platform = robot_of("rrr3")
    joints = with_coordinates(platform, ["q1", "q2", "q3"])
    assert ready(joints).plan is None
    X, _, _ = states("rrr3", 5)
    full = joint_positions(platform, X)
    at = [[joint.name for joint in platform.joints].index(name) for name in ("q1", "q2", "q3")]
    found = joint_positions(joints, full[:, at])
    assert closure_error(joints, found) < 1e-12
    np.testing.assert_allclose(np.unwrap(found - full, period=2 * np.pi), 0, atol=1e-9)


def test_mobility_counts_independent_equations_only():
    assert ready(robot_of("delta")).mobility.freedoms == 3
    found = ready(robot_of("fivebar")).mobility
    assert (found.equations, found.rank, found.freedoms, found.redundant) == (5, 2, 2, ("wrist",))
    assert found.exact
    assert str(ready(robot_of("stewart")).mobility) == "24 joints, 18 closure equations of rank 18: mobility 6"


def test_a_pose_out_of_reach_names_the_loop():
    with pytest.raises(ClosureError, match="forearm1: the pose cannot be reached"):
        emdeg.inverse_dynamics(robot_of("delta"), [0, 0, -0.9], [0, 0, 0], [0, 0, 0])
    with pytest.raises(ClosureError, match="forearm1: 1 of 2 poses"):
        emdeg.mass_matrix(robot_of("delta"), [[0, 0, -0.9], [0, 0, -0.45]])


def test_a_configuration_off_the_constraint_names_the_loop():
    robot = robot_of("delta")
    joints = joint_positions(robot, [0, 0, -0.45])
    np.testing.assert_allclose(coordinates_of(robot, joints), [0, 0, -0.45])
    joints[1] += 0.1
    with pytest.raises(ClosureError, match="forearm2: the configuration is off the constraint"):
        coordinates_of(robot, joints)


def test_a_loop_that_cannot_close_is_named():
    far = with_start(robot_of("fivebar"), {"q1": 0.0, "q2": 0.0})
    ready(far)  # closes elsewhere, from there
    with pytest.raises(ClosureError, match="wrist: the pose cannot be reached"):
        joint_positions(robot_of("fivebar"), [np.pi, 0.0])


def test_both_kinds_of_singularity_are_found_and_named():
    robot = robot_of("delta")
    first, second = singularity(robot, [0.0, 0.0, -0.45])
    assert first > 0.1
    assert second > 0.1
    # First kind: an arm and its forearm stretched, X where r^2 w = K^2.
    stretched = [0.0, 0.0, -0.72]
    low, _ = singularity(robot, stretched)
    assert low < 1e-6
    with pytest.raises(ClosureError, match=r"forearm[123]: the pose is singular: .* first kind"):
        emdeg.mass_matrix(robot, stretched)
    fivebar = robot_of("fivebar")
    # Forearms in one line: the elbows 0.6 m apart, which the motors reach with arms turned out.
    q1 = np.arccos(-0.8)
    with pytest.raises(ClosureError, match="wrist: the pose is singular"):
        emdeg.mass_matrix(fivebar, [q1, np.pi - q1])


def test_the_second_kind_is_where_three_forearms_meet_in_a_point():
    """The platform of the 3-RRR can then turn a little though no motor moves."""
    robot = robot_of("rrr3")
    names = [joint.name for joint in robot.joints]

    def moment(phi):
        """Of the first forearm's line about the platform's centre; by symmetry the same for all three."""
        q = joint_positions(robot, [0, 0, phi])
        T = emdeg.link_transforms(robot, [0, 0, phi])[names.index("p1")]
        return T[0, 3] * T[1, 0] - T[1, 3] * T[0, 0] + 0 * q[0]

    low, high = -1.2, 1.2
    assert moment(low) * moment(high) < 0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moment(low) * moment(middle) > 0 else (low, middle)
    first, second = singularity(robot, [0, 0, low])
    assert second < 1e-9
    assert first > 1e-2
    with pytest.raises(ClosureError, match=r"leg[123]: the pose is singular: .* second kind"):
        emdeg.inverse_dynamics(robot, [0, 0, low], [0, 0, 0], [0, 0, 0])


def test_a_map_of_singularities_covers_poses_out_of_reach():
    first, second = singularity_map(robot_of("delta"), [[0, 0, -0.45], [0, 0, -1.0]])
    assert np.isfinite(first[0])
    assert np.isnan(first[1])
    assert np.isnan(second[1])


def test_over_and_under_constrained_descriptions_are_refused():
    robot = robot_of("fivebar")
    with pytest.raises(emdeg.RobotError, match="under-constrained: its mobility is 2 but its coordinates are 1"):
        ready(with_coordinates(robot, ["q1"]))
    with pytest.raises(emdeg.RobotError, match="over-constrained: its mobility is 2 but its coordinates are 3"):
        ready(with_coordinates(robot, ["q1", "q2", "p1"]))
    with pytest.raises(emdeg.RobotError, match=r"under-constrained: .* driven joints are 1"):
        ready(with_driven(robot, ["q1"]))
    arm = robot_of("palletiser")
    with pytest.raises(emdeg.RobotError, match="do not determine how it moves"):
        ready(with_coordinates(arm, ["q2", "p1", "q3"]))


@pytest.mark.long
def test_free_motion_keeps_energy_and_loops():
    """The five-bar falls freely for a tenth of a second: classical Runge-Kutta."""
    robot = robot_of("fivebar")
    x = np.array([2.1, 1.05, 0.3, -0.2])
    h = 1e-3

    def rate(state):
        return state_rate(robot, state, np.zeros(2))

    energy = [float(emdeg.kinetic_energy(robot, x[:2], x[2:]) + emdeg.potential_energy(robot, x[:2]))]
    for _ in range(100):
        a = rate(x)
        b = rate(x + h / 2 * a)
        c = rate(x + h / 2 * b)
        d = rate(x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
        assert closure_error(robot, joint_positions(robot, x[:2])) < 1e-10
    energy.append(float(emdeg.kinetic_energy(robot, x[:2], x[2:]) + emdeg.potential_energy(robot, x[:2])))
    assert abs(energy[1] - energy[0]) < 1e-8


def test_a_motors_inertia_is_what_it_feels_alone():
    robot, X = robot_of("delta"), [0.05, -0.08, -0.45]
    joints = with_coordinates(robot, ["q1", "q2", "q3"])
    q = joint_positions(robot, X)[:3]
    np.testing.assert_allclose(emdeg.loops.motor_inertias(robot, X), np.diag(emdeg.mass_matrix(joints, q)), rtol=1e-9)


def test_what_knows_only_trees_refuses_loops():
    robot = robot_of("delta")
    with pytest.raises(emdeg.RobotError, match="closed loops: use"):
        emdeg.derive(robot)
