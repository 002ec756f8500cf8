"""Programs of derivatives: proved, equal to the numbers, cheap; against Pinocchio's own derivatives."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import emdeg
from emdeg.dynamics import kind_of
from emdeg.dynamics.functions import CATALOGUE, FUNCTIONS
from emdeg.dynamics.functions import evaluate as numbers
from emdeg.programs import count, evaluate, verify_program
from emdeg.programs.build import plain_program
from emdeg.programs.differentiation import cotangents, derivative_of_solution, tangents
from emdeg.programs.ir import Dependence
from emdeg.programs.simplification import retrace
from emdeg.programs.trace import Tracer
from tests.oracles import Pinocchio

KINDS = ["jvp", "vjp", "hvp", "hessian"]
SAID = ["inverse_dynamics", "forward_dynamics", "forward_kinematics", "kinetic_energy", "potential_energy"]


def states(robot, program, seed=0):
    rng = np.random.default_rng(seed)
    given = {group.name: rng.uniform(-0.2, 0.2, (3, group.size)) for group in program.inputs}
    given["q"] = given["q"] + kind_of(robot).home(robot)
    return given


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        *(("planar2r", function) for function in [*SAID, "mass_matrix", "jacobian", "inverse_dynamics_derivatives"]),
        *(("scara", function) for function in SAID[:2]),
        ("stanford_arm", "forward_kinematics"),
        *(("fourbar", function) for function in SAID),
        pytest.param("fivebar", "inverse_dynamics", marks=pytest.mark.slow),
        pytest.param("fivebar", "momentum_rates", marks=pytest.mark.slow),
    ],
)
def test_a_derivative_is_proved_and_is_what_dual_numbers_give(name, function, kind):
    robot, wanted = emdeg.load(name), f"{function}_{kind}"
    program = plain_program(robot, wanted, factored=robot.is_tree)
    assert verify_program(program, robot, wanted).false_pass_probability < 1e-15
    given = states(robot, program)
    expected = numbers(wanted, robot, given)
    for found, right in zip(
        evaluate(program, given).values(), expected if isinstance(expected, tuple) else (expected,)
    ):
        assert found.shape == right.shape
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-10 * (1 + np.abs(right).max()))


def test_symbols_and_several_functions_in_one_program():
    robot = emdeg.load("puma560_symbolic")
    wanted = "gravity+gravity_vjp+potential_energy_hessian"
    program = plain_program(robot, wanted.split("+"))
    assert [group.name for group in program.inputs] == ["q", "g_c", "V_c", "parameters"]
    assert verify_program(program, robot, wanted.split("+")).false_pass_probability < 1e-15
    # V_c times the Hessian of the potential is the Jacobian of gravity: the gradient of g_c.g is that times g_c.
    given = {group.name: np.random.default_rng(1).uniform(0.5, 2, group.size) for group in program.inputs}
    found, n = evaluate(program, given), robot.n
    H = np.zeros((n, n))
    H[np.tril_indices(n)] = found["H"] / given["V_c"]
    np.testing.assert_allclose((H + np.tril(H, -1).T) @ given["g_c"], found["q_c"], rtol=1e-11)


@pytest.mark.parametrize("name", ["puma560", "stanford_arm", "iiwa14"])
@pytest.mark.parametrize("function", SAID[:4])
def test_an_adjoint_costs_at_most_three_times_the_function(name, function):
    robot = emdeg.load(name)
    of = count(plain_program(robot, function, factored=False)).total
    assert count(plain_program(robot, f"{function}_vjp", factored=False)).total <= 3 * of


def test_the_adjoint_of_a_program_on_file_is_at_most_three_times_as_long():
    """The smallest program is differentiated where that is shorter than the formulation's own derivative."""
    robot = emdeg.load("puma560")
    found = emdeg.program(robot, "inverse_dynamics_vjp")
    assert count(found).total <= 3 * count(emdeg.program(robot, "inverse_dynamics")).total
    assert count(found).total < count(plain_program(robot, "inverse_dynamics_vjp")).total
    assert verify_program(found, robot, "inverse_dynamics_vjp").false_pass_probability < 1e-15


@pytest.mark.parametrize("name", ["rx90", "ur5e"])
def test_the_adjoint_of_a_pose_is_a_wrench_carried_outwards(name):
    """From the package's program of the pose, which is shorter than the recursion."""
    pose, adjoint = (emdeg.program(emdeg.load(name), f"forward_kinematics{of}") for of in ("", "_vjp"))
    assert count(adjoint).total <= 3 * count(pose).total
    assert verify_program(adjoint, emdeg.load(name), "forward_kinematics_vjp").false_pass_probability < 1e-15


