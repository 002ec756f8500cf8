"""A singular mass matrix, everywhere or at a pose, is found out: efforts determine no accelerations there."""

import numpy as np
import pytest

import emdeg
from emdeg.dynamics.functions.regularity import need_regular_somewhere
from emdeg.errors import RobotError
from tests.loops.linkages import SLIDER_CRANK
from tests.random_robots import random_robot

LENGTH, MASS = 0.4, 1.5
EVERYWHERE = "its mass matrix is singular at every pose: a motion of its joints moves neither mass nor drive inertia"
THERE = EVERYWHERE.replace("at every pose", "there")
SOLVING = ("forward_dynamics", "forward_dynamics_derivatives", "forward_dynamics_vjp", "forward_dynamics_hvp")


def point_mass_arm(folder, joints, drive=0.0):
    """A plane arm that carries a point at its tip and nothing else."""
    links = "".join(
        f'[[link]]\nname = "l{k}"\nparent = "{f"l{k - 1}" if k else "base"}"\n'
        f'joint = {{ name = "q{k}", type = "revolute", a = {LENGTH if k else 0} }}\n'
        + (f'inertia = {{ about = "com", mass = {MASS}, com = [{LENGTH}, 0, 0] }}\n' if k == joints - 1 else "")
        + (f"drive = {{ inertia = {drive} }}\n" if drive else "")
        for k in range(joints)
    )
    path = folder / f"arm{joints}.toml"
    path.write_text(f'schema = 1\nname = "arm{joints}"\nconvention = "modified"\ngravity = [0, 0, 0]\n{links}')
    return emdeg.load(str(path))


def example(robot, name, q):
    given = {group.name: np.ones(group.size) for group in emdeg.program(robot, name).inputs}
    return getattr(emdeg, name)(robot, **{**given, "q": q})


@pytest.mark.parametrize("name", SOLVING)
def test_three_joints_cannot_be_told_from_one_point_in_a_plane(name, tmp_path):
    robot = point_mass_arm(tmp_path, 3)
    with pytest.raises(RobotError, match=EVERYWHERE):
        emdeg.program(robot, name)
    with pytest.raises(RobotError, match=EVERYWHERE):
        emdeg.forward_dynamics(robot, [0.3, 0.5, 0.7], np.zeros(3), np.ones(3))
    driven = point_mass_arm(tmp_path, 3, drive=0.01)
    assert np.all(np.isfinite(emdeg.forward_dynamics(driven, [0.3, 0.5, 0.7], np.zeros(3), np.ones(3))))


@pytest.mark.parametrize("name", SOLVING)
def test_a_stretched_arm_with_a_point_at_its_tip_has_no_accelerations(name, tmp_path):
    """det M = (m l^2 sin q2)^2: the arm's Jacobian, squared."""
    robot = point_mass_arm(tmp_path, 2)
    for q2 in (0.0, np.pi, 1e-9):
        with pytest.raises(RobotError, match=THERE):
            example(robot, name, [0.3, q2])
    states = np.array([[0.3, 1.0], [0.1, 0.0], [0.2, 0.5]])
    with pytest.raises(RobotError, match=THERE):
        emdeg.forward_dynamics(robot, states, np.zeros((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("q2", [1.0, 0.1, 1e-2, 1e-3])
def test_what_is_not_refused_is_right_to_a_millionth(q2, tmp_path):
    """At rest J^T m J qdd = tau, so qdd = J^-1 (J^-T tau) / m, without M."""
    robot = point_mass_arm(tmp_path, 2)
    s1, c1, s12, c12 = np.sin(0.3), np.cos(0.3), np.sin(0.3 + q2), np.cos(0.3 + q2)
    J = LENGTH * np.array([[-s1 - s12, -s12], [c1 + c12, c12]])
    tau = np.array([1.0, -2.0])
    expected = np.linalg.solve(J, np.linalg.solve(J.T, tau)) / MASS
    found = emdeg.forward_dynamics(robot, [0.3, q2], [0, 0], tau)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_mechanism_that_moves_no_mass_is_refused(tmp_path):
    path = tmp_path / "massless.toml"
    kept = [line for line in SLIDER_CRANK.splitlines() if not line.startswith(("inertia =", "drive ="))]
    path.write_text("\n".join(kept))
    with pytest.raises(RobotError, match=EVERYWHERE):
        need_regular_somewhere(emdeg.load(str(path)))
    path.write_text(SLIDER_CRANK)
    need_regular_somewhere(emdeg.load(str(path)))


@pytest.mark.parametrize("seed", range(30))
def test_bodies_with_mass_are_never_refused(seed):
    """Against a solution by LAPACK with M and the bias, which divide by nothing; M's condition is to 1e6."""
    robot = random_robot(seed, 1 + seed % 7, tree=seed % 2 == 1, drives=False)
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.uniform(-3, 3, (3, robot.n))
    M = emdeg.mass_matrix(robot, q)
    expected = np.linalg.solve(M, tau - emdeg.bias(robot, q, qd))
    found = emdeg.forward_dynamics(robot, q, qd, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-15 * np.linalg.cond(M) * 100, atol=0)
