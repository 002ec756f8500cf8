"""A kind of joint is an addition: kinds that only a test registers pass through functions, programs and C."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest

import emdeg
from emdeg.codegen.artefact import Request, emit
from emdeg.dynamics.joints import PRISMATIC, REVOLUTE, joint_kind
from emdeg.errors import RobotError
from emdeg.programs.verification import verify_program
from emdeg.robot import Frame, joint_type
from tests.dynamics.other_joints import Helical, Pinocchio, Planar, chain, registered
from tests.emitted import COMPILERS, c_library, run_c

CHAINS = {
    "helical": ["revolute", "helical", "prismatic", "helical"],
    "planar": ["planar", "revolute", "helical"],
    "planar within": ["revolute", "planar", "prismatic", "planar"],
}


@pytest.fixture(autouse=True)
def kinds():
    with registered(Helical(), Planar()):
        yield


def robot_of(name: str):
    robot = chain(CHAINS[name], len(name))
    return replace(robot, tool=Frame("tool", robot.n - 1))


def state_of(robot, seed: int = 1):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, robot.nq), *(rng.uniform(-1, 1, robot.nv) for _ in range(2))


@pytest.mark.parametrize("name", CHAINS)
def test_dynamics_equal_pinocchios(name):
    robot, oracle = robot_of(name), Pinocchio(robot_of(name))
    q, qd, qdd = state_of(robot)
    tau = emdeg.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(tau, oracle.inverse_dynamics(q, qd, qdd), atol=1e-11)
    np.testing.assert_allclose(emdeg.mass_matrix(robot, q), oracle.mass_matrix(q), atol=1e-11)
    np.testing.assert_allclose(emdeg.forward_dynamics(robot, q, qd, tau), qdd, atol=1e-10)
    energies = emdeg.kinetic_energy(robot, q, qd), emdeg.potential_energy(robot, q)
    np.testing.assert_allclose(energies, oracle.energies(q, qd), atol=1e-11)


@pytest.mark.parametrize("name", CHAINS)
def test_kinematics_equal_pinocchios(name):
    robot, oracle = robot_of(name), Pinocchio(robot_of(name))
    q, qd, _ = state_of(robot)
    T, velocity = oracle.tool(q, qd)
    np.testing.assert_allclose(emdeg.forward_kinematics(robot, q), T, atol=1e-12)
    np.testing.assert_allclose(emdeg.jacobian(robot, q) @ qd, velocity, atol=1e-12)


FUNCTIONS = [
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "gravity",
    "kinetic_energy",
    "potential_energy",
    "forward_kinematics",
    "jacobian",
    "regressor",
]


CASES = [
    *(("helical", function) for function in FUNCTIONS),
    *(("planar", function) for function in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian")),
    ("planar within", "inverse_dynamics"),
]


@pytest.mark.parametrize(("name", "function"), CASES)
def test_programs_are_verified_and_compute_the_function(name, function):
    robot = robot_of(name)
    program = emdeg.program(robot, function, effort=0)
    verify_program(program, robot, function)
    given = dict(zip(("q", "qd", "qdd", "tau"), (*state_of(robot), np.ones(robot.nv))))
    taken = [given[group.name] for group in program.inputs]
    expected = getattr(emdeg, function)(robot, *taken)
    np.testing.assert_allclose(emdeg.compile(program)(*taken), expected, atol=1e-10)


@pytest.mark.skipif(not COMPILERS, reason="no C compiler")
@pytest.mark.parametrize("name", ["helical", "planar"])
def test_the_emitted_c_computes_the_function(name, tmp_path):
    robot, request = robot_of(name), Request(("inverse_dynamics",), robot_name="chain")
    text = emit(emdeg.program(robot, "inverse_dynamics", effort=0), robot.name, request)
    library = ctypes.CDLL(str(c_library(text, tmp_path, COMPILERS[0])))
    state = state_of(robot)
    (found,) = run_c(library, request.name, list(state), [(robot.nv,)])
    np.testing.assert_allclose(found, emdeg.inverse_dynamics(robot, *state), atol=1e-11)


def test_derivatives_of_a_helical_joint_are_those_of_differences():
    robot = robot_of("helical")
    q, qd, qdd = state_of(robot)
    by_q, by_qd = emdeg.inverse_dynamics_derivatives(robot, q, qd, qdd)
    step = 1e-6 * np.eye(robot.nv)
    for found, moved in (
        (by_q, [emdeg.inverse_dynamics(robot, [q + h, q - h], qd, qdd) for h in step]),
        (by_qd, [emdeg.inverse_dynamics(robot, q, [qd + h, qd - h], qdd) for h in step]),
    ):
        slopes = [(ahead - back) / 2e-6 for ahead, back in moved]
        np.testing.assert_allclose(found, np.transpose(slopes), atol=1e-6)


def test_sizes_follow_from_the_joints():
    robot = robot_of("planar within")
    assert (robot.n, robot.nq, robot.nv) == (4, 8, 8)
    assert joint_type("planar").nv == 3
    assert emdeg.mass_matrix(robot, np.zeros(8)).shape == (8, 8)


def test_a_joint_type_that_is_not_registered_is_an_error():
    with pytest.raises(RobotError, match="no joint type 'screw'"):
        joint_type("screw")
    with pytest.raises(RobotError, match="no joint type 'screw'"):
        joint_kind("screw")


@pytest.mark.parametrize("kind", [REVOLUTE, PRISMATIC])
def test_difference_undoes_integrate(kind):
    q, v = np.array([0.3]), np.array([0.5])
    np.testing.assert_allclose(kind.difference(q, kind.integrate(q, v)), v)
    assert kind.neutral() == [0.0]