def test_so_are_those_too_long_to_be_factored(monkeypatch):
    robot = emdeg.load("ur5e")
    monkeypatch.setattr("emdeg.programs.search.optimise.LARGE", 100)
    found = emdeg.program(robot, "inverse_dynamics_vjp")
    assert count(found).total < count(plain_program(robot, "inverse_dynamics_vjp")).total
    monkeypatch.setattr("emdeg.programs.search.optimise.MOST_SWEPT", 100)
    assert count(emdeg.program(robot, "inverse_dynamics_vjp")).total > count(found).total


def test_the_derivatives_of_a_seven_joint_arm_stay_small():
    """Plain programs, before any search: Hessians of this arm have filled megabytes elsewhere."""
    robot = emdeg.load("iiwa14")
    most = {"forward_dynamics_derivatives": 4100, "forward_dynamics_vjp": 1950, "forward_dynamics_hessian": 12800}
    for function, limit in most.items():
        assert count(plain_program(robot, function, factored=False)).total <= limit


def test_adjoints_are_the_weighted_rows_of_pinocchios_derivatives():
    file = Path(__file__).parents[2] / "examples" / "arm.urdf"
    robot = emdeg.load(file, snap=0)
    model = pin.buildModelFromUrdf(str(file))
    oracle = Pinocchio(model, [joint.name for joint in robot.joints])
    rng = np.random.default_rng(5)
    q, qd, qdd, c = rng.uniform(-1, 1, (4, robot.n))
    pin.computeRNEADerivatives(model, oracle.data, q, qd, qdd)
    data = oracle.data
    M = np.triu(data.M) + np.triu(data.M, 1).T
    for found, J in zip(emdeg.inverse_dynamics_vjp(robot, q, qd, qdd, c), (data.dtau_dq, data.dtau_dv, M)):
        np.testing.assert_allclose(found, c @ J, rtol=1e-9, atol=1e-9)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    pin.computeABADerivatives(model, data, q, qd, tau)
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    program = emdeg.compile(emdeg.program(robot, "forward_dynamics_vjp"))
    for found, J in zip(program(q, qd, tau, c), (data.ddq_dq, data.ddq_dv, inverse)):
        np.testing.assert_allclose(found, c @ J, rtol=1e-8, atol=1e-8)


def test_sweeps_know_every_operation():
    """f = exp(tanh(x y)) / sqrt(y) - sign(x) x + sin(x + y) cos(y): tangents and cotangents, by differences."""
    tracer = Tracer()
    x, y = tracer.inputs("x", 2, Dependence.RATES)
    f = tracer.exp(tracer.tanh(x * y)) / tracer.sqrt(y) - tracer.sign(x) * x + tracer.sine(x + y) * tracer.cosine(y)
    by_x = tangents(tracer, [(x, tracer.number(1))], [f])[0]
    by_y = tangents(tracer, [(y, tracer.number(1))], [f])[0]
    back = cotangents(tracer, [(f, tracer.number(1))], [x, y])
    program = tracer.program("f", {"f": f, "forward": [by_x, by_y], "backward": back})
    at, h = np.array([0.7, 1.3]), 1e-6

    def value(place):
        return float(evaluate(program, {"x": place})["f"])

    slopes = [(value(at + h * e) - value(at - h * e)) / (2 * h) for e in np.eye(2)]
    found = evaluate(program, {"x": at})
    np.testing.assert_allclose(found["forward"], slopes, atol=1e-8)
    np.testing.assert_allclose(found["backward"], slopes, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "function", [name for name, entry in FUNCTIONS.items() if not entry.rubs and name != "regressor"]
)
def test_every_derivative_of_a_wristed_arm_and_of_a_loop_is_proved(function, kind):
    for name in ("puma560", "delta"):
        robot = emdeg.load(name)
        if kind_of(robot).name in FUNCTIONS[function].ways and (robot.is_tree or not FUNCTIONS[function].square):
            wanted = f"{function}_{kind}"
            program = plain_program(robot, wanted, factored=False)
            assert verify_program(program, robot, wanted).false_pass_probability < 1e-15


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_accelerations_come_from_short_programs_of_efforts_and_mass_matrix(kind):
    robot, wanted = emdeg.load("scara"), f"forward_dynamics_{kind}"
    short = [plain_program(robot, name) for name in ("inverse_dynamics", "mass_matrix")]
    how = CATALOGUE[wanted].derivation
    assert how is not None
    found = retrace(derivative_of_solution(how, plain_program(robot, wanted), *short))
    assert verify_program(found, robot, wanted).false_pass_probability < 1e-15


def test_the_adjoint_of_accelerations_of_a_robot_with_short_programs_is_short():
    plain, found = (emdeg.program("ur5e", "forward_dynamics_vjp", effort=effort) for effort in (0, None))
    assert count(found).total < 0.7 * count(plain).total
