"""Four formulations, one answer: Newton-Euler, Lagrange-Uicker, Kane and the extended bodies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdeg
from emdeg.algebra import Angle, Floats, PrimeField, TrigAlgebra
from emdeg.dynamics.formulations import composite_body, energy
from emdeg.dynamics.formulations.coefficients import Coefficients, newton_euler_coefficients
from emdeg.dynamics.formulations.energy import partial_velocities, velocities
from emdeg.dynamics.formulations.extended_body import dyadics, extended_bodies
from emdeg.dynamics.formulations.extended_body_rates import extended_body_coefficients
from emdeg.dynamics.formulations.lagrange_uicker import (
    differentiation_matrix,
    first_derivatives,
    lagrange_coefficients,
    matmul4,
    pseudo_inertias,
    second_derivatives,
    transforms,
)
from emdeg.dynamics.formulations.newton_euler import efforts_by_newton_euler
from emdeg.dynamics.kane import kane_coefficients
from emdeg.dynamics.mechanism import Frames, Mechanism, frames, in_base, mechanism_of
from emdeg.dynamics.spatial import turned_about_z
from emdeg.errors import NotSerial
from emdeg.robot import BASE, Robot
from tests.dynamics.chains import (
    elbow_arm,
    planar_arm,
    polar_arm,
    random_chain,
    seven_joint_arm,
    with_letters,
)
from tests.random_robots import random_robot, random_state, robots

ANY_TREE = {
    "Newton-Euler": newton_euler_coefficients,
    "Lagrange-Uicker": lagrange_coefficients,
    "Kane": kane_coefficients,
}
ALL = ANY_TREE | {"extended bodies": extended_body_coefficients}
SCHEMES = ["diagonal", "across", "down"]
# Kinds of joints, and which of them (counted from 0) are parallel to the next.
PARALLEL_CHAINS = [
    ("rr", [0]),
    ("rrr", [0, 1]),
    ("rrpr", [0]),
    ("prrp", [1]),
    ("rrrrrr", [1, 4]),
    ("rprrrp", [2, 3]),
    ("rrrrrrr", [0, 2, 3, 4]),
    ("prrprrr", [1, 4, 5]),
]

some = settings(max_examples=40, deadline=None, derandomize=True)
seeds = st.integers(0, 2**31)


def at(robot: Robot, q) -> tuple[Mechanism, Frames]:
    """Over doubles (or complex numbers, for complex-step derivatives)."""
    mech = mechanism_of(robot, Floats())
    position = [(np.sin(v), np.cos(v)) if turns else v for v, turns in zip(q, mech.revolute)]
    return mech, frames(mech, position)


def over(robot: Robot, algebra: TrigAlgebra | PrimeField) -> tuple[Mechanism, Frames]:
    """Over formulas or residues, every joint variable a letter or a random value."""
    mech = mechanism_of(robot, algebra)
    position = [algebra.joint_sincos(i) if turns else algebra.displacement(i) for i, turns in enumerate(mech.revolute)]
    return mech, frames(mech, position)


def formulas(robot: Robot) -> TrigAlgebra:
    turning = [joint.kind == "revolute" for joint in robot.joints]
    angles: list[Angle] = [*robot.base.rpy, *robot.tool.pose.rpy]
    for joint in robot.joints:
        angles += [joint.placement.alpha, joint.placement.theta, joint.placement.gamma, joint.placement.beta]
    return TrigAlgebra(
        revolute=[i for i, turns in enumerate(turning) if turns],
        prismatic=[i for i, turns in enumerate(turning) if not turns],
        parameters=sorted(robot.symbols),
        constant_angles=angles,
    )


def assert_close(found: Coefficients, expected: Coefficients, tolerance: float = 1e-12) -> None:
    for name in ("M", "beta", "g"):
        left, right = np.array(getattr(found, name)), np.array(getattr(expected, name))
        assert left.shape == right.shape
        assert np.max(np.abs(left - right)) <= tolerance * max(1.0, np.max(np.abs(right))), name


# Over doubles


@some
@given(st.one_of(robots(), robots(tree=True)), seeds)
def test_every_formulation_gives_the_composite_bodies_mass_matrix_and_the_christoffel_symbols(robot, seed):
    q, _, _ = random_state(robot, seed)
    mech, frame = at(robot, q)
    units = np.eye(mech.n)
    columns = [energy.coriolis_matrix(mech, frame, list(unit)) for unit in units]  # C_ij(e_k) = beta_ijk
    rest = [0.0] * mech.n
    expected = Coefficients(
        tuple(map(tuple, composite_body.mass_matrix(mech, frame))),
        tuple(tuple(tuple(C[i][j] for C in columns) for j in range(mech.n)) for i in range(mech.n)),
        efforts_by_newton_euler(mech, frame, rest, rest),
    )
    for formulation in (ALL if robot.is_serial else ANY_TREE).values():
        assert_close(formulation(mech, frame), expected)


@some
@given(st.one_of(robots(), robots(tree=True)), seeds)
def test_composite_bodies_weigh_what_every_link_weighs(robot, seed):
    q, _, _ = random_state(robot, seed)
    mech, frame = at(robot, q)
    rest = [0.0] * mech.n
    expected = np.array(efforts_by_newton_euler(mech, frame, rest, rest))
    found = np.array(composite_body.gravity(mech, frame))
    assert np.max(np.abs(found - expected)) <= 1e-12 * max(1.0, np.max(np.abs(expected)))


@given(st.floats(-3, 3), st.lists(st.floats(-10, 10), min_size=9, max_size=9))
def test_a_tensor_turned_about_z_is_the_product_of_three_matrices(angle, entries):
    A, s, c = np.reshape(entries, (3, 3)), np.sin(angle), np.cos(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    found = turned_about_z(tuple(map(tuple, A)), (s, c))
    assert np.allclose(found, R @ A @ R.T, rtol=0, atol=1e-13)


@some
@given(robots(), seeds)
def test_the_coefficients_give_the_torques_of_any_motion(robot, seed):
    q, qd, qdd = random_state(robot, seed)
    mech, frame = at(robot, q)
    tau = np.array(efforts_by_newton_euler(mech, frame, qd, qdd))
    for formulation in ALL.values():
        found = formulation(mech, frame)
        rebuilt = np.array(found.M) @ qdd + np.einsum("ijk,j,k", np.array(found.beta), qd, qd) + found.g
        assert np.max(np.abs(rebuilt - tau)) <= 1e-11 * max(1.0, np.max(np.abs(tau)))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("parallel_rules", [False, True])
@pytest.mark.parametrize(("kinds", "parallel"), PARALLEL_CHAINS)
def test_recursion_scheme_and_parallel_rules_do_not_change_the_answer(kinds, parallel, scheme, parallel_rules):
    robot = random_chain(sum(parallel) + len(kinds), kinds, parallel)
    mech, frame = at(robot, random_state(robot, 7)[0])
    assert [p for p in range(mech.n) if extended_bodies(mech, frame).parallel(p)] == parallel
    expected = newton_euler_coefficients(mech, frame)
    assert_close(extended_body_coefficients(mech, frame, scheme, parallel_rules), expected)


@pytest.mark.parametrize("scheme", ["across", "down"])
def test_the_dyadics_are_the_same_by_every_recursion(scheme):
    robot = random_chain(3, "rprrprr", [2])
    along = extended_bodies(*at(robot, random_state(robot, 1)[0]))
    diagonal, other = dyadics(along, "diagonal"), dyadics(along, scheme)
    assert diagonal.keys() == other.keys()
    for key, dyadic in diagonal.items():
        assert np.allclose(dyadic, other[key], rtol=0, atol=1e-12), key


def test_extended_bodies_refuse_a_tree():
    robot = random_robot(5, 5, tree=True)
    assert not robot.is_serial
    with pytest.raises(NotSerial, match="branches"):
        extended_body_coefficients(*at(robot, np.zeros(5)))


# The pieces that are printed


@pytest.mark.parametrize("tree", [False, True])
def test_the_matrices_U_are_the_derivatives_of_the_transforms(tree):
    robot, h = random_robot(11, 6, tree=tree), 1e-30
    q = random_state(robot, 2)[0]
    mech, frame = at(robot, q)
    U, second = first_derivatives(mech, frame), second_derivatives(mech, frame)
    for i in range(mech.n):
        shifted = at(robot, q + 1j * h * np.eye(mech.n)[i])
        T, U_shifted = transforms(*shifted), first_derivatives(*shifted)
        for j in range(mech.n):
            rate = np.imag(np.array(T[j][BASE])) / h
            assert np.allclose(rate, U.get((j, i), np.zeros((4, 4))), rtol=0, atol=1e-12)
            for p in range(i, mech.n):
                rate = np.imag(np.array(U_shifted.get((j, p), np.zeros((4, 4))))) / h
                assert np.allclose(rate, second.get((j, i, p), np.zeros((4, 4))), rtol=0, atol=1e-12)


def test_bejczys_sums_without_any_omission_give_the_same_coefficients():
    robot = random_robot(21, 5)
    mech, frame = at(robot, random_state(robot, 3)[0])
    U, second = first_derivatives(mech, frame), second_derivatives(mech, frame)
    J = [np.array(matrix) for matrix in pseudo_inertias(mech)]
    n = mech.n

    def sum_of_traces(i: int, matrices) -> float:
        both = [j for j in range(n) if j in matrices and (j, i) in U]
        return sum(np.trace(np.array(matrices[j]) @ J[j] @ np.array(U[j, i]).T) for j in both)

    G = np.array([*mech.gravity, 0.0])
    found = lagrange_coefficients(mech, frame)
    for i in range(n):
        D = -sum(G @ np.array(U[j, i]) @ J[j][:, 3] for j in range(i, n))
        assert found.g[i] == pytest.approx(D, abs=1e-11)
        for k in range(n):
            M = sum_of_traces(i, {j: U[j, k] for j in range(k, n)}) + (mech.drive[i] if i == k else 0)
            assert found.M[i][k] == pytest.approx(M, abs=1e-12)
            for p in range(k, n):
                beta = sum_of_traces(i, {j: second[j, k, p] for j in range(p, n)})
                assert found.beta[i][k][p] == pytest.approx(beta, abs=1e-12)


@pytest.mark.parametrize("revolute", [True, False])
def test_a_joints_transform_is_differentiated_by_its_matrix_Q(revolute):
    Q = differentiation_matrix(revolute, 0.0, 1.0)
    robot = random_chain(4, "r" if revolute else "p")
    mech, frame = at(robot, [0.7])
    U = first_derivatives(mech, frame)[0, 0]
    assert np.allclose(U, matmul4(transforms(mech, frame)[0][BASE], Q), rtol=0, atol=1e-15)


def test_the_pseudo_inertia_holds_the_moments_of_the_mass():
    robot = random_chain(8, "r")
    mech = mechanism_of(robot, Floats())
    J = np.array(pseudo_inertias(mech)[0])
    body = mech.inertia[0]
    assert np.allclose(J[:3, 3], body.mr)
    assert J[3, 3] == body.m
    # The inertia tensor is (trace of the second moments) 1 - second moments.
    assert np.allclose(np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3], body.J)


@some
@given(st.one_of(robots(), robots(tree=True)), seeds)
def test_partial_velocities_times_speeds_are_the_velocities(robot, seed):
    q, qd, _ = random_state(robot, seed)
    mech, frame = at(robot, q)
    for v, partials in zip(velocities(mech, frame, qd), partial_velocities(mech, frame)):
        omega = sum(qd[r] * np.array(partial.w) for r, partial in partials.items())
        linear = sum(qd[r] * np.array(partial.v) for r, partial in partials.items())
        assert np.allclose(omega, v.w, rtol=0, atol=1e-12)
        assert np.allclose(linear, v.v, rtol=0, atol=1e-12)


def test_partial_velocities_are_a_planar_arms_jacobian():
    robot = planar_arm()
    mech, frame = at(robot, [0.3, 0.5, -0.2])
    tip = partial_velocities(mech, frame)[2]
    world = in_base(mech, frame)
    x, y, z = world.p[2]  # turned about -y of the base: the velocity of the tip's origin is (-z, ., x)
    assert np.allclose(np.array(world.R[2]) @ tip[0].v, [-z, 0, x], rtol=0, atol=1e-15)
    assert y == pytest.approx(0)


# Exactly


def serial_library() -> list[str]:
    return [name for name in emdeg.library_names() if emdeg.load(name).is_serial]


@pytest.mark.parametrize("name", serial_library())
@pytest.mark.long
def test_all_four_formulations_give_identical_formulas(name):
    robot = emdeg.load(name)
    mech, frame = over(robot, formulas(robot))
    expected = newton_euler_coefficients(mech, frame)
    assert lagrange_coefficients(mech, frame) == expected
    assert kane_coefficients(mech, frame) == expected
    for scheme in SCHEMES:
        for parallel_rules in (False, True):
            assert extended_body_coefficients(mech, frame, scheme, parallel_rules) == expected


@pytest.mark.parametrize(
    "robot", [elbow_arm(), polar_arm(), planar_arm(), seven_joint_arm()], ids=lambda robot: robot.name
)
def test_the_formulas_are_identical_with_a_letter_for_every_inertial_parameter(robot):
    lettered = with_letters(robot)
    mech, frame = over(lettered, formulas(lettered))
    expected = newton_euler_coefficients(mech, frame)
    for formulation in ALL.values():
        assert formulation(mech, frame) == expected


@pytest.mark.parametrize("seed", range(6))
def test_the_formulas_of_trees_are_identical(seed):
    robot = random_robot(seed, 5, tree=True)
    mech, frame = over(robot, formulas(robot))
    expected = newton_euler_coefficients(mech, frame)
    for formulation in ANY_TREE.values():
        assert formulation(mech, frame) == expected


def test_the_formulas_have_the_numbers_values():
    robot = polar_arm()
    algebra = formulas(robot)
    exact = extended_body_coefficients(*over(robot, algebra))
    q = random_state(robot, 4)[0]
    expected = newton_euler_coefficients(*at(robot, q))

    def letter(generator):
        if generator.kind == "displacement":
            return q[generator.of]
        return np.sin(q[generator.of]) if generator.kind == "sine" else np.cos(q[generator.of])

    def number(formula) -> float:
        return formula.map(letter, float)

    values = Coefficients(
        tuple(tuple(number(v) for v in row) for row in exact.M),
        tuple(tuple(tuple(number(v) for v in row) for row in rows) for rows in exact.beta),
        tuple(number(v) for v in exact.g),
    )
    assert_close(values, expected)


# Modulo a prime


@pytest.mark.parametrize("seed", range(12))
def test_formulations_are_identical_modulo_a_prime_with_every_parameter_a_random_residue(seed):
    robot = with_letters(random_robot(seed, 7, tree=seed % 3 == 0))
    mech, frame = over(robot, PrimeField(seed))
    expected = newton_euler_coefficients(mech, frame)
    for formulation in (ALL if robot.is_serial else ANY_TREE).values():
        assert formulation(mech, frame) == expected


def test_seven_joints_with_seventy_letters_are_identical_modulo_a_prime_at_three_points():
    robot = with_letters(seven_joint_arm())
    for seed in (1, 2, 3):
        mech, frame = over(robot, PrimeField(seed))
        expected = newton_euler_coefficients(mech, frame)
        for formulation in ALL.values():
            assert formulation(mech, frame) == expected


def test_a_wrong_sign_is_noticed():
    robot = elbow_arm()
    mech, frame = over(robot, PrimeField(2))
    found = extended_body_coefficients(mech, frame)
    wrong = Coefficients(found.M, found.beta, (*found.g[:1], -found.g[1], *found.g[2:]))
    assert found == newton_euler_coefficients(mech, frame)
    assert wrong != found
